internal import CLinux
internal import Posix

/// The ledger's files in the folder `.syncagent`: making, examining and setting aside.
///
/// The database is never opened and closed beside SQLite by our own descriptors while a connection of this process
/// may be open: closing any of them would drop the process's locks (fcntl(2), F_SETLK).
enum LedgerFile {
    static let name = "state.db"
    /// A ledger in the making; it gets its name when it has its tables.
    static let draftName = "state.db.new"
    /// An empty file that says that the ledger was found damaged in use.
    static let condemnedName = "state.db.condemned"
    /// What precedes the time in the name of a ledger that was set aside.
    static let asidePrefix = "state.db.damaged-"
    /// Ledgers set aside that are kept, the newest.
    static let asidesKept = 3
    /// What SQLite puts beside a database.
    private static let companions = ["-wal", "-shm", "-journal"]

    static func path(in state: borrowing Folder) -> String { state.path + "/" + name }

    /// The ledger's status; nil when it is missing. Anything but a regular file is refused.
    static func status(in state: borrowing Folder) throws(LedgerError) -> FileStatus? {
        let status = try state.withLedgerErrors { state throws(SystemError) in try state.status(of: name) }
        switch status?.kind {
        case nil, .regular: return status
        case .folder: throw LedgerError(.unusable, path: path(in: state), reason: "is a folder")
        case .link: throw LedgerError(.unusable, path: path(in: state), reason: "is a symbolic link")
        case .other: throw LedgerError(.unusable, path: path(in: state), reason: "is not a regular file")
        }
    }

    /// Makes an empty ledger under its name, or nothing.
    static func create(in state: borrowing Folder) throws(LedgerError) {
        try state.withLedgerErrors { state throws(SystemError) in
            // A log without its database must not be replayed into the new one.
            for file in companions.map({ name + $0 }) + [draftName] + companions.map({ draftName + $0 }) {
                try state.remove(file)
            }
            _ = try state.create(draftName, mode: 0o600)
        }
        try withLedgerErrors { () throws(DatabaseError) in
            let draft = try Database(opening: state.path + "/" + draftName, .readWrite, patience: 0)
            try LedgerSchema.migrate(draft, from: 0)
            // Kept in the file's header; as the only connection it takes its log files away when it closes.
            try draft.execute("PRAGMA journal_mode = WAL", "making it")
        }
        try state.withLedgerErrors { state throws(SystemError) in
            try state.rename(draftName, into: state, as: name)
            try state.sync()
        }
    }

    /// Reads the version, and proves a ledger that was not closed properly, without changing it. Throws `.damaged`
    /// for what is no sound ledger, and `.newer`.
    static func examine(in state: borrowing Folder, patience: Int32) throws(LedgerError) -> Int64 {
        let log = try state.withLedgerErrors { state throws(SystemError) in
            try state.status(of: name + "-wal")
        }
        // A proper close leaves an empty log.
        let wasCrash = (log?.size ?? 0) > 0
        let path = path(in: state)
        let database = try withLedgerErrors { () throws(DatabaseError) in
            try Database(opening: path, .readOnly, patience: patience)
        }
        if wasCrash {
            let verdict = try withLedgerErrors { () throws(DatabaseError) in
                try database.text("PRAGMA quick_check(1)", "checking it after a crash")
            }
            guard verdict == "ok" else { throw LedgerError(.damaged, path: path, reason: verdict) }
        }
        return try version(of: database)
    }

    /// The version of a ledger; throws `.damaged` when it is none of ours and `.newer` when it is beyond us.
    static func version(of database: borrowing Database) throws(LedgerError) -> Int64 {
        let (identifier, version) = try withLedgerErrors { () throws(DatabaseError) in
            (
                try database.integer("PRAGMA application_id", "reading its kind"),
                try database.integer("PRAGMA user_version", "reading its version")
            )
        }
        guard identifier == LedgerSchema.applicationIdentifier, version > 0 else {
            throw LedgerError(.damaged, path: database.path, reason: "is not a ledger")
        }
        guard version <= LedgerSchema.version else {
            throw LedgerError(
                .newer, path: database.path,
                reason: "has version \(version), this syncagent knows up to \(LedgerSchema.version)")
        }
        return version
    }

    /// Takes the ledger and its log files out of the way; returns the new name.
    static func setAside(in state: borrowing Folder) throws(LedgerError) -> String {
        try state.withLedgerErrors { state throws(SystemError) in
            var aside = asidePrefix + String(wallSeconds())
            while try state.status(of: aside) != nil { aside += "+" }
            try state.rename(name, into: state, as: aside)
            for companion in companions where try state.status(of: name + companion) != nil {
                try state.rename(name + companion, into: state, as: aside + companion)
            }
            try state.remove(condemnedName)
            try dropOldAsides(in: state)
            try state.sync()
            return aside
        }
    }

    private static func dropOldAsides(in state: borrowing Folder) throws(SystemError) {
        var asides: [String] = []
        try state.forEachName { name throws(SystemError) in
            if name.hasPrefix(asidePrefix), !companions.contains(where: name.hasSuffix) {
                asides.append(name)
            }
        }
        for aside in asides.sorted().dropLast(asidesKept) {
            for suffix in [""] + companions { try state.remove(aside + suffix) }
        }
    }
}

extension Folder {
    /// Does file work for the ledger, with its failures as the ledger's.
    borrowing func withLedgerErrors<Result>(
        _ body: (borrowing Folder) throws(SystemError) -> Result
    ) throws(LedgerError) -> Result {
        do throws(SystemError) {
            return try body(self)
        } catch {
            throw LedgerError(error, path: LedgerFile.path(in: self))
        }
    }
}

extension SystemError {
    /// This user, or anybody, may not do it.
    var isAboutPermission: Bool { code == EACCES || code == EPERM || code == EROFS }
}
