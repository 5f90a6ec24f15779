internal import Posix
internal import Reconcile
internal import Storage
internal import Wire

/// What a sync would do, counted.
struct PlanReport {
    /// What happens to an entry.
    enum Step: String, CaseIterable {
        /// Fetched: nothing of it is here.
        case new
        /// Fetched whole although a copy is here: it does not fit the manifest, or has no validator to ask with.
        case replace
        /// Its partial is gone on with, or proven.
        case resume
        /// The server is asked whether it changed.
        case ask
        /// The copy is believed without asking.
        case current
        /// Not asked now: it failed lately, or its server asked for patience.
        case waiting
        /// The user has it paused.
        case paused
    }

    /// What the user says of all entries.
    struct Wishes {
        var refresh = false
        var retryFailed = false
        var maxAge: MaxAge?
        var pauses = PauseRules()
    }

    private(set) var counts: [Step: Int] = [:]
    /// Lines that cannot be read, and entries that cannot be fetched for what they ask.
    var badLines = 0
    var refused = 0
    /// Bytes that are known to be fetched, and entries whose size nobody knows yet.
    private(set) var knownBytes: UInt64 = 0
    private(set) var unknownSizes = 0

    var entries: Int { counts.values.reduce(0, +) }

    /// Counts a batch of entries.
    mutating func add(
        _ entries: [Entry], _ view: inout CacheView, partials: [Key: [PartialRow]], wishes: Wishes, now: Int64
    ) throws(CommandError) {
        var rows = [EntryRow?](repeating: nil, count: entries.count)
        // The ledger answers fastest in the order of its keys.
        let order = entries.indices.sorted { entries[$0].key < entries[$1].key }
        do throws(LedgerError) {
            if let found = try view.ledger?.entries(for: order.map { entries[$0].key }) {
                for (index, row) in zip(order, found) { rows[index] = row }
            }
        } catch {
            throw CacheView.failure(error)
        }
        for (entry, row) in zip(entries, rows) {
            let partial = best(partials[entry.key] ?? [], view)
            let isHere = row.map { view.isComplete($0) } ?? false
            let step = Self.step(
                for: entry, row: row, isHere: isHere, partial: partial, wishes: wishes, now: now)
            counts[step, default: 0] += 1
            switch step {
            case .new, .replace: add(size: entry.size, done: 0)
            case .resume: add(size: entry.size ?? partial?.total, done: partial?.length ?? 0)
            case .ask, .current, .waiting, .paused: break
            }
        }
    }

    private mutating func add(size: UInt64?, done: UInt64) {
        guard let size else {
            unknownSizes += 1
            return
        }
        let sum = knownBytes.addingReportingOverflow(size > done ? size - done : 0)
        knownBytes = sum.overflow ? .max : sum.partialValue
    }

    /// The longest of an entry's partials that can be built upon.
    private func best(_ rows: [PartialRow], _ view: borrowing CacheView) -> PartialFacts? {
        rows.map { row in
            PartialFacts(
                length: view.usableBytes(of: row, isRunning: false), total: row.total,
                validators: row.validators,
                coding: row.contentCoding)
        }.filter { $0.length > 0 }.max { $0.length < $1.length }
    }

    /// The rules of a sync, as far as they can be known without a server.
    static func step(
        for entry: Entry, row: EntryRow?, isHere: Bool, partial: PartialFacts?, wishes: Wishes, now: Int64
    ) -> Step {
        if wishes.pauses.isPaused(entry.key, url: entry.url.masked) {
            return isHere && row?.failure == nil ? .current : .paused
        }
        if let failure = row?.failure, waits(failure, entry, wishes, now) { return .waiting }
        let copy = isHere ? row?.copy : nil
        let facts = copy.map { copy in
            CopyFacts(
                validators: copy.validators, checksumFits: fits(copy.digest, entry.checksums),
                received: copy.received, freshUntil: copy.freshUntil, isImmutable: copy.isImmutable)
        }
        let trust: EntryFacts.Trust
        switch wishes.refresh ? nil : entry.maxAge ?? wishes.maxAge ?? .seconds(0) {
        case .seconds(let seconds): trust = .seconds(seconds)
        case .server: trust = .server
        case nil: trust = .never
        }
        let wanted = EntryFacts(
            hasChecksum: !entry.checksums.isEmpty, size: entry.size, isImmutable: entry.isImmutable,
            trust: trust)
        switch ask(entry: wanted, copy: facts, partial: partial, now: now) {
        case .nothing: return .current
        case .revalidate: return .ask
        case .rest, .prove, .check: return .resume
        case .whole: return copy == nil ? .new : .replace
        }
    }

    private static func waits(_ failure: FailureRow, _ entry: Entry, _ wishes: Wishes, _ now: Int64) -> Bool {
        if holdsBack(notBefore: failure.notBefore, now: now) { return true }
        guard failure.isPermanent, !wishes.retryFailed, failure.fingerprint == entry.fingerprint else {
            return false
        }
        return !isDue(failingSince: failure.since, lastTry: failure.lastTry, now: now)
    }

    /// Whether a digest fits; nil when the manifest names none. One of another type is computed by the sync; until
    /// then it is given the benefit of the doubt.
    private static func fits(_ digest: Checksum, _ checksums: [Checksum]) -> Bool? {
        guard !checksums.isEmpty else { return nil }
        return checksums.allSatisfy { $0.algorithm != digest.algorithm || $0 == digest }
    }
}
