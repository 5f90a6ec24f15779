import Posix
import Reconcile
import Storage
import Transport
import Wire

extension Transfer {
    /// The published file as the rules need it, proven by its digest where disk and ledger do not simply agree. nil
    /// when there is none to be believed.
    func provenCopy(_ job: Job) throws(Setback) -> CopyFacts? {
        let before = job.row
        do throws(SystemError) {
            if job.mayAdopt { try adopt(job) }
            if job.copyNeedsProof { try prove(job) }
        } catch {
            job.remark("the file in the cache cannot be read (\(error.reason)); fetching it afresh")
        }
        if stop.isRaised {
            // Not proven is not disproven.
            job.row = before
            throw Setback(.stopped, "stopped", "stopped")
        }
        return job.copyFacts
    }

    /// Hashes the file that has the name: it is believed when the digest is the ledger's, and its digest becomes of
    /// the manifest's type when that is another.
    private func prove(_ job: Job) throws(SystemError) {
        job.copyNeedsProof = false
        guard var copy = job.row.copy else { return }
        job.row.copy = nil
        job.isRowDirty = true
        guard let status = try context.cache.status(of: job.entry.fileName), status.kind == .regular,
            status.size == copy.size
        else { return }
        let file = try context.cache.top.open(reading: job.entry.fileName)
        if status.inode != copy.inode || status.modified != copy.modified {
            let found = try digest(of: file, algorithm: copy.digest.algorithm, stop: stop)
            guard found == copy.digest else {
                job.remark("the file in the cache is not what was put there; fetching it afresh")
                return
            }
            (copy.inode, copy.modified) = (status.inode, status.modified)
        }
        if let wanted = job.wantedAlgorithm, wanted != copy.digest.algorithm {
            guard let found = try digest(of: file, algorithm: wanted, stop: stop) else { return }
            copy.digest = found
        }
        job.row.copy = copy
    }

    /// Takes a file that the ledger does not know when the manifest's checksum fits.
    private func adopt(_ job: Job) throws(SystemError) {
        job.mayAdopt = false
        guard let wanted = job.wantedAlgorithm,
            let status = try context.cache.status(of: job.entry.fileName), status.kind == .regular
        else { return }
        let file = try context.cache.top.open(reading: job.entry.fileName)
        guard let found = try digest(of: file, algorithm: wanted, stop: stop),
            job.entry.checksums.contains(found), job.entry.size ?? status.size == status.size
        else { return }
        job.row.copy = CopyRow(
            size: status.size, modified: status.modified, inode: status.inode, validators: Validators(),
            digest: found, received: wallSeconds())
        job.isRowDirty = true
        job.remark("the file in the cache has the manifest's checksum; adopted")
    }

    /// Publishes a partial that holds all bytes, proven by the manifest's checksum or by a 304; nil when the checksum
    /// is wrong, and the partial is dropped.
    func publishHeld(_ job: Job) throws(Setback) -> Success? {
        guard let row = job.partial else { return nil }
        let wanted = job.wantedAlgorithm ?? .xxh3
        let (cache, stop) = (context.cache, stop)
        var held: (PartialFile, Checksum?)?
        do throws(SystemError) {
            if let file = try cache.openPartial(named: row.name, truncatedTo: row.written) {
                held = (file, try digest(of: file.descriptor, algorithm: wanted, stop: stop))
            }
        } catch {
            guard error.isAboutOneFile else { throw Setback(storage: error) }
            job.remark("the bytes held cannot be read (\(error.reason)); fetching the file afresh")
        }
        guard let (file, found) = held else {
            forgetPartial(job)
            return nil
        }
        guard let sum = found else { throw Setback(.stopped, "stopped", "stopped") }
        let active = ActivePartial(file: file, row: row)
        if !job.entry.checksums.isEmpty, try !fits(sum, judges: job.entry.checksums, active) {
            forgetPartial(job)
            job.remark("the bytes held do not have the manifest's checksum; fetching the file afresh")
            return nil
        }
        try handIn(
            job, active,
            CopyRow(
                size: row.written, modified: 0, inode: 0, validators: row.validators, digest: sum,
                received: wallSeconds(), mediaType: row.mediaType))
        return .handedIn
    }
}

extension Job {
    /// The type of digest that the manifest wants, the longest when it names several.
    var wantedAlgorithm: DigestAlgorithm? {
        entry.checksums.map(\.algorithm).max { $0.length < $1.length }
    }

    /// What the rules need of the copy; nil when there is none.
    var copyFacts: CopyFacts? {
        guard let copy = row.copy else { return nil }
        let judge = entry.checksums.first { $0.algorithm == copy.digest.algorithm }
        let sizeFits = entry.size.map { $0 == copy.size } ?? true
        return CopyFacts(
            validators: copy.validators, checksumFits: sizeFits ? judge.map { $0 == copy.digest } : false,
            received: copy.received, freshUntil: copy.freshUntil, isImmutable: copy.isImmutable,
            isHTML: isHTML(copy.mediaType))
    }

    /// The origin confirmed the copy: what its 304 says of freshness replaces what was stored (RFC 9111 4.3.4).
    func confirmed(by head: ResponseHead, isHome: Bool, now: Int64) {
        let isSurprise = copyFacts?.isHTML == true && !facts.namesHTML
        let freshness = ServerFreshness(
            head: head, isOwnOrigin: isHome, isSurprisingHTML: isSurprise, now: now)
        row.copy?.received = now
        row.copy?.freshUntil = freshness.until
        row.copy?.isImmutable = freshness.isImmutable
        isConfirmed = true
    }

    /// Notes something about this transfer that is no failure.
    func remark(_ text: String) {
        row.remark = text
        isRowDirty = true
    }

    /// Notes that bytes held were given up.
    func restarted(_ why: String) {
        row.restarts += 1
        remark("started over, \(partial?.written ?? 0) bytes given up: \(why)")
    }
}

extension PartialRow {
    /// What the rules need of it.
    var facts: PartialFacts {
        PartialFacts(
            length: written, total: total, validators: validators, coding: contentCoding,
            isHTML: isHTML(mediaType))
    }
}

extension AnswerFacts {
    /// It cannot be a portal's: content that is no page, or a 304 that knows our version.
    func isTrustworthy(asked: Ask) -> Bool {
        switch status {
        case 200, 203, 206: !isHTML
        case 304: validators.etag != nil && asked != .whole
        default: false
        }
    }

    init(head: ResponseHead, length: UInt64?, now: Int64) {
        // `identity` and an empty field are no coding (RFC 9110 8.4.1).
        let codings = (head.value("content-encoding") ?? "").lowercased().split(separator: ",")
            .map { $0.filter { $0 != " " && $0 != "\t" } }
            .filter { !$0.isEmpty && $0 != "identity" }
        self.init(
            status: head.status, contentRange: head.value("content-range"), length: length,
            validators: Validators(head: head, now: now), coding: codings.joined(separator: ", "),
            mediaType: Wire.mediaType(head.value("content-type")))
    }
}

extension ServerFreshness {
    init(head: ResponseHead, isOwnOrigin: Bool, isSurprisingHTML: Bool, now: Int64) {
        self.init(
            cacheControl: head.value("cache-control"), expires: head.value("expires"),
            // Only an Expires is counted from the Date.
            date: head.contains("expires") ? head.value("date").flatMap { parseHTTPDate($0, now: now) } : nil,
            age: head.value("age"),
            isOwnOrigin: isOwnOrigin, isSurprisingHTML: isSurprisingHTML, now: now)
    }
}
