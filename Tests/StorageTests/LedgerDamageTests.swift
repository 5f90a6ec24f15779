import Foundation
import Posix
import Storage
import Testing

@Suite("A ledger that cannot be used")
struct LedgerDamageTests {
    /// What happened to the file of a ledger with entries.
    enum Damage: String, CaseIterable {
        case emptied, zeroed, text, cutInHalf, headOverwritten, otherDatabase, otherTables, noVersion,
            condemned
        case middleOverwrittenAfterCrash
    }

    private func apply(_ damage: Damage, _ fixture: CacheFixture, _ cache: CacheFolder) throws {
        let path = fixture.ledgerPath
        let whole = try fixture.bytes(path)
        func execute(_ sql: String) throws {
            let database = try Database(opening: path, .readWrite, patience: 1000)
            try database.execute(sql, "testing")
        }
        switch damage {
        case .emptied: try fixture.write(Data(), to: path)
        case .zeroed: try fixture.write(Data(count: whole.count), to: path)
        case .text: try fixture.write(Data("not a database, but long enough to be one\n".utf8), to: path)
        case .cutInHalf:
            try fixture.write(whole.prefix(whole.count / 2), to: path)
            try pretendCrash(fixture)
        case .headOverwritten:
            try fixture.write(Data(repeating: 0xAA, count: 100) + whole.dropFirst(100), to: path)
        case .otherDatabase: try execute("PRAGMA application_id = 7")
        case .otherTables: try execute("DROP TABLE run")
        case .noVersion: try execute("PRAGMA user_version = 0")
        case .condemned: try LedgerWriter.condemn(in: cache.state)
        case .middleOverwrittenAfterCrash:
            var bytes = whole
            for offset in stride(from: 4096, to: bytes.count, by: 4096) {
                bytes.replaceSubrange(offset..<offset + 64, with: repeatElement(0x5A, count: 64))
            }
            try fixture.write(bytes, to: path)
            try pretendCrash(fixture)
        }
    }

    /// A log without a valid frame: what a kill leaves when nothing was committed since the last checkpoint.
    private func pretendCrash(_ fixture: CacheFixture) throws {
        try fixture.write(Data(count: 32), to: fixture.ledgerPath + "-wal")
    }

