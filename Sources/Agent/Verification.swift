package import Posix
package import Storage

/// What one `verify` is asked to do.
package struct VerifyOptions: Sendable {
    package var cache: String
    /// The ledger's folder; nil for the one in the cache.
    package var state: String?
    /// Seconds to wait for a run's lock.
    package var waitLock = 0.0
    /// Seconds to read for; nil for as long as it takes.
    package var maxTime: Double?
    /// Bytes to read a second; nil for as fast as it goes.
    package var limitRate: UInt64?
    /// Damaged files are kept in `.syncagent/damaged`.
    package var keepsDamaged = false

    package init(cache: String) { self.cache = cache }
}

/// What was found.
package struct VerifyOutcome: Sendable {
    /// Files that were read, and their bytes.
    package var files = 0
    package var bytes: UInt64 = 0
    /// The keys of those that were not what was put there.
    package var damaged: [Key] = []
    /// Files that could not be judged.
    package var unread = 0
    /// Time or a signal ended it before all files were read.
    package var isCutShort = false
    /// The paths of the manifests that were mirrored here.
    package var manifests: [String] = []
}

/// Something to say of a file while it goes on; the URL is masked.
package struct Finding: Sendable {
    package let url: String
    package let file: String
    package let message: String
}

/// One `verify`: reads published files again and compares them with what was put there, those first whose last check
/// is the longest ago.
package struct Verification: ~Copyable {
    /// Checks in one commit, and seconds after which one comes anyway: what a kill takes is read again.
    private static let groupSize = 256
    private static let groupSeconds = 1.0

    private let options: VerifyOptions
    private let stop: Stop
    private let tell: (Finding) -> Void
    private var outcome = VerifyOutcome()
    private var pace: Pace
    private var checked: [(key: Key, modified: Int64, inode: UInt64)] = []
    private var lastCommit = Instant.now
    private var deadline = Instant.never

    /// - Parameter stop: raised by a signal; it saves and ends.
    package init(options: VerifyOptions, stop: Stop, tell: @escaping (Finding) -> Void) {
        self.options = options
        self.stop = stop
        self.tell = tell
        pace = Pace(rate: options.limitRate)
    }

    /// Does it all, under the lock of a run.
    package mutating func run(notice: (Notice) -> Void) throws(SyncError) -> VerifyOutcome {
        let cache: CacheFolder
        do throws(CacheError) {
            cache = try CacheFolder.open(path: options.cache, ledger: options.state, create: false)
        } catch {
            throw .cacheUnusable(error)
        }
        let lock = try cache.lock(waiting: options.waitLock, stop: stop)
        let opened = try OpenedLedger.open(in: cache, isRun: false, notice: notice)
        var writer = opened.writer
        var reader = opened.reader
        do {
            try verify(cache, &writer, &reader)
            outcome.manifests = try reader.manifests().map(\.path)
            try writer.close()
        } catch let error as LedgerError {
            cache.condemn(error)
            throw .ledger(error)
        } catch let error as SystemError {
            throw .storage(error)
        } catch {
            throw .configuration("\(error)")
        }
        _ = consume lock
        return outcome
    }

    private mutating func verify(
        _ cache: CacheFolder, _ writer: inout LedgerWriter, _ reader: inout LedgerReader
    ) throws {
        let began = Instant.now
        deadline = options.maxTime.map { began.advanced(bySeconds: $0) } ?? .never
        let start = wallSeconds()
        // A clock that was wrong once must not keep a file from being read for years.
        try writer.transaction(durable: false) { (ledger) throws(LedgerError) in
            try ledger.dropChecks(after: start + 3600)
        }
        // What is checked now is dated no earlier than this, so that each file comes once.
        let horizon = start + 1
        while true {
            let rows = try reader.entries(checkedBefore: horizon, limit: Self.groupSize)
            if rows.isEmpty { return }
            for row in rows {
                if stop.isRaised || Instant.now >= deadline {
                    outcome.isCutShort = true
                    return try commit(cache, &writer, horizon)
                }
                try examine(row, cache, &writer)
                if Instant.now.seconds(since: lastCommit) >= Self.groupSeconds {
                    try commit(cache, &writer, horizon)
                }
            }
            try commit(cache, &writer, horizon)
        }
    }

    private mutating func commit(
        _ cache: CacheFolder, _ writer: inout LedgerWriter, _ horizon: Int64
    ) throws {
        let (checked, now) = (checked, max(horizon, wallSeconds()))
        try writer.transaction(durable: false) { (ledger) throws(LedgerError) in
            for file in checked {
                try ledger.saveCheck(of: file.key, at: now, modified: file.modified, inode: file.inode)
            }
        }
        self.checked.removeAll(keepingCapacity: true)
        lastCommit = .now
    }

    // MARK: One file

    private enum Verdict {
        case sound(FileStatus)
        /// Why it is not what was put there; whether something has the name.
        case damaged(String, isThere: Bool)
        /// It may be sound, but cannot be read by us.
        case unread(String)
        case stopped
    }

    private mutating func examine(
        _ row: EntryRow, _ cache: CacheFolder, _ writer: inout LedgerWriter
    ) throws {
        switch judge(row, cache) {
        case .sound(let status):
            checked.append((row.key, status.modified, status.inode))
        case .stopped:
            outcome.isCutShort = true
            guard outcome.files == 0, !stop.isRaised, let copy = row.copy else { return }
            // All the time was not enough for this one: it is told, and the next run begins with others.
            outcome.unread += 1
            tell(Finding(url: row.url, file: row.fileName, message: "--max-time is too short to read it"))
            checked.append((row.key, copy.modified, copy.inode))
        case .unread(let why):
            outcome.unread += 1
            tell(Finding(url: row.url, file: row.fileName, message: why))
            // It has had its turn; the next run begins with others.
            if let copy = row.copy { checked.append((row.key, copy.modified, copy.inode)) }
        case .damaged(let why, let isThere):
            outcome.damaged.append(row.key)
            let kept = try removeDamaged(row, why, isThere, cache, &writer)
            tell(Finding(url: row.url, file: row.fileName, message: why + kept))
        }
    }

    private mutating func judge(_ row: EntryRow, _ cache: CacheFolder) -> Verdict {
        guard let copy = row.copy else {
            return .damaged("the ledger does not know what it was", isThere: true)
        }
        do throws(SystemError) {
            guard let status = try cache.status(of: row.fileName) else {
                return .damaged("it is gone", isThere: false)
            }
            guard status.kind == .regular else { return .damaged("it is no regular file", isThere: true) }
            guard status.size == copy.size else {
                return .damaged("it has \(status.size) bytes, not \(copy.size)", isThere: true)
            }
            let file = try cache.top.open(reading: row.fileName)
            guard let found = try digest(of: file, copy) else { return .stopped }
            // What was read must be what has the name.
            let read = try file.status()
            guard read.size == copy.size, found == copy.digest else {
                return .damaged(
                    "its bytes have changed: \(copy.digest) was stored, \(found) is found", isThere: true)
            }
            return .sound(read)
        } catch {
            return error.isDamage
                ? .damaged("it cannot be read: \(error.reason)", isThere: true)
                : .unread("it cannot be read: \(error.reason)")
        }
    }

    /// Nil when the stop was raised or the time is over. Counts what it reads, at the pace that was asked for.
    private mutating func digest(
        of file: borrowing Descriptor, _ copy: CopyRow
    ) throws(SystemError) -> Checksum? {
        var running = RunningDigest(copy.digest.algorithm)
        let step: UInt64 = options.limitRate.map { min(8 << 20, max($0 / 4, 64 << 10)) } ?? 8 << 20
        while running.count < copy.size {
            let before = running.count
            let end = min(copy.size, before + step)
            guard try running.update(from: file, upTo: end, stop: stop) else {
                // The file ended early, or the stop was raised.
                if stop.isRaised { return nil }
                break
            }
            file.adviseDone(upTo: end)
            outcome.bytes += end - before
            if pace.wait(after: end - before, until: deadline, stop: stop) || Instant.now >= deadline {
                if end < copy.size { return nil }
            }
        }
        outcome.files += 1
        return running.finish()
    }

    /// The row first: should we be killed in between, a file without a row is believed by nobody, and the next run puts
    /// a good one in its place; a row without its file would claim what is not there.
    private func removeDamaged(
        _ row: EntryRow, _ why: String, _ isThere: Bool, _ cache: CacheFolder, _ writer: inout LedgerWriter
    ) throws -> String {
        var row = row
        row.copy = nil
        row.remark = "verify found damage: \(why)"
        let changed = row
        try writer.transaction(durable: true) { (ledger) throws(LedgerError) in try ledger.save(changed) }
        guard isThere else { return "" }
        do throws(SystemError) {
            let path = options.keepsDamaged ? try cache.setAside(fileNamed: row.fileName) : nil
            if path == nil { try cache.remove(fileNamed: row.fileName) }
            try cache.syncTop()
            return path.map { "; kept as \($0)" } ?? "; removed"
        } catch {
            return "; it stays where it is: \(error.reason)"
        }
    }
}

/// Keeps reading to so many bytes a second.
private struct Pace {
    private let rate: Double?
    private var due = Instant.now

    init(rate: UInt64?) { self.rate = rate.map { Double(max($0, 1)) } }

    /// Waits as long as the bytes just read should have taken; true when the stop was raised.
    mutating func wait(after bytes: UInt64, until deadline: Instant, stop: Stop) -> Bool {
        guard let rate else { return false }
        // Time that was not used is not saved up.
        due = max(due, Instant.now.advanced(bySeconds: -1)).advanced(bySeconds: Double(bytes) / rate)
        return due > .now && stop.wait(until: min(due, deadline))
    }
}
