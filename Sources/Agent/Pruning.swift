package import Posix
import Storage

/// What one `prune` is asked to do.
package struct PruneOptions: Sendable {
    /// How many files may go.
    package enum Limit: Hashable, Sendable {
        /// Of the files in the cache; a part of a file counts as one.
        case percent(Int)
        case files(Int)
    }

    package var cache: String
    /// The ledger's folder; nil for the one in the cache.
    package var state: String?
    /// Seconds to wait for a run's lock.
    package var waitLock = 0.0
    /// Paths of manifests that are read now, in the place of what the ledger knows of them.
    package var manifests: [String] = []
    /// Paths of manifests that ask for nothing any more.
    package var forgotten: [String] = []
    /// Seconds for which nobody must have asked for an entry.
    package var grace: Int64 = 0
    package var limit = Limit.percent(10)
    /// Bytes of published files; no more go than are too many.
    package var maxSize: UInt64?
    /// Nothing is changed, and no lock is taken.
    package var isDryRun = false

    package init(cache: String) { self.cache = cache }
}

/// A file that goes.
package struct Leaver: Sendable {
    package let name: String
    let key: Key
    /// Bytes; 0 when there is no file.
    package let size: UInt64
    /// Wall nanoseconds of the last use that is known.
    let lastUse: Int64
    /// The ledger has an entry for it.
    let isKnown: Bool
}

/// What went, or would go.
package struct PruneOutcome: Sendable {
    package var files: [Leaver] = []
    package var bytes: UInt64 = 0
    /// Files in the cache before, and their bytes.
    package var filesBefore = 0
    package var bytesBefore: UInt64 = 0
    /// Files that nobody asks for but that may stay for now.
    package var spared = 0
    /// Unfinished transfers that go.
    package var partials = 0
    /// A signal ended it before its end.
    package var isCutShort = false
}

/// Why nothing goes.
package enum PruneError: Error, Sendable {
    case sync(SyncError)
    /// A sentence.
    case refused(String)
}

