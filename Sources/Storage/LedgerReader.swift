package import Posix
package import Wire

/// How many entries have a state.
package struct LedgerCount: Hashable, Sendable {
    package let state: EntryState
    package let count: Int
    /// Bytes of their published copies.
    package let bytes: UInt64
}

/// A connection that only reads: beside a run, after a crash, and where nothing may be written.
///
/// It may move between threads; its methods are mutating, so that only one thread at a time can use it. Each
/// method sees what was committed when it began.
package struct LedgerReader: ~Copyable, @unchecked Sendable {
    private let database: Database
    private var entry: Statement
    private var entries: Statement
    private var partialsOfKey: Statement
    private var partials: Statement
    private var states: Statement
    private var origin: Statement
    private var runs: Statement
    private var publicationRows: Statement
    private var counterRows: Statement
    private var waitingSince: Statement
    private var failures: Statement
    var care: LedgerCareReader

    /// Opens the ledger in the folder `.syncagent`; nil when there is none. Waits at most `patience` milliseconds,
    /// here and at each read, for a program that locks it.
    package static func open(
        in state: borrowing Folder, patience: Int32 = 2000
    ) throws(LedgerError) -> LedgerReader? {
        guard let status = try LedgerFile.status(in: state) else { return nil }
        let path = LedgerFile.path(in: state)
        guard status.size > 0 else { throw LedgerError(.damaged, path: path, reason: "is empty") }
        // SQLite would make a log that is missing, also for a connection that only reads. Without one nobody writes.
        let hasLog = try state.withLedgerErrors { state throws(SystemError) in
            try state.status(of: LedgerFile.name + "-wal") != nil
        }
        guard hasLog else { return try connect(path, .immutable, patience) }
        do throws(LedgerError) {
            return try connect(path, .readOnly, patience)
        } catch  where error.kind == .unusable {
            // In a folder that cannot be written SQLite needs the log files to be there already. When they are
            // not, nobody is writing, and the database without its log is as it was at the last checkpoint.
            return try connect(path, .immutable, patience)
        }
    }

    /// Opens the ledger of a cache; nil when there is no such cache, or no ledger in it.
    ///
    /// - Parameter folder: the ledger's, when it is not the cache's own.
    package static func open(
        cache path: String, ledger folder: String? = nil, patience: Int32 = 2000
    ) throws(LedgerError) -> LedgerReader? {
        let place = folder ?? path + "/" + CacheFolder.stateName
        let state: Folder
        do throws(SystemError) {
            state =
                if let folder {
                    try Folder(opening: folder)
                } else {
                    try Folder(opening: path).open(folder: CacheFolder.stateName)
                }
        } catch  where error.isMissing {
            return nil
        } catch {
            throw LedgerError(error, path: place + "/" + LedgerFile.name)
        }
        return try open(in: state, patience: patience)
    }

    private static func connect(
        _ path: String, _ access: Database.Access, _ patience: Int32
    ) throws(LedgerError) -> LedgerReader {
        let database = try withLedgerErrors { () throws(DatabaseError) in
            try Database(opening: path, access, patience: patience)
        }
        _ = try LedgerFile.version(of: database)
        do throws(DatabaseError) {
            try database.execute("PRAGMA query_only = 1", "preparing to read it")
            return try prepare(on: database)
        } catch {
            throw LedgerError(preparing: error)
        }
    }

    private static func prepare(
        on database: consuming Database
    ) throws(DatabaseError) -> LedgerReader {
        let (entryColumns, partialColumns) = (LedgerSchema.entryColumns, LedgerSchema.partialColumns)
        let entry = try database.prepare(
            "SELECT \(entryColumns) FROM entry WHERE key = ?", "reading an entry")
        let entries = try database.prepare(
            "SELECT \(entryColumns) FROM entry ORDER BY id", "reading the entries")
        let partialsOfKey = try database.prepare(
            "SELECT \(partialColumns) FROM partial WHERE key = ? ORDER BY name", "reading partials")
        let partials = try database.prepare(
            "SELECT \(partialColumns) FROM partial ORDER BY name", "reading the partials")
        // total() cannot overflow, as sum() can.
        let states = try database.prepare(
            "SELECT state, count(*), total(size) FROM entry GROUP BY state", "counting the entries")
        let origin = try database.prepare(
            "SELECT not_before FROM origin WHERE origin = ?", "reading an origin's patience")
        let runs = try database.prepare(
            "SELECT \(LedgerSchema.runColumns) FROM run ORDER BY id DESC LIMIT ?", "reading the runs")
        return LedgerReader(
            database: database, entry: entry, entries: entries, partialsOfKey: partialsOfKey,
            partials: partials, states: states, origin: origin, runs: runs,
            publicationRows: try database.prepare(
                "SELECT id, names FROM publication ORDER BY id", "reading the publications"),
            counterRows: try database.prepare(
                "SELECT name, value FROM counter ORDER BY name", "reading the counters"),
            waitingSince: try database.prepare(waitingSinceText, "reading who waits"),
            failures: try database.prepare(
                """
                SELECT \(entryColumns) FROM entry WHERE state IN (\(EntryState.failed.rawValue),
                \(EntryState.deferred.rawValue)) ORDER BY id LIMIT ?
                """, "reading the failures"),
            care: try LedgerCareReader.prepare(on: database))
    }

    /// An entry that failed for now waits since it first failed; one that nothing speaks against, since the run that
    /// brought it began, or since the oldest run that is remembered.
    private static let waitingSinceText = """
        SELECT min(since) FROM (
            SELECT min(failed_since) AS since FROM entry WHERE state = \(EntryState.deferred.rawValue)
            UNION ALL
            SELECT coalesce(
                (SELECT max(started) FROM arrival WHERE last_entry < first.id),
                (SELECT min(started) FROM arrival))
            FROM (SELECT min(id) AS id FROM entry WHERE state = \(EntryState.pending.rawValue)) AS first
            WHERE first.id IS NOT NULL)
        """

    /// Lets the body see one and the same state in all that it reads. Not to be nested; keep it short, since the
    /// writer's log cannot be emptied meanwhile.
    package mutating func snapshot<Result>(
        _ body: (inout LedgerReader) throws(LedgerError) -> Result
    ) throws(LedgerError) -> Result {
        try withLedgerErrors { () throws(DatabaseError) in try database.execute("BEGIN", "beginning to read")
        }
        do throws(LedgerError) {
            let result = try body(&self)
            database.rollback()
            return result
        } catch {
            database.rollback()
            throw error
        }
    }

    /// Publications that a crash cut short, or that are under way.
    package mutating func publications() throws(LedgerError) -> [PublicationRow] {
        try withLedgerErrors { () throws(DatabaseError) in
            var rows: [PublicationRow] = []
            while try publicationRows.step() {
                let identifier = publicationRows.integer()
                rows.append(
                    PublicationRow(
                        identifier: identifier,
                        partials: publicationRows.text().split(separator: " ").map(String.init)))
            }
            publicationRows.reset()
            return rows
        }
    }

    /// nil when the key has no row.
    package mutating func entry(for key: Key) throws(LedgerError) -> EntryRow? {
        try withLedgerErrors { () throws(DatabaseError) in
            try entry.bind(key)
            let row = try entry.step() ? entry.entryRow() : nil
            entry.reset()
            return row
        }
    }

    /// The rows of the keys, in the keys' order, nil where there is none.
    package mutating func entries(for keys: [Key]) throws(LedgerError) -> [EntryRow?] {
        try snapshot { reader throws(LedgerError) in
            var rows: [EntryRow?] = []
            rows.reserveCapacity(keys.count)
            for key in keys { rows.append(try reader.entry(for: key)) }
            return rows
        }
    }

    /// Calls the body with each row, in the order in which the entries first came.
    package mutating func forEachEntry(
        _ body: (EntryRow) throws(LedgerError) -> Void
    ) throws(LedgerError) {
        defer { entries.reset() }
        while try withLedgerErrors({ () throws(DatabaseError) in try entries.step() }) {
            if let row = entries.entryRow() { try body(row) }
        }
    }

    /// The rows of a key's unfinished files, by name.
    package mutating func partials(for key: Key) throws(LedgerError) -> [PartialRow] {
        try withLedgerErrors { () throws(DatabaseError) in
            try partialsOfKey.bind(key)
            return try LedgerReader.rows(of: &partialsOfKey)
        }
    }

    /// The rows of all unfinished files, by name.
    package mutating func allPartials() throws(LedgerError) -> [PartialRow] {
        try withLedgerErrors { () throws(DatabaseError) in
            try LedgerReader.rows(of: &partials)
        }
    }

    private static func rows(of statement: inout Statement) throws(DatabaseError) -> [PartialRow] {
        defer { statement.reset() }
        var rows: [PartialRow] = []
        while try statement.step() {
            if let row = statement.partialRow() { rows.append(row) }
        }
        return rows
    }

    /// All states, in the order of their numbers, also those that no entry has.
    package mutating func counts() throws(LedgerError) -> [LedgerCount] {
        defer { states.reset() }
        var found: [Int64: (count: Int64, bytes: Double)] = [:]
        try withLedgerErrors { () throws(DatabaseError) in
            while try states.step() { found[states.integer()] = (states.integer(), states.real()) }
        }
        return EntryState.allCases.map { state in
            let (count, bytes) = found[state.rawValue] ?? (0, 0)
            return LedgerCount(
                state: state, count: Int(count), bytes: bytes < 9e18 ? UInt64(max(bytes, 0)) : .max)
        }
    }

    /// The wall second before which an origin asked not to be asked; nil when it did not.
    package mutating func notBefore(of origin: Origin) throws(LedgerError) -> Int64? {
        defer { self.origin.reset() }
        return try withLedgerErrors { () throws(DatabaseError) in
            try self.origin.bind(origin.description)
            return try self.origin.step() ? self.origin.integer() : nil
        }
    }

    /// The numbers that outlive the runs, by name.
    package mutating func counters() throws(LedgerError) -> [(name: String, value: Int64)] {
        defer { counterRows.reset() }
        return try withLedgerErrors { () throws(DatabaseError) in
            var found: [(String, Int64)] = []
            while try counterRows.step() { found.append((counterRows.text(), counterRows.integer())) }
            return found
        }
    }

    /// The wall second since when the entry that waits longest is neither current nor failed for good; nil when none
    /// waits.
    package mutating func oldestWait() throws(LedgerError) -> Int64? {
        defer { waitingSince.reset() }
        return try withLedgerErrors { () throws(DatabaseError) in
            try waitingSince.step() ? waitingSince.optionalInteger() : nil
        }
    }

    /// Entries whose last try failed, in the order in which they first came, at most so many.
    package mutating func failures(limit: Int) throws(LedgerError) -> [EntryRow] {
        defer { failures.reset() }
        return try withLedgerErrors { () throws(DatabaseError) in
            try failures.bind(Int64(max(limit, 0)))
            var rows: [EntryRow] = []
            while try failures.step() { if let row = failures.entryRow() { rows.append(row) } }
            return rows
        }
    }

    /// The newest runs, newest first.
    package mutating func lastRuns(_ limit: Int) throws(LedgerError) -> [RunRow] {
        defer { runs.reset() }
        return try withLedgerErrors { () throws(DatabaseError) in
            // A negative limit would mean none.
            try runs.bind(Int64(max(limit, 0)))
            var rows: [RunRow] = []
            while try runs.step() { rows.append(runs.runRow()) }
            return rows
        }
    }
}
