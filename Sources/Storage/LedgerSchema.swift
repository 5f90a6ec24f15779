/// The ledger's tables: `entry` (one row a key), `partial` (one row an unfinished file), `origin` (who asked for
/// patience), `run` (the last runs), `publication` (groups of files that are getting their names), `manifest` and
/// `asked` (what was mirrored, and which keys each asks for), `leaving` (keys that nobody asks for any more), `pause`
/// (who is not to be asked for), `counter` (sums over all runs) and `arrival` (the last entry that there was when a run
/// began).
///
/// Numbers that a server chose are stored clamped to 64 bits with sign; inode and fingerprint bit for bit. A copy
/// is there when its size is not NULL, a failure when `failed_since` is not.
enum LedgerSchema {
    /// `PRAGMA application_id`, "SyAg": file(1) and we can tell the ledger from any other database.
    static let applicationIdentifier: Int64 = 0x5379_4167
    /// The newest `PRAGMA user_version` that we know.
    static var version: Int64 { Int64(migrations.count) }
    /// Rows kept in `run`.
    static let runsKept: Int64 = 200

    /// The migration at index n leads from version n to n + 1. Only ever appended to.
    ///
    /// `entry` keeps its rows in the order in which they came, which is about the manifest's, and only its index in
    /// the order of the keys: keys are spread evenly, and with the rows among them each transaction would write as
    /// many pages as it has entries. `entry_state` alone answers the counts of `status`. `entry_checked` grows at its
    /// end, since what is published has just been checked. The keys of a manifest lie in blocks, in its own order:
    /// a row a key would cost more than the entry itself.
    static let migrations = [
        """
        CREATE TABLE entry (
            id INTEGER PRIMARY KEY,
            key BLOB NOT NULL UNIQUE,
            url TEXT NOT NULL,
            ext TEXT NOT NULL,
            state INTEGER NOT NULL,
            size INTEGER, modified INTEGER, inode INTEGER,
            etag TEXT, last_modified TEXT, date INTEGER,
            digest_type TEXT, digest BLOB,
            received INTEGER, fresh_until INTEGER, immutable INTEGER, media_type TEXT,
            failed_since INTEGER, last_try INTEGER, tries INTEGER, not_before INTEGER,
            permanent INTEGER, reason TEXT, message TEXT, fingerprint INTEGER,
            gone INTEGER NOT NULL,
            remark TEXT,
            restarts INTEGER NOT NULL,
            checked INTEGER,
            trust INTEGER, max_age INTEGER
        ) STRICT;
        CREATE INDEX entry_state ON entry (state, size);
        CREATE INDEX entry_checked ON entry (checked) WHERE checked IS NOT NULL;
        CREATE TABLE partial (
            name TEXT NOT NULL PRIMARY KEY,
            key BLOB NOT NULL,
            source TEXT NOT NULL,
            etag TEXT, last_modified TEXT, date INTEGER,
            content_coding TEXT NOT NULL,
            media_type TEXT,
            total INTEGER,
            written INTEGER NOT NULL,
            durable INTEGER NOT NULL,
            boot TEXT,
            mount TEXT,
            answers INTEGER NOT NULL,
            digest_state BLOB,
            server_digest_type TEXT, server_digest BLOB
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX partial_key ON partial (key);
        CREATE TABLE publication (
            id INTEGER PRIMARY KEY,
            names TEXT NOT NULL
        ) STRICT;
        CREATE TABLE origin (
            origin TEXT NOT NULL PRIMARY KEY,
            not_before INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE run (
            id INTEGER PRIMARY KEY,
            started INTEGER NOT NULL, ended INTEGER, exit_code INTEGER,
            entries INTEGER NOT NULL, current INTEGER NOT NULL, failed INTEGER NOT NULL, pending INTEGER NOT NULL,
            received INTEGER NOT NULL,
            paused INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE manifest (
            id INTEGER PRIMARY KEY,
            path TEXT NOT NULL UNIQUE,
            synced INTEGER NOT NULL,
            flaws INTEGER,
            entries INTEGER NOT NULL, high INTEGER NOT NULL, low INTEGER NOT NULL,
            list INTEGER
        ) STRICT;
        CREATE TABLE asked (
            list INTEGER NOT NULL,
            part INTEGER NOT NULL,
            keys BLOB NOT NULL,
            PRIMARY KEY (list, part)
        ) STRICT;
        CREATE TABLE leaving (
            key BLOB NOT NULL PRIMARY KEY,
            since INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE pause (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            key BLOB UNIQUE,
            pattern TEXT UNIQUE,
            subject TEXT NOT NULL,
            paused INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE counter (
            name TEXT NOT NULL PRIMARY KEY,
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE arrival (
            run INTEGER PRIMARY KEY,
            started INTEGER NOT NULL,
            last_entry INTEGER NOT NULL
        ) STRICT;
        """
    ]

    private static let copyColumns =
        "size, modified, inode, etag, last_modified, date, digest_type, digest, received, fresh_until, immutable, "
        + "media_type"

    /// In the order in which `EntryRow` is bound and read.
    static let entryColumns =
        "key, url, ext, \(copyColumns), failed_since, last_try, tries, not_before, permanent, reason, message, "
        + "fingerprint, gone, remark, restarts, checked, trust, max_age"

    /// In the order in which `PartialRow` is bound and read.
    static let partialColumns =
        "name, key, source, etag, last_modified, date, content_coding, media_type, total, written, durable, boot, "
        + "mount, answers, digest_state, server_digest_type, server_digest"

    /// In the order in which `RunRow` is read.
    static let runColumns =
        "id, started, ended, exit_code, entries, current, failed, pending, received, paused"

    /// A statement that puts a row in, or changes the one that has the first column's value. Unlike `REPLACE` it
    /// leaves the row where it is, and touches an index only when its columns change.
    static func upsert(_ table: String, _ columns: String) -> String {
        let names = columns.split(separator: ", ")
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let changes = names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        return """
            INSERT INTO \(table) (\(columns)) VALUES (\(marks))
            ON CONFLICT (\(names.first ?? "")) DO UPDATE SET \(changes)
            """
    }

    /// A statement that puts a row in unless there is one with its primary key.
    static func insert(_ table: String, _ columns: String) -> String {
        let marks = columns.split(separator: ",").map { _ in "?" }.joined(separator: ", ")
        return "INSERT OR IGNORE INTO \(table) (\(columns)) VALUES (\(marks))"
    }

    /// Brings an open database from its version to the newest, in one transaction.
    static func migrate(_ database: borrowing Database, from version: Int64) throws(DatabaseError) {
        let steps = migrations.dropFirst(Int(clamping: max(version, 0)))
        guard !steps.isEmpty else { return }
        let sql =
            ["BEGIN IMMEDIATE;"] + steps + [
                "PRAGMA application_id = \(applicationIdentifier);",
                "PRAGMA user_version = \(self.version);",
                "COMMIT;",
            ]
        do {
            try database.execute(sql.joined(separator: "\n"), "making its tables")
        } catch {
            database.rollback()
            throw error
        }
    }
}
