internal import Posix
internal import Storage
internal import Wire

/// What `status` tells, as values.
struct StatusReport {
    /// Where an entry stands.
    enum Standing: String, CaseIterable {
        /// The copy is there.
        case current
        /// Some of it is there.
        case partial
        case pending
        /// For good, until the manifest's line changes or time has passed.
        case failed
        /// For now; the next run asks again.
        case deferred
    }

    /// An unfinished transfer.
    struct Partial {
        let name: String
        /// Masked.
        let url: String
        /// Its name in the cache once it is complete.
        let file: String
        let done: UInt64
        let total: UInt64?
        /// Bytes per second; nil when it was not measured.
        var rate: Double?
    }

    /// An entry that could not be had.
    struct Failure {
        /// Masked.
        let url: String
        let row: FailureRow
    }

    /// An entry that was asked for by its URL.
    struct Selected {
        let url: String
        /// Nil when the ledger does not know it.
        let file: String?
        let standing: Standing
        let size: UInt64?
        let remark: String?
        /// How often its transfer was started over although bytes were held.
        let restarts: Int
    }

    let cache: String
    let hasLedger: Bool
    var isRunning = false
    /// How many entries stand where; their sum is the number of entries.
    private(set) var counts: [Standing: Int] = [:]
    private(set) var cachedBytes: UInt64 = 0
    private(set) var partials: [Partial] = []
    private(set) var failures: [Failure] = []
    /// Nil unless URLs were given.
    private(set) var selected: [Selected]?
    private(set) var lastRun: RunRow?

    var entries: Int { counts.values.reduce(0, +) }
    var partialBytes: UInt64 { partials.reduce(0) { $0 &+ $1.done } }

    /// Reads a cache; with keys, only what belongs to these, told by the URLs in the same order.
    init(of view: inout CacheView, only wanted: [(key: Key, url: String)]? = nil) throws(CommandError) {
        cache = view.path
        isRunning = view.isRunning
        hasLedger = view.ledger != nil
        var reader = view.ledger.take()
        defer { view.ledger = reader.take() }
        guard reader != nil else {
            if let wanted { select(wanted, [], [:], view) }
            return
        }
        do throws(LedgerError) {
            try reader?.snapshot { (reader: inout LedgerReader) throws(LedgerError) in
                try self.read(&reader, view, wanted)
            }
        } catch {
            throw CacheView.failure(error)
        }
    }

    private mutating func read(
        _ reader: inout LedgerReader, _ view: borrowing CacheView, _ wanted: [(key: Key, url: String)]?
    ) throws(LedgerError) {
        lastRun = try reader.lastRuns(1).first
        let all = try reader.allPartials()
        if let wanted {
            let keys = Set(wanted.map(\.key))
            let own = all.filter { keys.contains($0.key) }
            var rows: [EntryRow?] = []
            for key in wanted.map(\.key) { rows.append(try reader.entry(for: key)) }
            try list(own, &reader, view)
            select(wanted, rows, Dictionary(grouping: own, by: \.key), view)
            return
        }
        for count in try reader.counts() {
            counts[Self.standing(count.state), default: 0] += count.count
            cachedBytes &+= count.bytes
        }
        // Of the entries that are neither here nor failed, those with bytes are partial.
        let begun = try list(all, &reader, view)
        counts[.pending, default: 0] -= begun.known
        counts[.partial] = begun.known + begun.unknown
        if counts[.failed, default: 0] + counts[.deferred, default: 0] > 0 {
            var failures: [Failure] = []
            try reader.forEachEntry { (row: EntryRow) throws(LedgerError) in
                if let failure = row.failure { failures.append(Failure(url: row.url, row: failure)) }
            }
            self.failures = failures
        }
    }

    /// Lists partials; tells how many pending entries have some, and how many have no row of their own.
    @discardableResult
    private mutating func list(
        _ rows: [PartialRow], _ reader: inout LedgerReader, _ view: borrowing CacheView
    ) throws(LedgerError) -> (known: Int, unknown: Int) {
        var seen = Set<Key>()
        var known = 0
        var unknown = 0
        for row in rows {
            let entry = try reader.entry(for: row.key)
            let done = view.usableBytes(of: row, isRunning: isRunning)
            partials.append(
                Partial(
                    name: row.name, url: entry?.url ?? row.source,
                    file: row.key.hex + (entry?.fileExtension ?? ""), done: min(done, row.total ?? done),
                    total: row.total))
            guard seen.insert(row.key).inserted else { continue }
            if entry == nil {
                unknown += 1
            } else if entry?.state == .pending {
                known += 1
            }
        }
        return (known, unknown)
    }

    private mutating func select(
        _ wanted: [(key: Key, url: String)], _ rows: [EntryRow?], _ partials: [Key: [PartialRow]],
        _ view: borrowing CacheView
    ) {
        var list: [Selected] = []
        for (index, (key, url)) in wanted.enumerated() {
            let row = index < rows.count ? rows[index] : nil
            var standing = row.map { Self.standing($0.state) } ?? .pending
            if standing == .pending, partials[key] != nil { standing = .partial }
            // The ledger's word is not enough when somebody asks for this very file.
            if let row, standing == .current, !view.isComplete(row) { standing = .pending }
            counts[standing, default: 0] += 1
            if standing == .current { cachedBytes &+= row?.copy?.size ?? 0 }
            if let row, let failure = row.failure { failures.append(Failure(url: row.url, row: failure)) }
            list.append(
                Selected(
                    url: row?.url ?? url, file: row?.fileName, standing: standing, size: row?.copy?.size,
                    remark: row?.remark, restarts: row?.restarts ?? 0))
        }
        selected = list
    }

    private static func standing(_ state: EntryState) -> Standing {
        switch state {
        case .current: .current
        case .pending: .pending
        case .failed: .failed
        case .deferred: .deferred
        }
    }

    /// Takes the rates of partials from an earlier look.
    mutating func measure(since earlier: StatusReport, seconds: Double) {
        guard seconds > 0 else { return }
        var before: [String: UInt64] = [:]
        for partial in earlier.partials { before[partial.name] = partial.done }
        for index in partials.indices {
            guard let start = before[partials[index].name], partials[index].done >= start else { continue }
            partials[index].rate = Double(partials[index].done - start) / seconds
        }
    }
}
