import Posix
import Storage
import Testing
import Wire

@Suite("Rows come back from the ledger as they went in")
struct LedgerRowsTests {
    static let fullCopy = CopyRow(
        size: 1 << 40, modified: -5, inode: .max,
        validators: Validators(etag: EntityTag("W/\"a\u{0}b\""), lastModified: "Mon, 01 Jan 2024", date: 12),
        digest: Checksum(algorithm: .sha512, bytes: [UInt8](0..<64)), received: .max, freshUntil: .min,
        isImmutable: true, mediaType: "text/html")
    static let fullFailure = FailureRow(
        since: .min, lastTry: .max, tries: .max, notBefore: 7, isPermanent: true, reason: "404",
        message: "größer\nzwei", fingerprint: .max)

    static let entries: [EntryRow] = [
        EntryRow(key: Key(high: 0, low: 0), url: "", fileExtension: ""),
        EntryRow(
            key: Key(high: .max, low: .max), url: "https://h/ü?x=…", fileExtension: ".gz", copy: fullCopy,
            failure: fullFailure, isGone: true, remark: "started over", restarts: .max),
        EntryRow(key: Key(high: 1, low: 2), url: "u", fileExtension: ".a", copy: fullCopy),
        EntryRow(key: Key(high: 1, low: 3), url: "u", fileExtension: ".a", failure: fullFailure, remark: ""),
    ]

    @Test("an entry", arguments: entries)
    func entryRoundTrip(row: EntryRow) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            // Twice: the second replaces the first.
            for _ in 0..<2 {
                try writer.transaction(durable: false) { ledger throws(LedgerError) in try ledger.save(row) }
            }
        }
        var reader = try openReader(of: cache)
        let read = try #require(try reader.entry(for: row.key))
        #expect(String(reflecting: read) == String(reflecting: row))
        #expect(try reader.counts().map(\.count).reduce(0, +) == 1)
    }

    @Test("every kind of digest", arguments: DigestAlgorithm.allCases)
    func digestRoundTrip(algorithm: DigestAlgorithm) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        var row = Sample.entry(1, copy: Sample.copy())
        row.copy?.digest = Checksum(
            algorithm: algorithm, bytes: (0..<algorithm.length).map { UInt8($0) })
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in try ledger.save(row) }
        }
        var reader = try openReader(of: cache)
        #expect(try reader.entry(for: row.key)?.copy == row.copy)
    }

    static let partials: [PartialRow] = [
        Sample.partial(1, name: "a"),
        PartialRow(
            name: "b", key: Key(high: .max, low: 0), source: "https://h:8443/p",
            validators: Validators(etag: EntityTag("\"e\""), lastModified: "x", date: .min),
            contentCoding: "gzip",
            mediaType: "application/gzip", total: UInt64(Int64.max), written: 5, durable: 4,
            bootIdentifier: "boot", mountIdentifier: "42", answers: 3,
            digestState: [UInt8](repeating: 1, count: 600)),
        PartialRow(
            name: "c", key: Key(high: 0, low: 1), source: "", validators: Validators(), contentCoding: "",
            mediaType: "", total: 0, written: 0, durable: 0, bootIdentifier: "", mountIdentifier: "",
            answers: 0,
            digestState: []),
    ]

    @Test("a partial", arguments: partials)
    func partialRoundTrip(row: PartialRow) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: true) { ledger throws(LedgerError) in try ledger.save(row) }
        }
        var reader = try openReader(of: cache)
        #expect(try reader.partials(for: row.key) == [row])
        #expect(try reader.allPartials() == [row])
        #expect(try reader.partials(for: Sample.key(99)) == [])
    }

    @Test("sizes that a signed number cannot hold are clamped, not a trap")
    func hugeNumbersAreClamped() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        var partial = Sample.partial(1, name: "p")
        (partial.total, partial.written, partial.durable) = (.max, .max, .max)
        let run = RunRow(identifier: 0, started: 1, received: .max)
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(1, copy: Sample.copy(size: .max)))
                try ledger.save(Sample.entry(2, copy: Sample.copy(size: .max)))
                try ledger.save(partial)
                try ledger.updateProgress(of: "p", written: .max, durable: .max, digestState: nil)
                _ = try ledger.startRun(run)
            }
        }
        let most = UInt64(Int64.max)
        var reader = try openReader(of: cache)
        #expect(try reader.entry(for: Sample.key(1))?.copy?.size == most)
        #expect(try reader.allPartials().first?.total == most)
        #expect(try reader.allPartials().first?.written == most)
        #expect(try reader.lastRuns(1).first?.received == most)
        #expect(try reader.counts().first?.bytes == .max)
    }

    @Test("a copy whose digest makes no sense is not believed")
    func strangeDigestIsNoCopy() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...2)
        do {
            let database = try Database(opening: fixture.ledgerPath, .readWrite, patience: 1000)
            try database.execute("UPDATE entry SET digest_type = 'crc' WHERE url LIKE '%/1'", "testing")
            try database.execute("UPDATE entry SET digest = x'00' WHERE url LIKE '%/2'", "testing")
        }
        var reader = try openReader(of: cache)
        let rows = try reader.entries(for: [Sample.key(1), Sample.key(2)])
        #expect(rows.map { $0?.copy } == [nil, nil])
        #expect(rows.map { $0?.url } == ["https://example.org/1", "https://example.org/2"])
    }

    static let states: [(copy: Bool, permanent: Bool?, state: EntryState)] = [
        (false, nil, .pending), (true, nil, .current),
        (false, true, .failed), (true, true, .failed),
        (false, false, .deferred), (true, false, .deferred),
    ]

    @Test("the state follows from copy and failure", arguments: states)
    func state(copy: Bool, permanent: Bool?, state: EntryState) throws {
        let row = Sample.entry(
            1, copy: copy ? Sample.copy(size: 5) : nil,
            failure: permanent.map { Sample.failure(isPermanent: $0) })
        #expect(row.state == state)
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in try ledger.save(row) }
        }
        var reader = try openReader(of: cache)
        let counts = try reader.counts()
        #expect(counts.map(\.state) == EntryState.allCases)
        for count in counts {
            #expect(count.count == (count.state == state ? 1 : 0))
            #expect(count.bytes == (count.state == state && copy ? 5 : 0))
        }
    }
}
