import Posix
import Reconcile
import Storage
import Wire

/// What becomes of an entry before anything is asked: it is done already, waits for another run, or is a job.
enum Admission {
    /// Current without asking.
    case current
    /// A remembered failure whose time has not come; for good or for now.
    case remembered(isPermanent: Bool)
    /// The user wants it left alone.
    case paused(Job)
    case job(Job)
}

extension RunContext {
    /// Weighs one entry against ledger and folder.
    ///
    /// - Parameters:
    ///   - row: the ledger's, nil when it has none.
    ///   - partial: what may be built upon.
    func admit(_ entry: Entry, row: EntryRow?, partial: PartialRow?, now: Int64) throws(SystemError)
        -> Admission
    {
        let job = Job(
            entry: entry, facts: entry.facts(options), row: row ?? entry.freshRow, partial: partial,
            retries: options.retries)
        job.row.trust = entry.trust(options)
        let isPaused = pausing.isPaused(job.row)
        if let row, row.fileExtension != entry.fileExtension {
            // `id=` with another URL: the file under the old name is not this one.
            job.row = entry.freshRow
            job.row.trust = entry.trust(options)
        }
        if let failure = job.row.failure, failure.fingerprint != entry.fingerprint { job.row.failure = nil }
        if let copy = job.row.copy {
            let status = try cache.status(of: entry.fileName)
            if let status, status.kind == .regular, status.size == copy.size {
                job.copyNeedsProof =
                    status.inode != copy.inode || status.modified != copy.modified
                    || job.wantedAlgorithm.map { wanted in
                        !entry.checksums.contains { $0.algorithm == copy.digest.algorithm }
                            && wanted != copy.digest.algorithm
                    } ?? false
            } else {
                job.row.copy = nil
                job.isRowDirty = true
                job.remark("the file in the cache is gone or has another size; fetching it afresh")
            }
        } else if !entry.checksums.isEmpty {
            job.mayAdopt = try cache.status(of: entry.fileName)?.kind == .regular
        }
        if !job.copyNeedsProof, let copy = job.copyFacts, copy.checksumFits != false {
            let isBelieved = partial == nil && belief(in: copy, entry: job.facts, now: now) != nil
            if isBelieved || isPaused && job.row.failure == nil {
                if let stored = job.row.copy, row?.trust != job.row.trust {
                    keeper.save(Confirmation(key: entry.key, copy: stored, trust: job.row.trust))
                }
                return .current
            }
        }
        if isPaused { return .paused(job) }
        if let failure = job.row.failure, !options.retryFailed {
            if holdsBack(notBefore: failure.notBefore, now: now) {
                return .remembered(isPermanent: failure.isPermanent)
            }
            if failure.isPermanent, !isDue(failingSince: failure.since, lastTry: failure.lastTry, now: now) {
                return .remembered(isPermanent: true)
            }
        }
        return .job(job)
    }
}

extension Entry {
    /// What the rules need of it.
    func facts(_ options: SyncOptions) -> EntryFacts {
        let trust: EntryFacts.Trust =
            if options.refresh {
                .never
            } else {
                switch maxAge ?? options.maxAge {
                case .seconds(let seconds): .seconds(seconds)
                case .server: .server
                case nil: .seconds(0)
                }
            }
        return EntryFacts(
            hasChecksum: !checksums.isEmpty, size: size, isImmutable: isImmutable, trust: trust,
            fileExtension: fileExtension.dropFirst().lowercased(), acceptsCoded: options.acceptCoded,
            acceptsHTML: options.acceptHTML)
    }

    /// Whose word, beside the server's, counts for its freshness, and for how long.
    func trust(_ options: SyncOptions) -> TrustRow? {
        if !checksums.isEmpty { return TrustRow(word: .checksum) }
        if isImmutable { return TrustRow(word: .immutable) }
        if let maxAge { return TrustRow(word: .manifest, maxAge: maxAge) }
        return options.maxAge.map { TrustRow(word: .option, maxAge: $0) }
    }

    /// The row of an entry that the ledger does not know.
    var freshRow: EntryRow { EntryRow(key: key, url: url.masked, fileExtension: fileExtension) }
}
