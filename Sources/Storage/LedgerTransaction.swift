package import Wire

/// What can be changed in the ledger; exists only inside `LedgerWriter.transaction`.
package struct LedgerTransaction: ~Copyable {
    private var saveEntry: Statement
    private var introduceEntry: Statement
    private var deleteEntry: Statement
    private var savePartial: Statement
    private var updatePartial: Statement
    private var deletePartial: Statement
    private var notePartials: Statement
    private var saveOrigin: Statement
    private var deleteOrigin: Statement
    private var forgetOrigins: Statement
    private var insertRun: Statement
    private var updateRun: Statement
    private var forgetRuns: Statement
    private var insertPublication: Statement
    private var deletePublication: Statement
    private var confirmEntry: Statement
    private var addToCounter: Statement
    private var setCounter: Statement
    private var insertArrival: Statement
    private var forgetArrivals: Statement
    /// For what manifests ask, and for files that are read again or go.
    var lists: LedgerLists
    var upkeep: LedgerUpkeep

    static func prepare(on database: borrowing Database) throws(DatabaseError) -> LedgerTransaction {
        LedgerTransaction(
            saveEntry: try database.prepare(
                LedgerSchema.upsert("entry", LedgerSchema.entryColumns + ", state"), "saving an entry"),
            introduceEntry: try database.prepare(
                LedgerSchema.insert("entry", LedgerSchema.entryColumns + ", state"), "adding an entry"),
            deleteEntry: try database.prepare("DELETE FROM entry WHERE key = ?", "deleting an entry"),
            savePartial: try database.prepare(
                LedgerSchema.upsert("partial", LedgerSchema.partialColumns), "saving a partial"),
            updatePartial: try database.prepare(
                "UPDATE partial SET written = ?, durable = ?, digest_state = ? WHERE name = ?",
                "saving progress"),
            deletePartial: try database.prepare("DELETE FROM partial WHERE name = ?", "deleting a partial"),
            notePartials: try database.prepare(
                "UPDATE partial SET durable = written WHERE durable < written", "noting durable partials"),
            saveOrigin: try database.prepare(
                LedgerSchema.upsert("origin", "origin, not_before"), "saving an origin's patience"),
            deleteOrigin: try database.prepare(
                "DELETE FROM origin WHERE origin = ?", "deleting an origin's patience"),
            forgetOrigins: try database.prepare(
                "DELETE FROM origin WHERE not_before <= ?", "deleting origins' patience"),
            insertRun: try database.prepare(
                """
                INSERT INTO run (started, ended, exit_code, entries, current, failed, pending, received, paused)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
                """, "saving a run"),
            updateRun: try database.prepare(
                """
                UPDATE run SET started = ?, ended = ?, exit_code = ?, entries = ?, current = ?, failed = ?,
                pending = ?, received = ?, paused = ? WHERE id = ?
                """, "saving a run"),
            forgetRuns: try database.prepare("DELETE FROM run WHERE id <= ?", "deleting old runs"),
            insertPublication: try database.prepare(
                "INSERT INTO publication (names) VALUES (?) RETURNING id", "saving a publication"),
            deletePublication: try database.prepare(
                "DELETE FROM publication WHERE id = ?", "ending a publication"),
            confirmEntry: try database.prepare(
                """
                UPDATE entry SET received = ?, fresh_until = ?, immutable = ?, trust = ?, max_age = ?
                WHERE key = ?
                """, "confirming an entry"),
            // Beyond 2^62 it stays where it is, as the sum of two must still be a number.
            addToCounter: try database.prepare(
                """
                INSERT INTO counter (name, value) VALUES (?, min(?, 1 << 61))
                ON CONFLICT (name) DO UPDATE SET value = min(value + excluded.value, 1 << 62)
                """, "adding to a counter"),
            setCounter: try database.prepare(
                LedgerSchema.upsert("counter", "name, value"), "setting a counter"),
            insertArrival: try database.prepare(
                "INSERT INTO arrival (run, started, last_entry) SELECT ?, ?, coalesce(max(id), 0) FROM entry",
                "noting the last entry"),
            forgetArrivals: try database.prepare("DELETE FROM arrival WHERE run <= ?", "deleting old runs"),
            lists: try LedgerLists.prepare(on: database), upkeep: try LedgerUpkeep.prepare(on: database))
    }

    /// Puts the row in, or in the place of its key's.
    package mutating func save(_ row: EntryRow) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try saveEntry.bind(row)
            try saveEntry.bind(row.state.rawValue)
            try saveEntry.run()
        }
    }

    /// Puts the row in unless its key has one already, which knows more.
    package mutating func introduce(_ row: EntryRow) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try introduceEntry.bind(row)
            try introduceEntry.bind(row.state.rawValue)
            try introduceEntry.run()
        }
    }

    /// Its partials' rows stay.
    package mutating func deleteEntry(_ key: Key) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try deleteEntry.bind(key)
            try deleteEntry.run()
        }
    }

    /// Puts the row in, or in the place of its name's.
    package mutating func save(_ row: PartialRow) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try savePartial.bind(row)
            try savePartial.run()
        }
    }

    /// Changes how far a partial is, in bytes; does nothing when there is no row of that name.
    package mutating func updateProgress(
        of name: String, written: UInt64, durable: UInt64, digestState: [UInt8]?
    ) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try updatePartial.bind(Int64(clamping: written))
            try updatePartial.bind(Int64(clamping: durable))
            try updatePartial.bind(digestState)
            try updatePartial.bind(name)
            try updatePartial.run()
        }
    }

    /// All that was written to any partial is durable.
    package mutating func notePartialsDurable() throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in try notePartials.run() }
    }

    package mutating func deletePartial(_ name: String) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try deletePartial.bind(name)
            try deletePartial.run()
        }
    }

    /// Notes that these partials, whose entries are saved already, are about to be renamed; returns the number to
    /// end it by.
    package mutating func beginPublication(_ partials: [String]) throws(LedgerError) -> Int64 {
        try withLedgerErrors { () throws(DatabaseError) in
            try insertPublication.bind(partials.joined(separator: " "))
            let identifier = try insertPublication.step() ? insertPublication.integer() : 0
            try insertPublication.run()
            return identifier
        }
    }

    /// The renames are done and durable.
    package mutating func endPublication(_ identifier: Int64) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try deletePublication.bind(identifier)
            try deletePublication.run()
        }
    }

    /// Notes that the origin confirmed a copy: when (wall seconds), and what it and the manifest say of freshness.
    package mutating func confirm(
        _ key: Key, received: Int64, freshUntil: Int64?, isImmutable: Bool, trust: TrustRow? = nil
    ) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try confirmEntry.bind(received)
            try confirmEntry.bind(freshUntil)
            try confirmEntry.bind(Int64(isImmutable ? 1 : 0))
            try confirmEntry.bind(trust?.word.rawValue)
            try confirmEntry.bind(trust?.maxAge?.column)
            try confirmEntry.bind(key)
            try confirmEntry.run()
        }
    }

    /// Remembers the wall second before which an origin asked not to be asked; nil forgets it.
    package mutating func setNotBefore(_ wall: Int64?, for origin: Origin) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            if let wall {
                try saveOrigin.bind(origin.description)
                try saveOrigin.bind(wall)
                try saveOrigin.run()
            } else {
                try deleteOrigin.bind(origin.description)
                try deleteOrigin.run()
            }
        }
    }

    /// Adds a run and returns its number; the row's own is ignored. Forgets runs beyond the last 200, and waits
    /// that are over when it starts.
    package mutating func startRun(_ row: RunRow) throws(LedgerError) -> Int64 {
        try withLedgerErrors { () throws(DatabaseError) in
            try LedgerTransaction.bind(row, to: &insertRun)
            let identifier = try insertRun.step() ? insertRun.integer() : 0
            try insertRun.run()
            try forgetRuns.bind(identifier.subtractingReportingOverflow(LedgerSchema.runsKept).partialValue)
            try forgetRuns.run()
            try forgetOrigins.bind(row.started)
            try forgetOrigins.run()
            try insertArrival.bind(identifier)
            try insertArrival.bind(row.started)
            try insertArrival.run()
            try forgetArrivals.bind(
                identifier.subtractingReportingOverflow(LedgerSchema.runsKept).partialValue)
            try forgetArrivals.run()
            return identifier
        }
    }

    /// Changes the run that has the row's number.
    package mutating func finishRun(_ row: RunRow) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try LedgerTransaction.bind(row, to: &updateRun)
            try updateRun.bind(row.identifier)
            try updateRun.run()
        }
    }

    /// Adds to a sum over all runs.
    package mutating func add(_ amount: UInt64, to counter: LedgerCounter) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try addToCounter.bind(counter.name)
            try addToCounter.bind(Int64(clamping: amount))
            try addToCounter.run()
        }
    }

    /// Remembers a number in place of the one before.
    package mutating func set(_ counter: LedgerCounter, to value: Int64) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try setCounter.bind(counter.name)
            try setCounter.bind(value)
            try setCounter.run()
        }
    }

    private static func bind(_ row: RunRow, to statement: inout Statement) throws(DatabaseError) {
        try statement.bind(row.started)
        try statement.bind(row.ended)
        try statement.bind(row.exitCode.map { Int64($0) })
        try statement.bind(Int64(row.entries))
        try statement.bind(Int64(row.current))
        try statement.bind(Int64(row.failed))
        try statement.bind(Int64(row.pending))
        try statement.bind(Int64(clamping: row.received))
        try statement.bind(Int64(row.paused))
    }
}
