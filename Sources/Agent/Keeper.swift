import Posix
import Storage
import Wire

/// A complete, checked file on its way to its final name.
struct Publication: Sendable {
    /// Its file may be closed already; its row says what is in it.
    let partial: ActivePartial
    /// The entry as it will be once the file has its name. `copy` is set.
    let row: EntryRow
    let place: Place
    /// Partials of the same key that this one makes useless.
    let displaced: [String]
}

/// What a 304, or the manifest, says of a copy.
struct Confirmation: Sendable {
    let key: Key
    /// Wall seconds.
    let received: Int64
    let freshUntil: Int64?
    let isImmutable: Bool
    let trust: TrustRow?

    init(key: Key, copy: CopyRow, trust: TrustRow?) {
        self.key = key
        received = copy.received
        freshUntil = copy.freshUntil
        isImmutable = copy.isImmutable
        self.trust = trust
    }
}

/// Keeps what the run learns: progress by a timer, finished files in groups.
///
/// Two threads, since a sync may take seconds and progress may not wait for it. The recorder owns the timer and
/// commits what changed, without syncing; the publisher takes the finished files that have gathered, makes all of
/// them durable together, renames, and syncs the folder once. Both share the ledger's one writer behind a lock.
/// A commit is made durable, where the order asks for it, by syncing the write-ahead log from here, so that the
/// lock is never held over a sync.
final class Keeper: Sendable {
    /// Seconds after which a written byte is recorded at the latest; half of what the design promises.
    static let recordInterval = 0.025
    /// Bytes over all transfers after which the recorder does not wait for its timer.
    static let recordBytes: UInt64 = 256 << 10
    /// Seconds between two commits of progress, so that a fast transfer pays for at most fifty a second.
    static let recordPause = 0.02
    /// Seconds between two syncs of what is being written.
    static let durableInterval = 3.0
    /// Finished files in one group, and how long the first of them waits for company, in seconds.
    static let groupSize = 512
    static let groupWait = 0.05

    private let cache: CacheFolder
    private let stop: Stop
    private let ledger: Monitor<LedgerWriter?>
    private let state: Monitor<State>
    private let onPublished: @Sendable (Publication, Setback?) -> Void
    private let threads: Monitor<[WorkerThread]> = Monitor([])

    private struct State {
        var active: [String: ActivePartial] = [:]
        /// Partials that no worker writes any more; they leave `active` once they are recorded.
        var leaving: Set<String> = []
        /// Partials that were kept for later in this run.
        var kept: Set<String> = []
        var dirtyBytes: UInt64 = 0
        /// When the oldest thing that the ledger does not know happened.
        var dirtySince: Instant?
        var lastRecord = Instant(nanoseconds: 0)
        var rows: [EntryRow] = []
        var confirmed: [Confirmation] = []
        var newRows: [EntryRow] = []
        var notBefore: [(origin: Origin, wall: Int64)] = []
        var dropped: [String] = []
        var finished: [Publication] = []
        var finishedSince: Instant?
        /// Files in the group that is being published.
        var publishing = 0
        var isEnding = false
        var publisherEnded = false
        var failure: Setback?

        /// Notes that there is something to record; true when the recorder does not know that yet.
        mutating func touch() -> Bool {
            if dirtySince != nil { return false }
            dirtySince = .now
            return true
        }
    }

    /// - Parameters:
    ///   - stop: raised when disk or ledger fail, since nothing that still comes could be kept.
    ///   - onPublished: told from the publisher's thread, with the setback when it could not be done.
    init(
        cache: CacheFolder, writer: consuming LedgerWriter, stop: Stop,
        onPublished: @escaping @Sendable (Publication, Setback?) -> Void
    ) throws(SystemError) {
        self.cache = cache
        self.stop = stop
        ledger = Monitor(writer)
        state = Monitor(State())
        self.onPublished = onPublished
        let recorder = try WorkerThread(name: "recorder") { [self] in record() }
        let publisher = try WorkerThread(name: "publisher") { [self] in publish() }
        threads.withLock { $0 = [publisher, recorder] }
    }

    // MARK: Told by workers

