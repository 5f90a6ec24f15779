import Posix
import Reconcile
import Storage
import Synchronization
import Transport
import Wire

/// An answer whose body is wanted.
struct WantedBody: Sendable {
    /// It goes on where the partial ends; else it is the whole thing.
    let isContinuation: Bool
    /// Where it ends in the file, when that is known; no byte beyond it is taken.
    let end: UInt64?
    /// The whole size in bytes, when it is known.
    let total: UInt64?
    let answer: AnswerFacts
    let freshness: ServerFreshness
    /// The digest of the whole representation that the server names.
    let digest: Checksum?
    /// The hop that answered.
    let source: String
}

extension Transfer {
    /// Writes the body to disk as it comes, then settles what has become of it.
    mutating func receive(
        _ job: Job, _ body: WantedBody, over connection: inout Connection?
    ) throws(Setback) -> Success {
        let held = job.partial
        // Who named a digest judges; XXH3 only guards the file against rot.
        let named = body.digest ?? (body.isContinuation ? held?.serverDigest : nil)
        let judges = job.entry.checksums.isEmpty ? named.map { [$0] } ?? [] : job.entry.checksums
        let algorithm =
            judges.map(\.algorithm).filter(\.isCryptographic).max { $0.length < $1.length } ?? .xxh3
        var digest = RunningDigest(algorithm)
        let active: ActivePartial
        try checkRoom(
            for: body.total.map { $0 - min($0, body.isContinuation ? held?.written ?? 0 : 0) }, &connection)
        do throws(SystemError) {
            if body.isContinuation {
                guard let row = held,
                    let file = try context.cache.openPartial(named: row.name, truncatedTo: row.written)
                else {
                    forgetPartial(job)
                    connection = nil
                    return .unfinished(Setback(.retry, "partial", "its partial file is gone"))
                }
                active = ActivePartial(file: file, continuing: row, total: body.total)
                digest = try resume(digest, over: file, row: row)
            } else {
                let file = try context.cache.createPartial(for: job.entry.key)
                var row = PartialRow(
                    name: file.name, key: job.entry.key, source: body.source,
                    validators: body.answer.validators, contentCoding: body.answer.coding,
                    mediaType: body.answer.mediaType, total: body.total, written: 0, durable: 0,
                    bootIdentifier: context.boot, mountIdentifier: context.mount, answers: 1)
                row.serverDigest = body.digest
                active = ActivePartial(file: file, row: row)
            }
        } catch {
            connection = nil
            guard body.isContinuation, error.isAboutOneFile else { throw Setback(storage: error) }
            forgetPartial(job)
            return .unfinished(Setback(.retry, "partial", "\(error.subject): \(error.reason)"))
        }

        if digest.count != active.file.size {
            // Stopped while the bytes held were read: their digest is of no use.
            connection = nil
            throw Setback(.stopped, "stopped", "stopped")
        }
        context.keeper.began(active)
        context.flights.began(job.entry.key, url: job.maskedURL, active)
        defer { context.flights.ended(job.entry.key) }
        var length = active.file.size
        var broken: Setback?
        var stall = StallMeter(seconds: context.options.stallTimeout)
        receiving: while true {
            // All of it may be here, and what is left to read is its end alone.
            let isWhole = body.end == length
            let room = isWhole ? buffer.count : context.shaper.reserve(buffer.count)
            guard room > 0 else {
                context.spendAllowance()
                broken = Setback(.stopped, "stopped", "stopped")
                break receiving
            }
            let came: Int
            do throws(TransportError) {
                let count =
                    try connection?.receiveBody(
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]), until: stall.deadline)
                    ?? 0
                came = count
                if count == 0 {
                    if !isWhole { context.shaper.giveBack(room) }
                    break receiving
                }
                stall.received(count)
                let (sum, overflow) = length.addingReportingOverflow(UInt64(count))
                if overflow || sum > body.end ?? .max {
                    broken = Setback(.retry, "malformed", "\(body.source): more bytes than its range has")
                    break receiving
                }
                length = sum
            } catch {
                if !isWhole { context.shaper.giveBack(room) }
                broken = Setback(transport: error)
                break receiving
            }
            let isLarge = body.total.map { $0 > UInt64(buffer.count) } ?? true
            if isLarge {
                do throws(Setback) {
                    try checkRoom(for: nil, &connection)
                } catch {
                    broken = error
                    break receiving
                }
            }
            do throws(SystemError) {
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<Int(length - active.file.size)])
                digest.update(bytes)
                try active.append(bytes, digestState: length == body.total ? nil : digest.savedState)
                context.keeper.wrote(bytes.count)
                context.counters.bytes.add(UInt64(bytes.count), ordering: .relaxed)
            } catch {
                broken = Setback(storage: error)
                if error.isDiskFull, !error.isFileTooLarge { makeRoom(active) }
                break receiving
            }
            stall.waited(context.shaper.pay(came, reserved: isWhole ? came : room))
        }
        if broken != nil { connection = nil }

        let row = active.snapshot
        job.reached = row.written
        var end = BodyEnd(
            isComplete: broken == nil, length: row.written, total: body.total, expectedSize: job.entry.size,
            isMixed: row.answers > 1, isPart: body.isContinuation, wasAskedAgain: job.wasAskedAgain)
        var sum: Checksum?
        if end.isComplete, row.written == body.total ?? row.written {
            let found = digest.finish()
            sum = found
            end.checksumFits = judges.isEmpty ? nil : try fits(found, judges: judges, active)
        }
        switch settle(end) {
        case .publish:
            guard let sum else { throw Setback(.disk, "internal", "a file without a digest") }
            if judges.isEmpty, body.answer.isHTML, job.facts.isNameSilent, !job.facts.acceptsHTML,
                job.row.copy == nil
            {
                let witness = job.maskedURL
                if context.suspect({ $0.sawPage(sum.bytes, at: witness) }) {
                    context.keeper.drop(active.name)
                    throw Setback(
                        .later, "portal",
                        "another URL has the very same html page: a captive portal? --accept-html takes it")
                }
            }
            if row.written == 0, connection?.framing?.body == .untilClose {
                job.remark("the server announced no length and sent nothing, so the file is empty")
            }
            try handIn(job, active, body, sum)
            return .handedIn
        case .askOn, .keep:
            job.keep(active, instead: held, keeper: context.keeper)
            if let broken, broken.remedy != .retry { throw broken }
            broken?.message +=
                row.total.map { "; \(row.written) of \($0) bytes came" } ?? "; \(row.written) bytes came"
            return .unfinished(broken)
        case .askAgain(let wrong):
            context.keeper.drop(active.name)
            forgetPartial(job)
            job.asksPastCaches = true
            job.wasAskedAgain = true
            return .unfinished(Setback(wrong: wrong, end: end, found: sum, judges: judges))
        case .drop(let wrong):
            context.keeper.drop(active.name)
            if body.isContinuation { job.partial = nil }
            throw Setback(wrong: wrong, end: end, found: sum, judges: judges)
        }
    }

    /// Puts a complete, checked file in the keeper's hands.
    private func handIn(
        _ job: Job, _ active: ActivePartial, _ body: WantedBody, _ sum: Checksum
    ) throws(Setback) {
        let row = active.snapshot
        try handIn(
            job, active,
            CopyRow(
                size: row.written, modified: 0, inode: 0, validators: row.validators, digest: sum,
                received: wallSeconds(), freshUntil: body.freshness.until,
                isImmutable: body.freshness.isImmutable,
                mediaType: row.mediaType))
    }

    /// The same with what is to be known of the file; its time and inode are read here.
    func handIn(_ job: Job, _ active: ActivePartial, _ copy: CopyRow) throws(Setback) {
        var copy = copy
        do throws(SystemError) {
            try active.file.setReadOnly()
            let status = try active.file.status()
            (copy.modified, copy.inode) = (status.modified, status.inode)
        } catch {
            throw Setback(storage: error)
        }
        job.row.copy = copy
        job.row.failure = nil
        job.row.isGone = false
        var displaced: [String] = []
        if let other = job.partial, other.name != active.name { displaced.append(other.name) }
        job.partial = nil
        context.keeper.finish(
            Publication(partial: active, row: job.row, place: job.entry.place, displaced: displaced))
    }

    /// The digest of the bytes held, from its saved state or by reading them.
    private func resume(
        _ fresh: consuming RunningDigest, over file: PartialFile, row: PartialRow
    ) throws(SystemError) -> RunningDigest {
        if fresh.algorithm == .xxh3, let state = row.digestState, let saved = RunningDigest(restoring: state),
            saved.count == row.written
        {
            return saved
        }
        var digest = fresh
        // Stopped in the middle, it is of no use, but neither is the transfer.
        _ = try digest.update(from: file.descriptor, upTo: row.written, stop: stop)
        return digest
    }

    /// All checksums must fit, also those of other types than the one that was computed on the way.
    func fits(
        _ found: Checksum, judges: [Checksum], _ active: ActivePartial
    ) throws(Setback) -> Bool {
        for judge in judges {
            if judge.algorithm == found.algorithm {
                if judge != found { return false }
                continue
            }
            let stop = stop
            let other = try onDisk { () throws(SystemError) in
                try digest(of: active.file.descriptor, algorithm: judge.algorithm, stop: stop)
            }
            guard let other else { throw Setback(.stopped, "stopped", "stopped") }
            if other != judge { return false }
        }
        return true
    }

    /// What is to come must fit beside the reserve, so that a full disk is met before it is full: the ledger needs
    /// room to say so, and other programs may need some too.
    ///
    /// - Parameter bytes: nil when it is not known how many will come; there must be room at all.
    private mutating func checkRoom(for bytes: UInt64?, _ connection: inout Connection?) throws(Setback) {
        // Of what was free at the last look, this worker's share: a look for each small file would cost as much as
        // its write.
        if let bytes, bytes <= knownRoom {
            knownRoom -= bytes
            return
        }
        let (cache, reserve) = (context.cache, context.reserve)
        let space = try onDisk { () throws(SystemError) in try cache.partials.space() }
        let kept = reserve(space.total)
        let free = space.available > kept ? space.available - kept : 0
        if free > 0, bytes ?? 0 <= free {
            knownRoom = free / 256
            return
        }
        connection = nil
        let what =
            "\(cache.path): \(space.available) bytes are free, \(kept) of them are to stay so (--reserve)"
        guard free > 0, let bytes else { throw Setback(.disk, "disk full", what) }
        throw Setback(.tooLarge, "disk full", "\(what), \(bytes) are needed")
    }

    /// Gives some of a partial back, so that the ledger can still say what happened.
    private func makeRoom(_ active: ActivePartial) {
        do throws(SystemError) {
            try active.giveBack(256 << 10)
            context.keeper.wrote(0)
        } catch {
            // Then the ledger says less than the disk holds, which is the safe side.
            context.keeper.drop(active.name)
        }
    }

    func forgetPartial(_ job: Job) {
        if let row = job.partial { context.keeper.drop(row.name) }
        job.partial = nil
    }
}

