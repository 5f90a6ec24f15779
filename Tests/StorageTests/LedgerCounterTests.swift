import Posix
import Storage
import Testing

@Suite("What the ledger counts over all runs")
struct LedgerCounterTests {
    private func counters(_ reader: inout LedgerReader) throws -> [String] {
        try reader.counters().map { "\($0.name)=\($0.value)" }
    }

    @Test("sums grow, the last of a number stays, and neither overflows")
    func sums() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        for _ in 0..<2 {
            try withWriter(of: cache) { writer in
                try writer.transaction(durable: false) { ledger throws(LedgerError) in
                    try ledger.add(5, to: .received)
                    try ledger.add(1, to: .requests(code: "200"))
                    try ledger.add(.max, to: .mismatches)
                    try ledger.set(.lastSuccess, to: 7)
                    try ledger.set(.lastSuccess, to: -9)
                }
            }
        }
        var reader = try openReader(of: cache)
        #expect(
            try counters(&reader) == [
                "last success=-9", "mismatches=\(1 << 62)", "received=10", "requests 200=2",
            ])
        #expect(LedgerCounter.requestCode(of: LedgerCounter.requests(code: "none").name) == "none")
        #expect(LedgerCounter.requestCode(of: LedgerCounter.received.name) == nil)
    }

    @Test("who waits longest: since the first failure for now, or since the run that brought it")
    func waits() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        func wait() throws -> Int64? {
            var reader = try openReader(of: cache)
            return try reader.oldestWait()
        }
        func change(_ body: (inout LedgerTransaction) throws(LedgerError) -> Void) throws {
            try withWriter(of: cache) { writer in try writer.transaction(durable: false, body) }
        }
        try change { (ledger) throws(LedgerError) in
            _ = try ledger.startRun(RunRow(identifier: 0, started: 100))
        }
        #expect(try wait() == nil)
        var current = Sample.entry(1)
        current.copy = Sample.copy()
        current.failure = nil
        try change { [current] (ledger) throws(LedgerError) in
            try ledger.save(current)
            _ = try ledger.startRun(RunRow(identifier: 0, started: 200))
        }
        #expect(try wait() == nil)
        var pending = Sample.entry(2)
        (pending.copy, pending.failure) = (nil, nil)
        try change { [pending] (ledger) throws(LedgerError) in
            try ledger.save(pending)
            _ = try ledger.startRun(RunRow(identifier: 0, started: 300))
        }
        #expect(try wait() == 200)
        var deferred = Sample.entry(3)
        deferred.copy = nil
        deferred.failure = FailureRow(
            since: 150, lastTry: 290, tries: 2, notBefore: nil, isPermanent: false, reason: "timeout",
            message: "m", fingerprint: 1)
        try change { [deferred] (ledger) throws(LedgerError) in try ledger.save(deferred) }
        #expect(try wait() == 150)
        deferred.failure?.isPermanent = true
        deferred.failure?.since = 1
        try change { [deferred] (ledger) throws(LedgerError) in try ledger.save(deferred) }
        #expect(try wait() == 200, "what failed for good waits for nothing")
        // The runs that it came before are forgotten in the end.
        try change { (ledger) throws(LedgerError) in
            for started in 0..<200 {
                _ = try ledger.startRun(RunRow(identifier: 0, started: 1000 + Int64(started)))
            }
        }
        #expect(try wait() == 1000)
    }

    @Test("failures are those of the last try, in the order of the entries, and bounded")
    func failures() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                for number in [UInt64(5), 3, 4, 1] {
                    var row = Sample.entry(number)
                    row.failure = nil
                    if number != 4 {
                        row.failure = FailureRow(
                            since: 1, lastTry: 1, tries: 1, notBefore: nil, isPermanent: number == 3,
                            reason: "404", message: "m", fingerprint: 1)
                    }
                    try ledger.save(row)
                }
            }
        }
        var reader = try openReader(of: cache)
        #expect(try reader.failures(limit: 10).map(\.key) == [5, 3, 1].map { Sample.key($0) })
        #expect(try reader.failures(limit: 2).count == 2)
        #expect(try reader.failures(limit: -1).isEmpty)
    }
}
