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
        /// Not here, and the user wants it left alone.
        case paused
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
        var isPaused = false
        /// Bytes per second; nil when it was not measured.
        var rate: Double?
    }

    /// An entry that could not be had.
    struct Failure {
        /// Masked.
        let url: String
        let row: FailureRow
        /// The origin has it no more.
        var isGone = false
        /// The older copy is here.
        var hasCopy = false

        init(url: String, row: FailureRow) {
            self.url = url
            self.row = row
        }

        /// Nil when it did not fail.
        init?(of row: EntryRow) {
            guard let failure = row.failure else { return nil }
            self.init(url: row.url, row: failure)
            isGone = row.isGone
            hasCopy = row.copy != nil
        }
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
        var isGone = false
        var isPaused = false
        /// Wall seconds of the answer, or of the last confirmation.
        var received: Int64?
        /// Wall seconds of the last time that its bytes were proven.
        var checked: Int64?
        /// Nil when the next run asks.
        var freshness: Freshness?
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
    /// What the user said about pausing, in order; later words count more.
    private(set) var pauses: [PauseRule] = []
    private var rules = PauseRules()

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
        rules = try reader.pauseRules()
        pauses = rules.all
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
        try countPaused(&reader, begun: Set(all.map(\.key)))
        if counts[.failed, default: 0] + counts[.deferred, default: 0] > 0 {
            var failures: [Failure] = []
            try reader.forEachEntry { (row: EntryRow) throws(LedgerError) in
                if let failure = Failure(of: row) { failures.append(failure) }
            }
            self.failures = failures
        }
    }

    /// Counts entries that are not here as paused, instead of what they are else.
    private mutating func countPaused(
        _ reader: inout LedgerReader, begun: Set<Key>
    ) throws(LedgerError) {
        let rules = rules
        var paused: [Standing: Int] = [:]
        func take(_ key: Key, _ url: String, _ state: EntryState) {
            guard state != .current, rules.isPaused(key, url: url) else { return }
            let standing = Self.standing(state)
            paused[standing == .pending && begun.contains(key) ? .partial : standing, default: 0] += 1
        }
        if rules.hasPatterns {
            try reader.forEachAbsent(take)
        } else {
            for key in rules.namedKeys {
                if let row = try reader.entry(for: key) { take(key, row.url, row.state) }
            }
        }
        for (standing, count) in paused {
            counts[standing, default: 0] -= count
            counts[.paused, default: 0] += count
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
                    total: row.total,
                    isPaused: rules.isPaused(row.key, url: entry?.url ?? row.source)))
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
        let now = wallSeconds()
        for (index, (key, url)) in wanted.enumerated() {
            let row = index < rows.count ? rows[index] : nil
            var standing = row.map { Self.standing($0.state) } ?? .pending
            if standing == .pending, partials[key] != nil { standing = .partial }
            // The ledger's word is not enough when somebody asks for this very file.
            if let row, standing == .current, !view.isComplete(row) { standing = .pending }
            let isPaused = rules.isPaused(key, url: row?.url ?? url)
            if isPaused, standing != .current { standing = .paused }
            counts[standing, default: 0] += 1
            if standing == .current { cachedBytes &+= row?.copy?.size ?? 0 }
            if let row, let failure = Failure(of: row) { failures.append(failure) }
            let copy = row?.copy
            list.append(
                Selected(
                    url: row?.url ?? url, file: row?.fileName, standing: standing, size: row?.copy?.size,
                    remark: row?.remark, restarts: row?.restarts ?? 0, isGone: row?.isGone ?? false,
                    isPaused: isPaused,
                    received: copy?.received, checked: copy?.checked,
                    freshness: standing == .current ? row.flatMap { Freshness(of: $0, now: now) } : nil))
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