/// One `prune`: removes what no manifest asks for any more.
package struct Pruning: ~Copyable {
    /// Entries in one transaction.
    private static let groupSize = 512

    private let options: PruneOptions
    private let stop: Stop
    private let now = wallSeconds()

    package init(options: PruneOptions, stop: Stop) {
        self.options = options
        self.stop = stop
    }

    package func run(notice: (Notice) -> Void) throws(PruneError) -> PruneOutcome {
        do {
            return try options.isDryRun ? look() : work(notice)
        } catch let error as PruneError {
            throw error
        } catch let error as SyncError {
            throw .sync(error)
        } catch let error as LedgerError {
            throw .sync(.ledger(error))
        } catch let error as CacheError {
            throw .sync(.cacheUnusable(error))
        } catch let error as SystemError {
            throw .sync(.storage(error))
        } catch {
            throw .refused("\(error)")
        }
    }

    /// Without the lock, also during a run, and without changing anything.
    private func look() throws -> PruneOutcome {
        let cache = try CacheFolder.open(path: options.cache, ledger: options.state, create: false)
        guard var reader = try LedgerReader.open(in: cache.state) else {
            throw PruneError.refused("\(options.cache) holds no ledger, so nobody knows what was asked for")
        }
        let asked = try asked(&reader)
        let partials = Set(try reader.allPartials().map(\.key))
        return try outcome(of: try choose(cache, &reader, asked, partials))
    }

    private func work(_ notice: (Notice) -> Void) throws -> PruneOutcome {
        let cache = try CacheFolder.open(path: options.cache, ledger: options.state, create: false)
        let lock = try cache.lock(waiting: options.waitLock, stop: stop)
        let opened = try OpenedLedger.open(in: cache, isRun: false, notice: notice)
        let partials = opened.partials
        var writer = opened.writer
        var reader = opened.reader
        do {
            let asked = try asked(&reader)
            let choice = try choose(cache, &reader, asked, Set(partials.keys))
            var outcome = try outcome(of: choice)
            try note(choice, asked, try reader.leaving(), &writer)
            outcome.isCutShort = try !remove(choice, partials, cache, &writer)
            try writer.close()
            _ = consume lock
            return outcome
        } catch let error as LedgerError {
            cache.condemn(error)
            throw error
        }
    }

    // MARK: What is asked for

    private func asked(_ reader: inout LedgerReader) throws -> KeySet {
        var asked = KeySet()
        let named = Set(options.manifests.map(manifestName))
        let forgotten = Set(options.forgotten.map(manifestName))
        let known = try reader.manifests()
        for path in options.forgotten where !known.contains(where: { $0.path == manifestName(path) }) {
            throw PruneError.refused(
                "\(path) was never mirrored here; known are: \(known.map(\.path).joined(separator: ", "))")
        }
        if known.isEmpty, named.isEmpty {
            throw PruneError.refused(
                "no manifest is known here, so all would go; run syncagent sync, or name the manifests")
        }
        for path in options.manifests { try read(path, into: &asked) }
        for manifest in known where !named.contains(manifest.path) && !forgotten.contains(manifest.path) {
            let next = "run syncagent sync with it again, or let it go with --forget"
            guard let flaws = manifest.flaws, let list = manifest.list else {
                throw PruneError.refused("\(manifest.path) was not read to its end by its last run; \(next)")
            }
            guard flaws == 0 else {
                throw PruneError.refused(
                    "\(manifest.path) has bad lines, which may ask for something; \(next)")
            }
            guard manifest.sum.count > 0 else {
                throw PruneError.refused("\(manifest.path) is empty, which may be a mistake; \(next)")
            }
            var count = 0
            try reader.forEachKey(of: list) { key in
                asked.insert(key)
                count += 1
            }
            guard count == manifest.sum.count else {
                throw PruneError.refused("the ledger lost a part of what \(manifest.path) asks for; \(next)")
            }
        }
        return asked
    }

    private func read(_ path: String, into asked: inout KeySet) throws {
        var flaws = 0
        var count = 0
        do throws(ManifestError) {
            var reader = try ManifestReader(path: path, stop: stop)
            while let entries = try reader.next(
                limit: 4096, problems: { if !$0.isWarning { flaws += 1 } })
            {
                for entry in entries { asked.insert(entry.key) }
                count += entries.count
            }
        } catch {
            throw SyncError.manifest(error)
        }
        guard flaws == 0 else {
            throw PruneError.refused("\(path) has bad lines, which may ask for something; correct them first")
        }
        guard count > 0 else {
            throw PruneError.refused("\(path) is empty, which may be a mistake; --forget lets a manifest go")
        }
    }

    // MARK: What may go

    private struct Choice {
        var files: [Leaver] = []
        /// Entries without a file, and partials whose key has no entry.
        var bare: [Key] = []
        /// Not asked for, but not gone yet.
        var spared: [Leaver] = []
        /// All keys that wait for the grace to pass.
        var waiting: Set<Key> = []
        var partials: [Key] = []
        var filesBefore = 0
        var bytesBefore: UInt64 = 0
    }

    private func choose(
        _ cache: CacheFolder, _ reader: inout LedgerReader, _ asked: KeySet, _ partials: Set<Key>
    ) throws -> Choice {
        var choice = Choice()
        let since = options.grace > 0 ? try reader.leaving() : [:]
        let (grace, now) = (options.grace, now)
        func mayGo(_ key: Key) -> Bool { grace == 0 || now - min(since[key] ?? now, now) >= grace }
        var leavers: [Leaver] = []
        try reader.forEachEntry { (row) throws(LedgerError) in
            if let copy = row.copy {
                choice.filesBefore += 1
                choice.bytesBefore &+= copy.size
            }
            guard !asked.contains(row.key) else { return }
            if !mayGo(row.key) { choice.waiting.insert(row.key) }
            let hasPartial = partials.contains(row.key)
            if let copy = row.copy {
                leavers.append(
                    Leaver(
                        name: row.fileName, key: row.key, size: copy.size,
                        lastUse: copy.received.multipliedReportingOverflow(by: 1_000_000_000).partialValue,
                        isKnown: true))
            } else if mayGo(row.key) {
                choice.bare.append(row.key)
            }
            if hasPartial, mayGo(row.key) { choice.partials.append(row.key) }
        }
        let listed = Set(choice.partials)
        for key in partials where !asked.contains(key) && !listed.contains(key) {
            if !mayGo(key) {
                choice.waiting.insert(key)
            } else if try reader.entry(for: key) == nil {
                choice.partials.append(key)
            }
        }
        try addOrphans(cache, &reader, asked, &leavers, &choice)
        for leaver in leavers {
            if mayGo(leaver.key) {
                choice.files.append(leaver)
            } else {
                choice.spared.append(leaver)
                choice.waiting.insert(leaver.key)
            }
        }
        if let maxSize = options.maxSize { try evict(to: maxSize, cache, &choice) }
        return choice
    }

    /// Files under our kind of name that no entry has: a crash, or a ledger that was lost, left them.
    private func addOrphans(
        _ cache: CacheFolder, _ reader: inout LedgerReader, _ asked: KeySet, _ leavers: inout [Leaver],
        _ choice: inout Choice
    ) throws {
        var names: [(String, Key)] = []
        try cache.forEachFile { (name, key) throws(SystemError) in
            if !asked.contains(key) { names.append((name, key)) }
        }
        for (name, key) in names {
            let row = try reader.entry(for: key)
            if let row, row.copy != nil, row.fileName == name { continue }
            guard let status = try cache.status(of: name), status.kind == .regular else { continue }
            choice.filesBefore += 1
            choice.bytesBefore &+= status.size
            leavers.append(
                Leaver(name: name, key: key, size: status.size, lastUse: status.accessed, isKnown: row != nil)
            )
        }
    }

    /// Spares all but as many, the longest unused, as must go.
    private func evict(to maxSize: UInt64, _ cache: CacheFolder, _ choice: inout Choice) throws {
        var used: [(leaver: Leaver, use: Int64)] = []
        for leaver in choice.files {
            // A file system that keeps no times of use still has the time of receipt.
            let status = try cache.status(of: leaver.name)
            used.append((leaver, max(leaver.lastUse, status?.accessed ?? 0)))
        }
        used.sort { ($0.use, $0.leaver.name) < ($1.use, $1.leaver.name) }
        choice.files = []
        var left = choice.bytesBefore
        for (leaver, _) in used {
            if left > maxSize {
                choice.files.append(leaver)
                left -= min(left, leaver.size)
            } else {
                choice.spared.append(leaver)
            }
        }
    }

    private func outcome(of choice: Choice) throws -> PruneOutcome {
        var outcome = PruneOutcome()
        outcome.files = choice.files
        outcome.bytes = choice.files.reduce(0) { $0 &+ $1.size }
        outcome.filesBefore = choice.filesBefore
        outcome.bytesBefore = choice.bytesBefore
        outcome.spared = choice.spared.count
        outcome.partials = choice.partials.count
        let allowed =
            switch options.limit {
            case .files(let count): count
            case .percent(let percent):
                // Without overflow: a part of a file counts as one.
                choice.filesBefore / 100 * percent + (choice.filesBefore % 100 * percent + 99) / 100
            }
        guard choice.files.count <= allowed else {
            throw PruneError.refused(
                "\(choice.files.count) of \(choice.filesBefore) files would go, more than --max-delete allows "
                    + "(\(allowed)); if that is meant, raise it")
        }
        return outcome
    }

    // MARK: Doing it

    /// Remembers since when nobody asks for what stays, and who is asked for again.
    private func note(
        _ choice: Choice, _ asked: KeySet, _ leaving: [Key: Int64], _ writer: inout LedgerWriter
    ) throws(LedgerError) {
        let stayers = leaving.keys.filter(asked.contains)
        let waiting = choice.waiting.filter { leaving[$0] == nil }
        let (forgotten, now) = (options.forgotten, now)
        guard !stayers.isEmpty || !waiting.isEmpty || !forgotten.isEmpty else { return }
        try writer.transaction(durable: false) { (ledger) throws(LedgerError) in
            for path in forgotten { try ledger.forgetManifest(manifestName(path)) }
            for key in stayers { try ledger.noteStaying(key) }
            for key in waiting { try ledger.noteLeaving(key, since: now) }
        }
    }

    /// The row first, and durable, then the file: should we be killed in between, a complete file without a row is left,
    /// which is no lie and which the next prune removes. The other way round the ledger would claim what is not there.
    ///
    /// - Returns: false when the stop was raised before its end.
    private func remove(
        _ choice: Choice, _ partials: [Key: PartialRow], _ cache: CacheFolder, _ writer: inout LedgerWriter
    ) throws -> Bool {
        var rest = choice.files[...]
        while !rest.isEmpty {
            if stop.isRaised { return false }
            let group = rest.prefix(Self.groupSize)
            rest = rest.dropFirst(Self.groupSize)
            try writer.transaction(durable: true) { (ledger) throws(LedgerError) in
                for leaver in group {
                    if leaver.isKnown { try ledger.deleteEntry(leaver.key) }
                    try ledger.noteStaying(leaver.key)
                }
            }
            for leaver in group {
                do throws(SystemError) {
                    try cache.remove(fileNamed: leaver.name)
                } catch {
                    // Somebody's folder under our name is not ours to remove.
                    guard error.isAboutTarget else { throw error }
                }
            }
        }
        let unfinished = choice.partials.compactMap { partials[$0]?.name }
        let bare = choice.bare
        if !unfinished.isEmpty || !bare.isEmpty {
            try writer.transaction(durable: true) { (ledger) throws(LedgerError) in
                for name in unfinished { try ledger.deletePartial(name) }
                for key in bare {
                    try ledger.deleteEntry(key)
                    try ledger.noteStaying(key)
                }
            }
        }
        for name in unfinished { try cache.removePartial(name) }
        if !choice.files.isEmpty { try cache.syncTop() }
        return true
    }
}