    /// A transfer writes this partial from now on.
    func began(_ partial: ActivePartial) {
        state.withLock {
            $0.active[partial.name] = partial
            $0.leaving.remove(partial.name)
        }
    }

    /// A transfer wrote so many bytes.
    func wrote(_ count: Int) {
        state.change { state in
            let before = state.dirtyBytes
            state.dirtyBytes += UInt64(count)
            return state.touch() || (before < Self.recordBytes && state.dirtyBytes >= Self.recordBytes)
        }
    }

    /// A transfer stopped writing this partial, which stays for later.
    func kept(_ partial: ActivePartial) {
        state.change { state in
            state.leaving.insert(partial.name)
            state.kept.insert(partial.name)
            return state.touch()
        }
    }

    /// A partial is of no more use.
    func drop(_ name: String) {
        state.change { state in
            state.active[name] = nil
            state.kept.remove(name)
            state.dropped.append(name)
            return state.touch()
        }
    }

    /// A file is complete and checked. Waits while too many are in line.
    func finish(_ publication: Publication) {
        state.wait { state in
            state.finished.count + state.publishing < Self.groupSize * 2 || state.failure != nil
                ? .done(()) : .wait(until: .never)
        }
        publication.partial.retire()
        state.change { state in
            state.active[publication.partial.name] = nil
            state.kept.remove(publication.partial.name)
            state.finished.append(publication)
            if state.finishedSince == nil {
                state.finishedSince = .now
                return true
            }
            return state.finished.count >= Self.groupSize
        }
    }

    /// What is to be remembered of an entry.
    func save(_ row: EntryRow) {
        state.change { state in
            state.rows.append(row)
            return state.touch()
        }
    }

    /// A copy was confirmed, and nothing else about it has changed.
    func save(_ confirmation: Confirmation) {
        state.change { state in
            state.confirmed.append(confirmation)
            return state.touch()
        }
    }

    /// Entries that the ledger has not seen before, in the order of their keys.
    func introduce(_ rows: [EntryRow]) {
        state.change { state in
            state.newRows.append(contentsOf: rows)
            return state.touch()
        }
    }

    /// When an origin wants to be asked again, in wall seconds.
    func save(notBefore wall: Int64, of origin: Origin) {
        state.change { state in
            state.notBefore.append((origin, wall))
            return state.touch()
        }
    }

    /// The first failure of disk or ledger; nothing is published after it.
    var failure: Setback? { state.withLock { $0.failure } }

    /// Records and publishes all that was handed in, ends the threads and closes the ledger.
    ///
    /// - Parameter last: what to write at the very end, for instance the run's own row.
    func end(_ last: (inout LedgerTransaction) throws(LedgerError) -> Void) throws(LedgerError) {
        state.signal { $0.isEnding = true }
        let joined = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in joined { thread.join() }
        let isDurable = makeKeptDurable()
        let writer = ledger.withLock { $0.take() }
        guard var writer else { return }
        try writer.transaction(durable: true) { (ledger) throws(LedgerError) in
            if isDurable { try ledger.notePartialsDurable() }
            try last(&ledger)
        }
        try writer.close()
    }

    /// Reads or writes the ledger, in one transaction that is not waited for to reach the disk.
    func transaction(_ body: (inout LedgerTransaction) throws(LedgerError) -> Void) throws(LedgerError) {
        try ledger.withLock { (writer) throws(LedgerError) in
            try writer?.transaction(durable: false, body)
        }
    }

    /// What the run leaves unfinished must outlive a power cut after its end; and a next run that sees another mount, as
    /// each start of a service in a mount namespace of its own does, trusts durable bytes alone.
    private func makeKeptDurable() -> Bool {
        let names = state.withLock { $0.failure == nil ? $0.kept : [] }
        if names.isEmpty { return false }
        do throws(SystemError) {
            if names.count <= 4 {
                for name in names {
                    // It may have been finished or dropped since.
                    if try cache.partials.status(of: name) != nil {
                        try cache.partials.open(reading: name).syncData()
                    }
                }
                try cache.syncPartials()
            } else {
                try cache.syncFileSystem()
            }
            return true
        } catch {
            fail(Setback(storage: error))
            return false
        }
    }

