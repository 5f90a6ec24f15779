internal import CSQLite

/// A compiled statement with one owner; it is finalized when the owner goes.
///
/// Parameters and columns are taken in order: each `bind` fills the next parameter, each read takes the next
/// column of the row that `step` reached.
package struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let connection: OpaquePointer
    private let operation: String
    private let path: String
    private var parameter: Int32 = 0
    private var column: Int32 = 0

    init(owning handle: OpaquePointer, connection: OpaquePointer, operation: String, path: String) {
        self.handle = handle
        self.connection = connection
        self.operation = operation
        self.path = path
    }

    deinit { sqlite3_finalize(handle) }

    // MARK: Running

    /// Goes to the next row; false at the end. An error resets the statement.
    package mutating func step() throws(DatabaseError) -> Bool {
        column = 0
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw failure(code)
        }
    }

    /// Makes it ready to be bound and run again. Must follow each use, else the connection stays in a transaction.
    package mutating func reset() {
        // Repeats the code of a failed step, which was reported there.
        sqlite3_reset(handle)
        parameter = 0
        column = 0
    }

    /// Runs it to its end and makes it ready again.
    package mutating func run() throws(DatabaseError) {
        while try step() {}
        reset()
    }

    private mutating func failure(_ code: Int32) -> DatabaseError {
        let error = DatabaseError(code, connection: connection, operation: operation, path: path)
        reset()
        return error
    }

    // MARK: Parameters

    package mutating func bind(_ value: Int64?) throws(DatabaseError) {
        parameter += 1
        if let value {
            try check(sqlite3_bind_int64(handle, parameter, value))
        } else {
            try check(sqlite3_bind_null(handle, parameter))
        }
    }

    package mutating func bind(_ value: String?) throws(DatabaseError) {
        parameter += 1
        guard var value else { return try check(sqlite3_bind_null(handle, parameter)) }
        // A null pointer would bind NULL.
        let code = value.withUTF8 { text in
            text.isEmpty
                ? sqlite3_bind_text(handle, parameter, "", 0, copied)
                : text.withMemoryRebound(to: CChar.self) {
                    sqlite3_bind_text64(
                        handle, parameter, $0.baseAddress, UInt64($0.count), copied, UInt8(SQLITE_UTF8))
                }
        }
        try check(code)
    }

    package mutating func bind(_ value: [UInt8]?) throws(DatabaseError) {
        parameter += 1
        guard let value else { return try check(sqlite3_bind_null(handle, parameter)) }
        // A null pointer would bind NULL.
        let code =
            value.isEmpty
            ? sqlite3_bind_zeroblob(handle, parameter, 0)
            : value.withUnsafeBytes {
                sqlite3_bind_blob64(handle, parameter, $0.baseAddress, UInt64($0.count), copied)
            }
        try check(code)
    }

    /// Binds the key as its 16 bytes, so that the database sorts as `Key` does.
    package mutating func bind(_ key: Key) throws(DatabaseError) {
        parameter += 1
        let halves = (key.high.bigEndian, key.low.bigEndian)
        let code = withUnsafeBytes(of: halves) {
            sqlite3_bind_blob64(handle, parameter, $0.baseAddress, 16, copied)
        }
        try check(code)
    }

    private mutating func check(_ code: Int32) throws(DatabaseError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    // MARK: Columns

    /// 0 for NULL.
    package mutating func integer() -> Int64 {
        defer { column += 1 }
        return sqlite3_column_int64(handle, column)
    }

    package mutating func optionalInteger() -> Int64? {
        defer { column += 1 }
        return isNull ? nil : sqlite3_column_int64(handle, column)
    }

    /// 0 for NULL.
    package mutating func real() -> Double {
        defer { column += 1 }
        return sqlite3_column_double(handle, column)
    }

    /// Empty for NULL.
    package mutating func text() -> String {
        defer { column += 1 }
        guard let bytes = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    package mutating func optionalText() -> String? {
        guard isNull else { return text() }
        column += 1
        return nil
    }

    package mutating func optionalBytes() -> [UInt8]? {
        defer { column += 1 }
        if isNull { return nil }
        // SQLite gives a null pointer for a blob of no bytes.
        guard let bytes = sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(sqlite3_column_bytes(handle, column))
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// nil when the column does not hold 16 bytes.
    package mutating func key() -> Key? {
        defer { column += 1 }
        guard let bytes = sqlite3_column_blob(handle, column), sqlite3_column_bytes(handle, column) == 16
        else {
            return nil
        }
        return Key(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    /// Leaves columns out.
    package mutating func skip(_ count: Int32) { column += count }

    /// Whether the next column is NULL; does not take it.
    package var isNull: Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
}

/// `SQLITE_TRANSIENT`: SQLite copies what is bound, into memory that a bound parameter keeps for the next time.
private var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
