import Foundation
import Posix
import Storage
import Testing

@Suite("The ledger's reader")
struct LedgerReaderTests {
    @Test("finds nothing where there is no cache, no ledger folder, no ledger")
    func missing() throws {
        let fixture = try CacheFixture()
        func isMissing(_ path: String) throws -> Bool {
            switch try LedgerReader.open(cache: path) {
            case nil: true
            case .some: false
            }
        }
        #expect(try isMissing(fixture.cachePath))
        #expect(try !fixture.names(in: fixture.path).contains("cache"))
        try FileManager.default.createDirectory(atPath: fixture.cachePath, withIntermediateDirectories: false)
        #expect(try isMissing(fixture.cachePath))
        #expect(try fixture.names(in: fixture.cachePath) == [])
        let cache = try fixture.openCache()
        #expect(try isMissing(fixture.cachePath))
        #expect(try fixture.names(in: fixture.statePath) == ["partial"])
        try fillLedger(of: cache, entries: 1...1)
        #expect(try !isMissing(fixture.cachePath))
    }

    @Test("sees what is committed while the writer is in a transaction")
    func besideWriter() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(1))
            }
            var reader = try openReader(of: cache)
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(2))
                #expect(try reader.counts().map(\.count) == [0, 1, 0, 0])
                #expect(try reader.entry(for: Sample.key(2)) == nil)
            }
            #expect(try reader.counts().map(\.count) == [0, 2, 0, 0])
        }
    }

    @Test("sees one state in a snapshot, whatever is committed meanwhile, and the newest afterwards")
    func snapshot() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            var reader = try openReader(of: cache)
            try reader.snapshot { reader throws(LedgerError) in
                #expect(try reader.counts().map(\.count) == [0, 0, 0, 0])
                try writer.transaction(durable: false) { ledger throws(LedgerError) in
                    try ledger.save(Sample.entry(1))
                }
                #expect(try reader.counts().map(\.count) == [0, 0, 0, 0])
                #expect(try reader.entry(for: Sample.key(1)) == nil)
            }
            #expect(try reader.counts().map(\.count) == [0, 1, 0, 0])
        }
    }

    @Test("a snapshot whose body throws ends, and the reader goes on")
    func snapshotThatThrows() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...2)
        var reader = try openReader(of: cache)
        let stop = LedgerError(.failed, path: "", reason: "stop")
        #expect(throws: stop) { try reader.snapshot { _ throws(LedgerError) in throw stop } }
        #expect(throws: stop) { try reader.forEachEntry { _ throws(LedgerError) in throw stop } }
        #expect(try reader.snapshot { reader throws(LedgerError) in try reader.counts().first?.count } == 2)
    }

    @Test("walks the entries in the order in which they first came, and finds many at once in any order")
    func order() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...300)
        // Saved again, which does not move them.
        try fillLedger(of: cache, entries: 100...200)
        var reader = try openReader(of: cache)
        var walked: [Key] = []
        try reader.forEachEntry { row throws(LedgerError) in walked.append(row.key) }
        #expect(walked == (UInt64(1)...300).map(Sample.key))
        let asked = (UInt64(290)...310).reversed().map(Sample.key)
        let found = try reader.entries(for: asked)
        #expect(found.map { $0?.key } == asked.map { walked.contains($0) ? $0 : nil })
    }

    /// How the cache was left before it is read.
    enum Left: String, CaseIterable {
        case closed, dropped, crashed, crashedWithoutSharedMemory, writing, withoutLog
    }

    @Test(
        "reads a cache however it was left, and changes neither the database nor its log",
        arguments: Left.allCases)
    func neverWrites(left: Left) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        var writer = try LedgerWriter.open(in: cache.state)
        try writer.transaction(durable: false) { ledger throws(LedgerError) in
            for number in UInt64(1)...20 { try ledger.save(Sample.entry(number)) }
        }
        var subject = fixture
        switch left {
        case .closed: try writer.close()
        case .dropped: _ = consume writer
        case .writing: break
        case .crashed, .crashedWithoutSharedMemory:
            subject = try fixture.crashCopy()
            if left == .crashedWithoutSharedMemory {
                try FileManager.default.removeItem(atPath: subject.ledgerPath + "-shm")
            }
        case .withoutLog:
            try writer.close()
            for suffix in ["-wal", "-shm"] {
                try FileManager.default.removeItem(atPath: fixture.ledgerPath + suffix)
            }
        }
        func contents() throws -> [Data] {
            let log = subject.ledgerPath + "-wal"
            return [
                try subject.bytes(subject.ledgerPath),
                FileManager.default.fileExists(atPath: log) ? try subject.bytes(log) : Data(),
            ]
        }
        let before = try contents()
        for _ in 0..<2 {
            var reader = try openReader(ofCacheAt: subject.cachePath)
            #expect(try reader.counts().map(\.count) == [0, 20, 0, 0])
            #expect(try reader.allPartials() == [])
            #expect(try reader.lastRuns(1) == [])
        }
        #expect(try contents() == before)
        let known = Set(["partial", "state.db", "state.db-shm", "state.db-wal"])
        #expect(try Set(subject.names(in: subject.statePath)).subtracting(known) == [])
    }

    @Test(
        "reads where nothing may be written", .enabled(if: CacheFixture.mayMount),
        arguments: [Left.closed, .crashed, .withoutLog, .crashedWithoutSharedMemory])
    func readOnlyFileSystem(left: Left) throws {
        let source = try CacheFixture()
        let fixture = try CacheFixture(mountedWithKibibytes: 4096)
        do {
            let cache = try source.openCache()
            try fillLedger(of: cache, entries: 1...20)
            var writer = try LedgerWriter.open(in: cache.state)
            if left == .crashed || left == .crashedWithoutSharedMemory {
                try writer.transaction(durable: false) { ledger throws(LedgerError) in
                    try ledger.save(Sample.entry(21))
                }
                try FileManager.default.copyItem(atPath: source.cachePath, toPath: fixture.cachePath)
            } else {
                try writer.close()
                try FileManager.default.copyItem(atPath: source.cachePath, toPath: fixture.cachePath)
            }
        }
        if left == .withoutLog { try FileManager.default.removeItem(atPath: fixture.ledgerPath + "-wal") }
        if left == .withoutLog || left == .crashedWithoutSharedMemory {
            try FileManager.default.removeItem(atPath: fixture.ledgerPath + "-shm")
        }
        try fixture.remountReadOnly()
        var reader = try openReader(ofCacheAt: fixture.cachePath)
        // Without shared memory the log cannot be read there: what was checkpointed is what is seen.
        let count =
            switch left {
            case .closed, .dropped, .writing, .withoutLog, .crashedWithoutSharedMemory: 20
            case .crashed: 21
            }
        #expect(try reader.counts().map(\.count).reduce(0, +) == count)
    }

    @Test(
        "a path that looks like a URI, or holds its signs, is a path",
        arguments: ["file:x?y#z", "a%20b", "ü & 'q'"])
    func strangePaths(name: String) throws {
        let fixture = try CacheFixture()
        let cache = try CacheFolder.open(path: fixture.path + "/" + name, create: true)
        try fillLedger(of: cache, entries: 1...5)
        let path = cache.path + "/.syncagent/state.db"
        #expect(FileManager.default.fileExists(atPath: path))
        for access in [Database.Access.readWrite, .readOnly, .immutable] {
            let database = try Database(opening: path, access, patience: 100)
            #expect(try database.integer("SELECT count(*) FROM entry", "testing") == 5)
        }
    }
}