    private func fail(_ setback: Setback) {
        state.signal { state in
            if state.failure == nil { state.failure = setback }
        }
        stop.raise()
    }

    // MARK: The recorder

    /// What one commit of the recorder holds.
    private struct Record {
        var partials: [ActivePartial] = []
        var rows: [EntryRow] = []
        var confirmed: [Confirmation] = []
        var newRows: [EntryRow] = []
        var notBefore: [(origin: Origin, wall: Int64)] = []
        var dropped: [String] = []
    }

    private func record() {
        while let work = nextRecord() {
            var rows: [(ActivePartial, PartialRow)] = []
            do throws(Setback) {
                try onLedger { (ledger) throws(LedgerError) in
                    // Read here, alone with the ledger: a partial that is handed to the publisher meanwhile is
                    // retired before the publisher writes its row, so no older row can follow that one.
                    rows = work.partials.compactMap { partial in partial.unrecorded.map { (partial, $0) } }
                    for (_, row) in rows { try ledger.save(row) }
                    for row in work.rows { try ledger.save(row) }
                    for entry in work.confirmed {
                        try ledger.confirm(
                            entry.key, received: entry.received, freshUntil: entry.freshUntil,
                            isImmutable: entry.isImmutable, trust: entry.trust)
                    }
                    // Some of them may be published by now.
                    for row in work.newRows { try ledger.introduce(row) }
                    for (origin, wall) in work.notBefore { try ledger.setNotBefore(wall, for: origin) }
                    for name in work.dropped { try ledger.deletePartial(name) }
                }
                for (partial, row) in rows { partial.recorded(row) }
                // The row is gone first: a crash between the two leaves an orphan, which the next run sweeps.
                try onDisk { () throws(SystemError) in
                    for name in work.dropped { try cache.removePartial(name) }
                }
            } catch {
                fail(error)
            }
        }
    }

    private func nextRecord() -> Record? {
        state.wait { state in
            if state.failure != nil { return state.publisherEnded ? .done(nil) : .wait(until: .never) }
            guard let since = state.dirtySince else {
                return state.publisherEnded ? .done(nil) : .wait(until: .never)
            }
            var due = since.advanced(bySeconds: Self.recordInterval)
            if state.dirtyBytes >= Self.recordBytes {
                due = min(due, state.lastRecord.advanced(bySeconds: Self.recordPause))
            }
            let now = Instant.now
            guard state.isEnding || now >= due else { return .wait(until: due) }
            var work = Record()
            work.partials = Array(state.active.values)
            for name in state.leaving { state.active[name] = nil }
            state.leaving = []
            (work.rows, state.rows) = (state.rows, [])
            (work.confirmed, state.confirmed) = (state.confirmed, [])
            // A first run may introduce a million entries: not in one commit, which others would wait for.
            work.newRows = Array(state.newRows.prefix(1000))
            state.newRows.removeFirst(min(1000, state.newRows.count))
            (work.notBefore, state.notBefore) = (state.notBefore, [])
            (work.dropped, state.dropped) = (state.dropped, [])
            state.dirtyBytes = 0
            state.dirtySince = state.newRows.isEmpty ? nil : now
            state.lastRecord = now
            return .done(work)
        }
    }

    // MARK: The publisher

    private enum Work {
        case group([Publication])
        case durability([ActivePartial])
        case end
    }

    private func publish() {
        var lastDurable = Instant.now
        while true {
            switch nextWork(lastDurable) {
            case .end:
                state.signal { $0.publisherEnded = true }
                return
            case .durability(let partials):
                lastDurable = .now
                do throws(SystemError) {
                    for partial in partials { try partial.makeDurable() }
                    // Their names too, or the bytes could not be found again.
                    try cache.syncPartials()
                    state.change { $0.touch() }
                } catch {
                    fail(Setback(storage: error))
                }
            case .group(let group):
                publish(group)
                state.signal { $0.publishing = 0 }
            }
        }
    }

