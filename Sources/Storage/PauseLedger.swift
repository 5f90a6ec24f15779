package import Posix

/// A connection for one small thing: saying who is paused, also while a run is at work and writes the same ledger.
///
/// It makes, repairs and migrates nothing. Whoever holds the cache's lock may be writing; both wait for each other by
/// SQLite's own lock, which is held for milliseconds.
package struct PauseLedger: ~Copyable {
    private let database: Database
    private var drop: Statement
    private var dropPattern: Statement
    private var clear: Statement
    private var insert: Statement
    private var counts: Statement

    /// Nil when there is no ledger. Waits at most `patience` milliseconds, at each change, for others.
    package static func open(
        in state: borrowing Folder, patience: Int32 = 10_000
    ) throws(LedgerError) -> PauseLedger? {
        guard let status = try LedgerFile.status(in: state), status.size > 0 else { return nil }
        let path = LedgerFile.path(in: state)
        let database = try withLedgerErrors { () throws(DatabaseError) in
            try Database(opening: path, .readWrite, patience: patience)
        }
        guard !database.isReadOnly else {
            throw LedgerError(.unusable, path: path, reason: "may not be written")
        }
        database.keepLogFiles()
        guard try LedgerFile.version(of: database) == LedgerSchema.version else {
            throw LedgerError(.busy, path: path, reason: "is being made new by a run")
        }
        do throws(DatabaseError) {
            // A checkpoint is the run's business, which has time for it.
            try database.execute("PRAGMA wal_autocheckpoint = 0", "preparing it")
            try database.execute("PRAGMA synchronous = FULL", "preparing it")
            return try prepare(on: database)
        } catch {
            throw LedgerError(preparing: error)
        }
    }

    private static func prepare(on database: consuming Database) throws(DatabaseError) -> PauseLedger {
        let drop = try database.prepare("DELETE FROM pause WHERE key = ?", "resuming")
        let dropPattern = try database.prepare("DELETE FROM pause WHERE pattern = ?", "resuming")
        let clear = try database.prepare("DELETE FROM pause", "resuming all")
        let insert = try database.prepare(
            "INSERT INTO pause (key, pattern, subject, paused) VALUES (?, ?, ?, ?)", "pausing")
        let counts = try database.prepare(
            "SELECT count(*), count(pattern) FROM pause WHERE paused = 1", "reading who is paused")
        return PauseLedger(
            database: database, drop: drop, dropPattern: dropPattern, clear: clear, insert: insert,
            counts: counts)
    }

    /// Says of entries that they are paused, or are not any more: all in one transaction, which is durable when this
    /// returns. Rules that say nothing new any more go.
    package mutating func say(
        _ isPaused: Bool, of subjects: [(subject: PauseRule.Subject, text: String)]
    ) throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            try database.execute("BEGIN IMMEDIATE", "beginning a transaction")
            do throws(DatabaseError) {
                for (subject, text) in subjects { try say(isPaused, of: subject, text) }
                try database.execute("COMMIT", "committing a transaction")
            } catch {
                database.rollback()
                throw error
            }
        }
    }

    private mutating func say(
        _ isPaused: Bool, of subject: PauseRule.Subject, _ text: String
    ) throws(DatabaseError) {
        switch subject {
        case .key(let key):
            try drop.bind(key)
            try drop.run()
        case .pattern(let pattern):
            if standsForAll(pattern) {
                try clear.run()
            } else {
                try dropPattern.bind(pattern)
                try dropPattern.run()
            }
        }
        if !isPaused, try !isWorthSaying(subject) { return }
        switch subject {
        case .key(let key):
            try insert.bind(key)
            try insert.bind(String?.none)
        case .pattern(let pattern):
            try insert.bind([UInt8]?.none)
            try insert.bind(pattern)
        }
        try insert.bind(text)
        try insert.bind(Int64(isPaused ? 1 : 0))
        try insert.run()
    }

    /// Whether an exception has something to be an exception from: an entry by itself from a pattern, a pattern from
    /// anything.
    private mutating func isWorthSaying(_ subject: PauseRule.Subject) throws(DatabaseError) -> Bool {
        defer { counts.reset() }
        guard try counts.step() else { return false }
        let (all, patterns) = (counts.integer(), counts.integer())
        switch subject {
        case .key: return patterns > 0
        case .pattern: return all > 0
        }
    }
}

/// The pattern is nothing but stars.
private func standsForAll(_ pattern: String) -> Bool { pattern.utf8.allSatisfy { $0 == UInt8(ascii: "*") } }

extension Statement {
    /// nil for a rule about nothing.
    mutating func pauseRule() -> PauseRule? {
        let identifier = integer()
        // NULL is no key of 16 bytes.
        let key = key()
        let pattern = optionalText()
        let text = text()
        let isPaused = integer() != 0
        let subject: PauseRule.Subject
        if let key {
            subject = .key(key)
        } else if let pattern {
            subject = .pattern(pattern)
        } else {
            return nil
        }
        return PauseRule(identifier: identifier, subject: subject, text: text, isPaused: isPaused)
    }
}