/// Fewer than 1 KiB in so many seconds is a stall.
private struct StallMeter {
    private let seconds: Double
    private var bytes = 0
    private(set) var deadline: Instant

    init(seconds: Double) {
        self.seconds = seconds
        deadline = .now.advanced(bySeconds: seconds)
    }

    /// The transfer itself let so many seconds pass.
    mutating func waited(_ seconds: Double) {
        if seconds > 0 { deadline = deadline.advanced(bySeconds: seconds) }
    }

    mutating func received(_ count: Int) {
        bytes += count
        if bytes >= 1024 {
            bytes = 0
            deadline = .now.advanced(bySeconds: seconds)
        }
    }
}

extension Job {
    /// Keeps what has come: the new partial, or the one that was there before when that is worth more.
    func keep(_ active: ActivePartial, instead held: PartialRow?, keeper: Keeper) {
        let row = active.snapshot
        if let held, held.name != row.name {
            if row.written == 0 || !prefers(newer: row, to: held) {
                keeper.drop(row.name)
                return
            }
            keeper.drop(held.name)
        } else if row.written == 0 {
            keeper.drop(row.name)
            partial = nil
            return
        }
        keeper.kept(active)
        partial = row
    }
}

extension Setback {
    /// Complete bytes that are not the file.
    init(wrong: Settlement.Wrong, end: BodyEnd, found: Checksum?, judges: [Checksum]) {
        switch wrong {
        case .size:
            let wanted = end.expectedSize.map { "\($0)" } ?? end.total.map { "\($0)" } ?? "another size"
            self.init(.never, "size", "it has \(end.length) bytes, wanted are \(wanted)")
        case .checksum:
            let wanted = judges.first { $0.algorithm == found?.algorithm } ?? judges.first
            self.init(
                .never, "checksum",
                "the checksum is wrong: wanted \(wanted.map { "\($0)" } ?? "another"), found \(found.map { "\($0)" } ?? "none")"
            )
        }
    }
}