    private func nextWork(_ lastDurable: Instant) -> Work {
        state.wait { state in
            if let since = state.finishedSince {
                let due = since.advanced(bySeconds: Self.groupWait)
                if state.isEnding || state.failure != nil || .now >= due
                    || state.finished.count >= Self.groupSize
                {
                    let group = Array(state.finished.prefix(Self.groupSize))
                    state.finished.removeFirst(group.count)
                    state.finishedSince = state.finished.isEmpty ? nil : .now
                    state.publishing = group.count
                    return .done(.group(group))
                }
                return .wait(until: due)
            }
            if state.isEnding { return .done(.end) }
            guard !state.active.isEmpty, state.failure == nil else { return .wait(until: .never) }
            let due = lastDurable.advanced(bySeconds: Self.durableInterval)
            if .now < due { return .wait(until: due) }
            return .done(.durability(state.active.values.filter(\.hasVolatileBytes)))
        }
    }

    private func publish(_ group: [Publication]) {
        var refused: [String: Setback] = [:]
        if failure == nil {
            do throws(Setback) {
                let identifier = try secure(group)
                refused = try name(group)
                try conclude(group, identifier, refused: refused)
            } catch {
                fail(error)
            }
        }
        let failure = failure
        for publication in group { onPublished(publication, failure ?? refused[publication.partial.name]) }
    }

    /// Data first, record second: what the files are, and that all bytes are there and durable, so that after a crash
    /// from here on the publication is finished, not fetched again.
    private func secure(_ group: [Publication]) throws(Setback) -> Int64 {
        var identifier: Int64 = 0
        try onDisk { () throws(SystemError) in
            if group.count <= 2 {
                for publication in group {
                    try cache.partials.open(reading: publication.partial.name).syncData()
                }
                try cache.syncPartials()
            } else {
                try cache.syncFileSystem()
            }
        }
        try onLedger { (ledger) throws(LedgerError) in
            for publication in group { try ledger.save(publication.row) }
            identifier = try ledger.beginPublication(group.map(\.partial.name))
        }
        try onDisk(syncLog)
        return identifier
    }

    /// Name last. Which ones could not have it, by their partial's name: one bad entry stops no other.
    private func name(_ group: [Publication]) throws(Setback) -> [String: Setback] {
        var refused: [String: Setback] = [:]
        for publication in group {
            do throws(SystemError) {
                try cache.publish(partialNamed: publication.partial.name, as: publication.row.fileName)
            } catch {
                guard error.isAboutTarget else { throw Setback(storage: error) }
                let path = cache.path(of: publication.row.fileName)
                refused[publication.partial.name] = Setback(.never, "name", "\(path): \(error.reason)")
            }
        }
        try onDisk(cache.syncTop)
        return refused
    }

    private func conclude(
        _ group: [Publication], _ identifier: Int64, refused: [String: Setback]
    ) throws(Setback) {
        try onLedger { (ledger) throws(LedgerError) in
            try ledger.endPublication(identifier)
            for publication in group {
                if refused[publication.partial.name] != nil {
                    var row = publication.row
                    row.copy = nil
                    try ledger.save(row)
                }
                if publication.partial.isInLedger { try ledger.deletePartial(publication.partial.name) }
                for name in publication.displaced { try ledger.deletePartial(name) }
            }
        }
        try onDisk { () throws(SystemError) in
            for publication in group {
                for name in publication.displaced { try cache.removePartial(name) }
                if refused[publication.partial.name] != nil {
                    try cache.removePartial(publication.partial.name)
                }
            }
        }
    }

    private func onLedger(_ body: (inout LedgerTransaction) throws(LedgerError) -> Void) throws(Setback) {
        do throws(LedgerError) {
            try transaction(body)
        } catch {
            cache.condemn(error)
            throw Setback(ledger: error)
        }
    }

    /// Makes all commits so far durable. The log's own descriptor here takes no lock of SQLite's with it when it
    /// is closed: those are on the database file (sqlite.org/howtocorrupt.html, 2.2).
    private func syncLog() throws(SystemError) {
        try cache.state.open(reading: "state.db-wal").syncData()
    }
}
