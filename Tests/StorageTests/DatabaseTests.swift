import Foundation
import Storage
import Testing

@Suite("A SQLite connection")
struct DatabaseTests {
    private func databaseError(_ body: () throws -> Void) throws -> DatabaseError {
        try #require(#expect(throws: DatabaseError.self, performing: body))
    }

    private func makeDatabase(_ fixture: CacheFixture) throws -> String {
        let path = fixture.path + "/t.db"
        try fixture.write(Data(), to: path)
        let database = try Database(opening: path, .readWrite, patience: 0)
        try database.execute("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 'x')", "testing")
        return path
    }

    @Test("does not make a missing file", arguments: [Database.Access.readWrite, .readOnly, .immutable])
    func missing(access: Database.Access) throws {
        let fixture = try CacheFixture()
        let error = try databaseError {
            let database = try Database(opening: fixture.path + "/t.db", access, patience: 0)
            _ = try database.integer("PRAGMA user_version", "testing")
        }
        #expect(error.isUnopenable)
        #expect(error.path == fixture.path + "/t.db")
        #expect(try fixture.names(in: fixture.path) == [])
    }

    @Test("errors say what they are and what was done")
    func errors() throws {
        let fixture = try CacheFixture()
        let path = try makeDatabase(fixture)
        let reader = try Database(opening: path, .readOnly, patience: 0)
        let write = try databaseError { try reader.execute("DELETE FROM t", "emptying") }
        #expect(write.isReadOnly && write.operation == "emptying" && write.path == path)
        let wrong = try databaseError { _ = try reader.integer("SELECT c FROM t", "counting") }
        #expect(wrong.isSchemaMismatch && wrong.message.contains("no such column"))
        let writer = try Database(opening: path, .readWrite, patience: 0)
        try writer.execute("BEGIN EXCLUSIVE", "testing")
        let busy = try databaseError { _ = try reader.integer("SELECT a FROM t", "testing") }
        #expect(busy.isBusy && !busy.isFull && !busy.isCorrupt && !busy.isIO)
        let text = fixture.path + "/text.db"
        try fixture.write(Data(String(repeating: "text ", count: 500).utf8), to: text)
        let not = try databaseError {
            let database = try Database(opening: text, .readOnly, patience: 0)
            _ = try database.integer("PRAGMA user_version", "testing")
        }
        #expect(not.isNotADatabase)
    }

    @Test("a failed step leaves the statement ready for the next use")
    func failedStep() throws {
        let fixture = try CacheFixture()
        let path = try makeDatabase(fixture)
        let database = try Database(opening: path, .readWrite, patience: 0)
        try database.execute("CREATE TABLE u (k INTEGER PRIMARY KEY)", "testing")
        var insert = try database.prepare("INSERT INTO u VALUES (?)", "inserting")
        for (value, fits) in [(Int64(1), true), (1, false), (2, true)] {
            do {
                try insert.bind(value)
                try insert.run()
                #expect(fits)
            } catch {
                #expect(!fits)
            }
        }
        #expect(try database.integer("SELECT sum(k) FROM u", "testing") == 3)
        #expect((database.isIdle) == true)
    }

    @Test("a rollback takes the transaction back, and is fine without one")
    func rollback() throws {
        let fixture = try CacheFixture()
        let path = try makeDatabase(fixture)
        let database = try Database(opening: path, .readWrite, patience: 0)
        try database.execute("BEGIN; DELETE FROM t", "testing")
        #expect((database.isIdle) == false)
        database.rollback()
        database.rollback()
        #expect((database.isIdle) == true)
        #expect(try database.integer("SELECT count(*) FROM t", "testing") == 1)
    }

    @Test("values come back as bound, empty ones are not NULL")
    func values() throws {
        let fixture = try CacheFixture()
        let path = try makeDatabase(fixture)
        let database = try Database(opening: path, .readWrite, patience: 0)
        var echo = try database.prepare("SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?", "testing")
        let key = Key(high: 0x0102_0304_0506_0708, low: .max)
        for _ in 0..<2 {
            try echo.bind(Int64.min)
            try echo.bind(Int64?.none)
            try echo.bind("a\u{0}ü")
            try echo.bind("")
            try echo.bind(String?.none)
            try echo.bind([UInt8]([0, 1, 255]))
            try echo.bind([UInt8]())
            try echo.bind([UInt8]?.none)
            try echo.bind(key)
            #expect(try echo.step())
            #expect(echo.integer() == .min)
            #expect(echo.optionalInteger() == nil)
            #expect(echo.text() == "a\u{0}ü")
            #expect(echo.optionalText() == "")
            #expect(echo.optionalText() == nil)
            #expect(echo.optionalBytes() == [0, 1, 255])
            #expect(echo.optionalBytes() == [])
            #expect(echo.optionalBytes() == nil)
            #expect(echo.key() == key)
            #expect(try !echo.step())
            echo.reset()
        }
    }

    @Test("what is no key is none", arguments: ["NULL", "x''", "x'00'", "zeroblob(17)", "1"])
    func notAKey(sql: String) throws {
        let fixture = try CacheFixture()
        let database = try Database(opening: try makeDatabase(fixture), .readOnly, patience: 0)
        var select = try database.prepare("SELECT \(sql)", "testing")
        #expect(try select.step())
        #expect(select.key() == nil)
    }

    @Test("keys sort in the database as they do in memory")
    func keyOrder() throws {
        let fixture = try CacheFixture()
        let database = try Database(opening: try makeDatabase(fixture), .readWrite, patience: 0)
        let keys = [
            Key(high: 0, low: 0), Key(high: 0, low: .max), Key(high: 1, low: 0), Key(high: 1 << 63, low: 1),
            Key(high: .max, low: .max),
        ]
        try database.execute("CREATE TABLE k (key BLOB)", "testing")
        var insert = try database.prepare("INSERT INTO k VALUES (?)", "testing")
        for key in keys.reversed() {
            try insert.bind(key)
            try insert.run()
        }
        var select = try database.prepare("SELECT key FROM k ORDER BY key", "testing")
        var read: [Key?] = []
        while try select.step() { read.append(select.key()) }
        #expect(read == keys)
        #expect(try database.text("SELECT lower(hex(max(key))) FROM k", "testing") == keys.last?.hex)
    }

    @Test("a statement outlives its connection's owner")
    func statementOutlivesConnection() throws {
        let fixture = try CacheFixture()
        let path = try makeDatabase(fixture)
        func select() throws -> Statement {
            try Database(opening: path, .readOnly, patience: 0).prepare("SELECT a FROM t", "testing")
        }
        var statement = try select()
        #expect(try statement.step())
        #expect(statement.integer() == 1)
    }
}
