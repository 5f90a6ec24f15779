import Foundation
import Posix
import Storage
import Testing
import Wire

@Suite("The ledger's writer")
struct LedgerWriterTests {
    @Test("a missing ledger is made, private to its owner, and found again")
    func creates() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let mask = umask(0)
        defer { umask(mask) }
        try withWriter(of: cache) { writer in
            #expect(writer.opening == .created)
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(1))
            }
            for suffix in ["", "-wal", "-shm"] {
                #expect(try fixture.mode(fixture.ledgerPath + suffix) == 0o600)
            }
        }
        try withWriter(of: cache) { writer in #expect(writer.opening == .existing) }
        #expect(try !fixture.names(in: fixture.statePath).contains { $0.hasPrefix("state.db.") })
    }

    @Test("a log that outlived its database is not replayed into the new one")
    func orphanedLog() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(1))
            }
            let crashed = try fixture.crashCopy()
            try FileManager.default.removeItem(atPath: crashed.ledgerPath)
            let other = try crashed.openCache()
            try withWriter(of: other) { #expect($0.opening == .created) }
            var reader = try openReader(of: other)
            #expect(try reader.entry(for: Sample.key(1)) == nil)
        }
    }

    @Test(
        "a transaction whose body throws changes nothing, and the next one works", arguments: [true, false])
    func rollsBack(durable: Bool) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            let stop = LedgerError(.failed, path: "", reason: "stop")
            let error = try ledgerFailure {
                try writer.transaction(durable: durable) { ledger throws(LedgerError) in
                    try ledger.save(Sample.entry(1))
                    throw stop
                }
            }
            #expect(error == stop)
            try writer.transaction(durable: !durable) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(2))
            }
        }
        var reader = try openReader(of: cache)
        #expect(try reader.entry(for: Sample.key(1)) == nil)
        #expect(try reader.entry(for: Sample.key(2)) != nil)
    }

    @Test("after a kill inside a transaction the committed ones are there, the open one is not")
    func killInTransaction() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            for number in UInt64(1)...50 {
                try writer.transaction(durable: false) { ledger throws(LedgerError) in
                    try ledger.save(Sample.entry(number))
                }
            }
            var copied: CacheFixture?
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                for number in UInt64(51)...60 { try ledger.save(Sample.entry(number)) }
                do { copied = try fixture.crashCopy() } catch { Issue.record(error) }
            }
            let crashed = try #require(copied)
            let other = try crashed.openCache()
            try withWriter(of: other) { #expect($0.opening == .existing) }
            var reader = try openReader(of: other)
            #expect(try reader.counts().map(\.count) == [0, 50, 0, 0])
        }
    }

    @Test("a kill at any moment of the making is followed by a working ledger", arguments: 0..<3)
    func killWhileMaking(step: Int) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let drafts = ["", "half a database", String(repeating: "\0", count: 4096)]
        try fixture.write(Data(drafts[step].utf8), to: fixture.statePath + "/state.db.new")
        try fixture.write(Data("old log".utf8), to: fixture.statePath + "/state.db.new-wal")
        try withWriter(of: cache) { #expect($0.opening == .created) }
        #expect(try !fixture.names(in: fixture.statePath).contains { $0.hasPrefix("state.db.new") })
    }

    @Test("a proper close empties the log")
    func closeEmptiesLog() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...100)
        #expect(try fixture.bytes(fixture.ledgerPath + "-wal").isEmpty)
        // All of it is in the database alone.
        try FileManager.default.removeItem(atPath: fixture.ledgerPath + "-wal")
        try FileManager.default.removeItem(atPath: fixture.ledgerPath + "-shm")
        var reader = try openReader(of: cache)
        #expect(try reader.counts().map(\.count) == [100, 0, 0, 0])
    }

    @Test("progress changes its own partial only")
    func progress() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                for name in ["a", "b"] { try ledger.save(Sample.partial(1, name: name)) }
                try ledger.updateProgress(of: "a", written: 9, durable: 4, digestState: [1, 2])
                try ledger.updateProgress(of: "missing", written: 9, durable: 4, digestState: nil)
            }
        }
        var reader = try openReader(of: cache)
        let rows = try reader.partials(for: Sample.key(1))
        #expect(rows.map(\.name) == ["a", "b"])
        #expect(rows.map(\.written) == [9, 0])
        #expect(rows.map(\.durable) == [4, 0])
        #expect(rows.map(\.digestState) == [[1, 2], nil])
    }

    @Test("deleting an entry or a partial leaves the others, and each other, alone")
    func deletes() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                for number in UInt64(1)...2 {
                    try ledger.save(Sample.entry(number))
                    try ledger.save(Sample.partial(number, name: "p\(number)"))
                }
                try ledger.deleteEntry(Sample.key(1))
                try ledger.deletePartial("p2")
                try ledger.deleteEntry(Sample.key(3))
                try ledger.deletePartial("p3")
            }
        }
        var reader = try openReader(of: cache)
        #expect(
            try reader.entries(for: [Sample.key(1), Sample.key(2)]).map { $0?.key } == [nil, Sample.key(2)])
        #expect(try reader.allPartials().map(\.name) == ["p1"])
    }

    @Test("an entry that is introduced late takes nothing from what is known of it")
    func introduces() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(1, copy: Sample.copy()))
                for number in UInt64(1)...2 { try ledger.introduce(Sample.entry(number)) }
            }
        }
        var reader = try openReader(of: cache)
        #expect(try reader.entry(for: Sample.key(1))?.copy == Sample.copy())
        #expect(try reader.entry(for: Sample.key(2))?.state == .pending)
    }

    @Test("an origin's patience is kept per origin, replaced, and forgotten when it is over")
    func notBefore() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let first = Origin(scheme: .https, host: "a", port: 443)
        let second = Origin(scheme: .https, host: "a", port: 8443)
        var reader: LedgerReader
        var writer = try LedgerWriter.open(in: cache.state)
        try writer.transaction(durable: false) { ledger throws(LedgerError) in
            try ledger.setNotBefore(100, for: first)
            try ledger.setNotBefore(150, for: first)
            try ledger.setNotBefore(200, for: second)
        }
        reader = try openReader(of: cache)
        #expect(try reader.notBefore(of: first) == 150)
        #expect(try reader.notBefore(of: second) == 200)
        #expect(try reader.notBefore(of: Origin(scheme: .http, host: "a", port: 80)) == nil)
        try writer.transaction(durable: false) { ledger throws(LedgerError) in
            _ = try ledger.startRun(RunRow(identifier: 0, started: 150))
        }
        #expect(try reader.notBefore(of: first) == nil)
        #expect(try reader.notBefore(of: second) == 200)
        try writer.transaction(durable: false) { ledger throws(LedgerError) in
            try ledger.setNotBefore(nil, for: second)
        }
        #expect(try reader.notBefore(of: second) == nil)
    }

    @Test("a run is started, finished and read; only the last 200 are kept")
    func runs() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        var last = RunRow(identifier: 0, started: 0)
        try withWriter(of: cache) { writer in
            for number in Int64(1)...205 {
                last = RunRow(identifier: 0, started: number)
                last.identifier = try writer.transaction(durable: false) { ledger throws(LedgerError) in
                    try ledger.startRun(last)
                }
            }
            last.ended = 999
            last.exitCode = 75
            (last.entries, last.current, last.failed, last.pending, last.received) = (1, 2, 3, 4, 5)
            try writer.transaction(durable: false) { ledger throws(LedgerError) in try ledger.finishRun(last)
            }
        }
        var reader = try openReader(of: cache)
        let all = try reader.lastRuns(1000)
        #expect(all.count == 200)
        #expect(all.first == last)
        #expect(all.last?.started == 6)
        #expect(try reader.lastRuns(2).map(\.started) == [205, 204])
        #expect(try reader.lastRuns(-1) == [])
    }

    @Test(
        "a full disk is told as such, keeps what was committed, and is survived",
        .enabled(if: CacheFixture.mayMount))
    func fullDisk() throws {
        let fixture = try CacheFixture(mountedWithKibibytes: 1024)
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: true) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(1))
            }
            var long = Sample.entry(2)
            long.remark = String(repeating: "x", count: 2 << 20)
            let big = long
            let error = try ledgerFailure {
                try writer.transaction(durable: true) { ledger throws(LedgerError) in try ledger.save(big) }
            }
            #expect(error.kind == .full, "\(error)")
            try writer.transaction(durable: true) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(3))
            }
        }
        var reader = try openReader(of: cache)
        let rows = try reader.entries(for: [Sample.key(1), Sample.key(2), Sample.key(3)])
        #expect(rows.map { $0?.key } == [Sample.key(1), nil, Sample.key(3)])
    }

    @Test("a disk too full for a new ledger leaves nothing half-made", .enabled(if: CacheFixture.mayMount))
    func fullDiskAtCreation() throws {
        let fixture = try CacheFixture(mountedWithKibibytes: 1024)
        let cache = try fixture.openCache()
        let filler = fixture.path + "/filler"
        _ = FileManager.default.createFile(atPath: filler, contents: nil)
        let handle = try #require(FileHandle(forWritingAtPath: filler))
        let block = Data(repeating: 1, count: 4096)
        #expect(throws: (any Error).self) { while true { try handle.write(contentsOf: block) } }
        let error = try ledgerFailure { _ = try LedgerWriter.open(in: cache.state) }
        #expect(error.kind == .full, "\(error)")
        #expect(try !fixture.names(in: fixture.statePath).contains("state.db"))
        try FileManager.default.removeItem(atPath: filler)
        try handle.close()
        try withWriter(of: cache) { #expect($0.opening == .created) }
    }
}