    @Test("damage is set aside, and the next ledger works", arguments: Damage.allCases)
    func damage(damage: Damage) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...500)
        try apply(damage, fixture, cache)
        let damaged = try fixture.bytes(fixture.ledgerPath)

        let opening = try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(7))
            }
            return writer.opening
        }
        guard case .rebuilt(let aside) = opening else {
            Issue.record("opened as \(opening)")
            return
        }
        #expect(aside.hasPrefix("state.db.damaged-"))
        #expect(try fixture.bytes(fixture.statePath + "/" + aside) == damaged)
        try withWriter(of: cache) { #expect($0.opening == .existing) }
        var reader = try openReader(of: cache)
        #expect(try reader.counts().map(\.count) == [0, 1, 0, 0])
    }

    @Test(
        "a reader says so and changes nothing",
        arguments: [
            Damage.emptied, .zeroed, .text, .headOverwritten, .otherDatabase, .otherTables, .noVersion,
        ])
    func readerOfDamage(damage: Damage) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...500)
        try apply(damage, fixture, cache)
        let before = try fixture.bytes(fixture.ledgerPath)
        let error = try ledgerFailure { _ = try LedgerReader.open(in: cache.state) }
        #expect(error.kind == .damaged, "\(error)")
        #expect(error.path == fixture.ledgerPath)
        #expect(try fixture.bytes(fixture.ledgerPath) == before)
    }

    @Test("damage that shows only in use is told, and the next open starts afresh")
    func damageInUse() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...500)
        var bytes = try fixture.bytes(fixture.ledgerPath)
        for offset in stride(from: 4096, to: bytes.count, by: 4096) {
            bytes.replaceSubrange(offset..<offset + 64, with: repeatElement(0x5A, count: 64))
        }
        try fixture.write(bytes, to: fixture.ledgerPath)
        let error = try ledgerFailure {
            var writer = try LedgerWriter.open(in: cache.state)
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                for number in UInt64(1)...500 { try ledger.save(Sample.entry(number)) }
            }
        }
        #expect(error.kind == .damaged, "\(error)")
        try LedgerWriter.condemn(in: cache.state)
        try withWriter(of: cache) { writer in
            guard case .rebuilt = writer.opening else {
                Issue.record("opened as \(writer.opening)")
                return
            }
        }
        try withWriter(of: cache) { #expect($0.opening == .existing) }
    }

    @Test("only the newest few damaged ledgers are kept")
    func asidesAreBounded() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        for _ in 0..<6 {
            try fixture.write(Data(), to: fixture.ledgerPath)
            _ = try withWriter(of: cache) { $0.opening }
        }
        let asides = try fixture.names(in: fixture.statePath).filter {
            $0.hasPrefix("state.db.damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        #expect(asides.count == 3)
    }

    @Test("a newer ledger is refused untouched", arguments: [true, false])
    func newer(isInLog: Bool) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...3)
        var crashed: CacheFixture?
        do {
            let database = try Database(opening: fixture.ledgerPath, .readWrite, patience: 1000)
            try database.execute("PRAGMA user_version = 2", "testing")
            if isInLog { crashed = try fixture.crashCopy() }
        }
        let subject = crashed ?? fixture
        let other = try CacheFolder.open(path: subject.cachePath, create: false)
        let files = [subject.ledgerPath, subject.ledgerPath + "-wal"]
        func contents() throws -> [Data] {
            // A log that is missing says as much as an empty one.
            try files.map { FileManager.default.fileExists(atPath: $0) ? try subject.bytes($0) : Data() }
        }
        let before = try contents()
        for _ in 0..<2 {
            #expect(try ledgerFailure { _ = try LedgerWriter.open(in: other.state) }.kind == .newer)
            #expect(try ledgerFailure { _ = try LedgerReader.open(in: other.state) }.kind == .newer)
        }
        #expect(try contents() == before)
        #expect(try !subject.names(in: subject.statePath).contains { $0.hasPrefix("state.db.") })
    }

    enum Squatter: CaseIterable { case folder, link, fifo }

    @Test("what is no file at its name is refused and left", arguments: Squatter.allCases)
    func notAFile(squatter: Squatter) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        switch squatter {
        case .folder: try #require(mkdir(fixture.ledgerPath, 0o700) == 0)
        case .link: try #require(symlink("/etc/hostname", fixture.ledgerPath) == 0)
        case .fifo: try #require(mkfifo(fixture.ledgerPath, 0o600) == 0)
        }
        let before = try fixture.names(in: fixture.statePath)
        #expect(try ledgerFailure { _ = try LedgerWriter.open(in: cache.state) }.kind == .unusable)
        #expect(try ledgerFailure { _ = try LedgerReader.open(in: cache.state) }.kind == .unusable)
        #expect(try fixture.names(in: fixture.statePath) == before)
    }

    @Test("a ledger that another program keeps to itself is busy after the wait")
    func lockedByAnother() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...3)
        do {
            let other = try Database(opening: fixture.ledgerPath, .readWrite, patience: 1000)
            try other.execute(
                "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM run; COMMIT", "testing")
            #expect(
                try ledgerFailure { _ = try LedgerWriter.open(in: cache.state, patience: 20) }.kind == .busy)
            #expect(
                try ledgerFailure { _ = try LedgerReader.open(in: cache.state, patience: 20) }.kind == .busy)
        }
        try withWriter(of: cache) { #expect($0.opening == .existing) }
    }

    @Test("a transaction waits for another program's, then says busy; the writer goes on afterwards")
    func lockedInUse() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache, patience: 20) { writer in
            do {
                let other = try Database(opening: fixture.ledgerPath, .readWrite, patience: 1000)
                try other.execute("BEGIN IMMEDIATE", "testing")
                let error = try ledgerFailure {
                    try writer.transaction(durable: false) { ledger throws(LedgerError) in
                        try ledger.save(Sample.entry(1))
                    }
                }
                #expect(error.kind == .busy)
            }
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(1))
            }
        }
    }

    @Test("a ledger on a read-only file system cannot be written", .enabled(if: CacheFixture.mayMount))
    func readOnlyFileSystem() throws {
        let fixture = try CacheFixture(mountedWithKibibytes: 4096)
        do {
            let cache = try fixture.openCache()
            try fillLedger(of: cache, entries: 1...3)
        }
        try fixture.remountReadOnly()
        let refusal = #expect(throws: CacheError.self) {
            _ = try CacheFolder.open(path: fixture.cachePath, create: true)
        }
        #expect(refusal?.kind == .readOnly)
        let cache = try CacheFolder.open(path: fixture.cachePath, create: false)
        #expect(try ledgerFailure { _ = try LedgerWriter.open(in: cache.state) }.kind == .unusable)
    }
}
