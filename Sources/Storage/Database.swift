internal import CSQLite
internal import CLinux

/// What SQLite said when a call failed.
package struct DatabaseError: Error, Hashable, Sendable {
    /// The extended result code (sqlite.org/rescode.html).
    package let code: Int32
    /// errno of the system call beneath it; 0 when there was none.
    package let systemCode: Int32
    /// SQLite's own words.
    package let message: String
    /// What was done, to be read after "while": `saving an entry`.
    package let operation: String
    /// The database file.
    package let path: String

    private var primary: Int32 { code & 0xFF }

    /// No room. SQLite says `SQLITE_FULL` only for ENOSPC at a write of the database or its WAL; quotas and the
    /// shared memory file come as I/O errors.
    package var isFull: Bool {
        primary == SQLITE_FULL || systemCode == ENOSPC || systemCode == EDQUOT || systemCode == EFBIG
    }
    /// The file is a database with nonsense in it.
    package var isCorrupt: Bool { primary == SQLITE_CORRUPT }
    /// The file is no database at all.
    package var isNotADatabase: Bool { primary == SQLITE_NOTADB }
    /// Another connection holds the lock.
    package var isBusy: Bool { primary == SQLITE_BUSY || primary == SQLITE_LOCKED }
    /// The file or its folder cannot be written.
    package var isReadOnly: Bool { primary == SQLITE_READONLY }
    /// The file, or a file beside it, cannot be opened.
    package var isUnopenable: Bool {
        primary == SQLITE_CANTOPEN || primary == SQLITE_PERM || primary == SQLITE_AUTH
    }
    /// A system call failed.
    package var isIO: Bool { primary == SQLITE_IOERR }
    /// The statement does not fit the schema.
    package var isSchemaMismatch: Bool { primary == SQLITE_ERROR || primary == SQLITE_SCHEMA }

    init(_ code: Int32, connection: OpaquePointer?, operation: String, path: String) {
        self.code = code
        self.operation = operation
        self.path = path
        let primary = code & 0xFF
        systemCode =
            primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL
            ? sqlite3_system_errno(connection) : 0
        message = String(cString: connection == nil ? sqlite3_errstr(code) : sqlite3_errmsg(connection))
    }
}

/// A connection to a SQLite file with one owner; it is closed when the owner goes.
///
/// It is opened in SQLite's multi-thread mode (sqlite.org/threadsafe.html): any thread may use it, one at a time.
package struct Database: ~Copyable {
    /// How a file is opened. Nothing here makes a missing file.
    package enum Access: Sendable {
        case readWrite
        /// Beside the database only the shared memory file may be made or mapped.
        case readOnly
        /// Without locks and without the WAL: for a folder in which nothing can be made.
        case immutable
    }

    private let handle: OpaquePointer
    /// The file.
    package let path: String

    /// Opens an existing file. Statements wait at most `patience` milliseconds for another connection's lock.
    package init(opening path: String, _ access: Access, patience: Int32) throws(DatabaseError) {
        let flags: Int32
        let name: String
        // SQLite takes a name that begins with `file:` for a URI.
        let plain = path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
        switch access {
        case .readWrite: (flags, name) = (SQLITE_OPEN_READWRITE, plain)
        case .readOnly: (flags, name) = (SQLITE_OPEN_READONLY, plain)
        case .immutable:
            (flags, name) = (
                SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, "file:" + percentEncoded(plain) + "?immutable=1"
            )
        }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let opened else {
            let error = DatabaseError(code, connection: opened, operation: "opening it", path: path)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        self.path = path
        sqlite3_busy_timeout(handle, patience)
    }

    deinit {
        // Lives on as a zombie until the last statement is finalized, whatever order the owner's fields go in.
        sqlite3_close_v2(handle)
    }

    /// Whether SQLite fell back to reading only, as it does when the file cannot be opened to write.
    package var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// Whether no transaction is open.
    package var isIdle: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// Changes how long statements wait for another connection's lock, in milliseconds.
    package borrowing func setPatience(_ milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

    /// Keeps `-wal` and `-shm` when the last connection closes (`SQLITE_FCNTL_PERSIST_WAL`), so that a reader
    /// who may not write into the folder can open the database.
    package borrowing func keepLogFiles() {
        var yes: Int32 = 1
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &yes)
    }

    /// Runs statements that return nothing of interest.
    package borrowing func execute(_ sql: String, _ operation: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, operation) }
    }

    /// The first column of the first row; 0 when there is no row.
    package borrowing func integer(_ sql: String, _ operation: String) throws(DatabaseError) -> Int64 {
        var statement = try prepare(sql, operation)
        return try statement.step() ? statement.integer() : 0
    }

    /// The first column of the first row; empty when there is no row.
    package borrowing func text(_ sql: String, _ operation: String) throws(DatabaseError) -> String {
        var statement = try prepare(sql, operation)
        return try statement.step() ? statement.text() : ""
    }

    /// Compiles a statement that will be used often.
    package borrowing func prepare(_ sql: String, _ operation: String) throws(DatabaseError) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code, operation) }
        return Statement(owning: statement, connection: handle, operation: operation, path: path)
    }

    /// Gives up an open transaction, if there is one. A rollback that fails leaves nothing to undo: SQLite has
    /// rolled back already, or does when the connection closes.
    package borrowing func rollback() {
        if !isIdle { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    private borrowing func failure(_ code: Int32, _ operation: String) -> DatabaseError {
        DatabaseError(code, connection: handle, operation: operation, path: path)
    }
}

/// A path as the path of a `file:` URI (sqlite.org/uri.html).
private func percentEncoded(_ path: String) -> String {
    var encoded: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for byte in path.utf8 {
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#"):
            encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        default: encoded.append(byte)
        }
    }
    return String(decoding: encoded, as: UTF8.self)
}
