package import Posix

/// What opening found.
package enum LedgerOpening: Hashable, Sendable {
    case existing
    case created
    /// A damaged ledger was moved to this name in the folder `.syncagent`, and an empty one made.
    case rebuilt(aside: String)
}

/// The one connection that writes the ledger. Whoever opens it holds the cache's lock.
///
/// It may move between threads; its methods are mutating, so that only one thread at a time can use it.
package struct LedgerWriter: ~Copyable, @unchecked Sendable {
    /// What opening found.
    package let opening: LedgerOpening
    private let database: Database
    private var transaction: LedgerTransaction
    private var begin: Statement
    private var commit: Statement
    /// Whether commits wait for the disk now (`PRAGMA synchronous`).
    private var isDurable = false

    /// Opens the ledger in the folder `.syncagent`, made anew when it is missing or damaged. Waits at most
    /// `patience` milliseconds, here and at each transaction, for other programs that lock it.
    package static func open(
        in state: borrowing Folder, patience: Int32 = 10_000
    ) throws(LedgerError) -> LedgerWriter {
        guard let status = try LedgerFile.status(in: state) else {
            try LedgerFile.create(in: state)
            return try connect(in: state, .created, patience)
        }
        let isCondemned = try state.withLedgerErrors { state throws(SystemError) in
            try state.status(of: LedgerFile.condemnedName) != nil
        }
        if status.size > 0 && !isCondemned {
            do throws(LedgerError) {
                return try connect(in: state, .existing, patience)
            } catch  where error.kind == .damaged {
                // Set aside below.
            }
        }
        let aside = try LedgerFile.setAside(in: state)
        try LedgerFile.create(in: state)
        return try connect(in: state, .rebuilt(aside: aside), patience)
    }

    private static func connect(
        in state: borrowing Folder, _ opening: LedgerOpening, _ patience: Int32
    ) throws(LedgerError) -> LedgerWriter {
        let version = try LedgerFile.examine(in: state, patience: patience)
        let path = LedgerFile.path(in: state)
        let database = try withLedgerErrors { () throws(DatabaseError) in
            try Database(opening: path, .readWrite, patience: patience)
        }
        guard !database.isReadOnly else {
            throw LedgerError(.unusable, path: path, reason: "may not be written")
        }
        database.keepLogFiles()
        do throws(DatabaseError) {
            try database.execute(settings, "preparing it")
            try LedgerSchema.migrate(database, from: version)
            let transaction = try LedgerTransaction.prepare(on: database)
            let begin = try database.prepare("BEGIN IMMEDIATE", "beginning a transaction")
            let commit = try database.prepare("COMMIT", "committing a transaction")
            return LedgerWriter(
                opening: opening, database: database, transaction: transaction, begin: begin, commit: commit)
        } catch {
            throw LedgerError(preparing: error)
        }
    }

    /// A log of 4000 pages is 16 MiB; each checkpoint costs two fsyncs, so it should not come often.
    private static let settings = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
        PRAGMA wal_autocheckpoint = 4000;
        PRAGMA journal_size_limit = 16777216;
        PRAGMA cache_size = -16384;
        PRAGMA temp_store = MEMORY;
        """

    /// Runs the body in a transaction: all of its changes are made, or, when it or the commit throws, none.
    ///
    /// With `durable` they, and all before them, are on the disk when it returns (`synchronous = FULL`:
    /// sqlite.org/pragma.html#pragma_synchronous); without, a power cut may take the last of them back, in order.
    package mutating func transaction<Result>(
        durable: Bool, _ body: (inout LedgerTransaction) throws(LedgerError) -> Result
    ) throws(LedgerError) -> Result {
        try withLedgerErrors { () throws(DatabaseError) in
            if durable != isDurable {
                try database.execute(
                    durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", "preparing it")
                isDurable = durable
            }
            try begin.run()
        }
        do throws(LedgerError) {
            let result = try body(&transaction)
            try withLedgerErrors { () throws(DatabaseError) in try commit.run() }
            return result
        } catch {
            database.rollback()
            throw error
        }
    }

    /// Moves the log into the database and empties it, so that the next open need not check the ledger. Without
    /// it (when the writer is only dropped) nothing is lost.
    package consuming func close() throws(LedgerError) {
        try withLedgerErrors { () throws(DatabaseError) in
            // Readers are short; a long one only keeps the log from being emptied.
            database.setPatience(500)
            _ = try database.integer("PRAGMA wal_checkpoint(TRUNCATE)", "closing it")
        }
    }

    /// Marks the ledger as damaged, after `.damaged` from a writer or a reader in use: the next open sets it aside.
    package static func condemn(in state: borrowing Folder) throws(SystemError) {
        _ = try state.openOrCreate(LedgerFile.condemnedName, mode: 0o600)
    }
}
