internal import CLinux
internal import FoundationEssentials
internal import Posix
internal import Storage
internal import Testing
internal import Wire

@testable import syncagent

/// Any JSON.
private indirect enum JSON: Decodable, Equatable {
    case null
    case number(Double)
    case text(String)
    case flag(Bool)
    case list([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else {
            do { self = .flag(try container.decode(Bool.self)) } catch {
                do { self = .number(try container.decode(Double.self)) } catch {
                    do { self = .text(try container.decode(String.self)) } catch {
                        do { self = .list(try container.decode([JSON].self)) } catch {
                            self = .object(try container.decode([String: JSON].self))
                        }
                    }
                }
            }
        }
    }

    subscript(name: String) -> JSON? {
        guard case .object(let fields) = self else { return nil }
        return fields[name]
    }

    var fields: [String: JSON] {
        guard case .object(let fields) = self else { return [:] }
        return fields
    }

    var items: [JSON] {
        guard case .list(let items) = self else { return [] }
        return items
    }
}

/// A cache in the test's folder, filled by hand.
private final class TestCache {
    let path: String
    let folder: CacheFolder

    init() throws {
        path = scratch("cache-" + randomHex(bytes: 4))
        folder = try CacheFolder.open(path: path, create: true)
    }

    func save(_ entries: [EntryRow] = [], _ partials: [PartialRow] = [], runs: [RunRow] = []) throws {
        var writer = try LedgerWriter.open(in: folder.state)
        try writer.transaction(durable: false) { (ledger: inout LedgerTransaction) throws(LedgerError) in
            for row in entries { try ledger.save(row) }
            for row in partials { try ledger.save(row) }
            for var row in runs {
                row.identifier = try ledger.startRun(row)
                if row.ended != nil { try ledger.finishRun(row) }
            }
        }
        try writer.close()
    }

    func file(_ name: String, bytes: Int) throws {
        try write([UInt8](repeating: 7, count: bytes), to: path + "/" + name)
    }

    /// The ledger's files with their content.
    var ledgerBytes: [String: [UInt8]] {
        get throws {
            var files: [String: [UInt8]] = [:]
            for name in ["state.db", "state.db-wal"] {
                files[name] = try contents(of: path + "/.syncagent/" + name)
            }
            return files
        }
    }

    func report(_ urls: [String] = []) throws(CommandError) -> StatusReport {
        var view = try CacheView(path: path)
        let wanted = urls.map { (key: Key(md5Of: $0), url: $0) }
        return try StatusReport(of: &view, only: wanted.isEmpty ? nil : wanted)
    }
}

private func url(_ name: String) -> String { "https://example.org/" + name }

private func copy(_ size: UInt64) -> CopyRow {
    CopyRow(
        size: size, modified: 0, inode: 0, validators: Validators(etag: EntityTag("\"v1\"")),
        digest: Checksum(algorithm: .xxh3, bytes: Array(repeating: 1, count: 16)), received: 1_700_000_000)
}

private func failure(_ reason: String, permanent: Bool, fingerprint: UInt64 = 0) -> FailureRow {
    FailureRow(
        since: 1_700_000_000, lastTry: 1_700_000_100, tries: 2, notBefore: permanent ? nil : 1_700_000_400,
        isPermanent: permanent, reason: reason, message: "the server said \(reason)", fingerprint: fingerprint
    )
}

private func row(_ name: String, copy: CopyRow? = nil, failure: FailureRow? = nil) -> EntryRow {
    EntryRow(
        key: Key(md5Of: url(name)), url: url(name), fileExtension: ".bin", copy: copy, failure: failure)
}

private func partial(_ name: String, total: UInt64?, written: UInt64) -> PartialRow {
    let key = Key(md5Of: url(name))
    return PartialRow(
        name: key.hex + ".0123abcd", key: key, source: url(name),
        validators: Validators(etag: EntityTag("\"v1\"")),
        contentCoding: "", mediaType: nil, total: total, written: written, durable: written,
        bootIdentifier: nil,
        mountIdentifier: nil, answers: 1)
}

@Suite("status", .scratch)
struct EdgeStatusTests {
    private func filled() throws -> TestCache {
        let cache = try TestCache()
        try cache.save(
            [
                row("a", copy: copy(1000)), row("b", copy: copy(24)), row("c"), row("d"),
                row("e", failure: failure("404", permanent: true)),
                row("f", failure: failure("timeout", permanent: false)),
                row("g", copy: copy(6), failure: failure("404", permanent: true)),
            ],
            [partial("c", total: 3000, written: 1000), partial("x", total: nil, written: 10)],
            runs: [
                RunRow(
                    identifier: 0, started: 1_700_000_000, ended: 1_700_000_061, exitCode: 1, entries: 7,
                    current: 2,
                    failed: 2, pending: 3, received: 2048)
            ])
        try cache.file(".syncagent/partial/" + partial("c", total: 3000, written: 1000).name, bytes: 1000)
        try cache.file(".syncagent/partial/" + partial("x", total: nil, written: 10).name, bytes: 12)
        return cache
    }

    @Test("counts every entry in one state") func counts() throws {
        let report = try filled().report()
        #expect(report.counts == [.current: 2, .partial: 2, .pending: 1, .failed: 2, .deferred: 1])
        #expect(report.entries == 8)
        #expect(report.partialBytes == 1010)
        #expect(report.cachedBytes == 1030)
        #expect(Set(report.failures.map(\.url)) == [url("e"), url("f"), url("g")])
        #expect(!report.isRunning)
    }

    @Test("tells people the same") func text() throws {
        let text = StatusText.text(try filled().report())
        for line in [
            "entries   8", "  current           2      1.0 KiB", "  partial           2       1010 B",
            "  pending           1", "  failed            2", "  deferred          1",
            "   33.33 %      1000 B of 2.9 KiB     \(url("c"))",
            "         ?        10 B of ?           \(url("x"))",
            "  404                 2", "    \(url("e")): the server said 404",
            "    \(url("f")): the server said timeout (not before 2023-11-14T22:20:00Z)",
            "last run  2023-11-14T22:13:20Z, 1m 01s, exit 1: 2 of 7 entries current, 2 failed, 3 pending, "
                + "2.0 KiB received",
        ] {
            #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)\nin\n\(text)")
        }
    }

    @Test("writes JSON with every field, and states that sum to entries") func json() throws {
        let text = try JSONText.text(StatusJSON(try filled().report()))
        let object = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
        #expect(
            Set(object.fields.keys) == [
                "schema", "cache", "running", "entries", "states", "bytes", "partials", "failures",
                "pauses", "last_run",
            ])
        #expect(
            object["states"]
                == .object([
                    "current": .number(2), "partial": .number(2), "pending": .number(1), "failed": .number(2),
                    "deferred": .number(1), "paused": .number(0),
                ]))
        #expect(object["entries"] == .number(8))
        let partials = object["partials"]?.items ?? []
        let known = try #require(partials.first { $0["url"] == .text(url("c")) })
        #expect(known["percent"] == .number(33.33))
        #expect(known["done"] == .number(1000))
        #expect(known["file"] == .text(Key(md5Of: url("c")).hex + ".bin"))
        let unknown = try #require(partials.first { $0["url"] == .text(url("x")) })
        #expect(unknown["total"] == .null)
        #expect(unknown["percent"] == .null)
        let failures = object["failures"]?.items ?? []
        let timeout = try #require(failures.first { $0["reason"] == .text("timeout") })
        #expect(timeout["not_before"] == .text("2023-11-14T22:20:00Z"))
        #expect(timeout["permanent"] == .flag(false))
        #expect(object["last_run"]?["exit_code"] == .number(1))
    }

    @Test("has no field that docs/status.schema.json does not describe, and all that it requires")
    func schema() throws {
        let schema = try JSONDecoder().decode(
            JSON.self, from: Data(try #require(try contents(of: Program.root + "/docs/status.schema.json"))))
        let cache = try filled()
        for urls in [[], [url("a"), url("nowhere")]] {
            let text = try JSONText.text(StatusJSON(try cache.report(urls)))
            let problems = mismatches(
                try JSONDecoder().decode(JSON.self, from: Data(text.utf8)), schema, "status")
            #expect(problems.isEmpty)
        }
    }

    /// Where an object and the schema's `properties`, `required`, `items` and `anyOf` disagree.
    private func mismatches(_ value: JSON, _ schema: JSON, _ path: String) -> [String] {
        if let choices = schema["anyOf"]?.items {
            let isNullable = choices.contains { $0["type"] == .text("null") }
            if value == .null { return isNullable ? [] : ["\(path) is null"] }
            return choices.filter { $0["type"] != .text("null") }.flatMap { mismatches(value, $0, path) }
        }
        switch value {
        case .object(let fields):
            let known = schema["properties"]?.fields ?? [:]
            let required = schema["required"]?.items ?? []
            let missing = required.filter { name in !fields.keys.contains { .text($0) == name } }
            return missing.map { "\(path) lacks \($0)" }
                + fields.flatMap { name, value in
                    known[name].map { mismatches(value, $0, path + "." + name) } ?? [
                        "\(path).\(name) is not described"
                    ]
                }
        case .list(let items):
            guard let item = schema["items"] else { return ["\(path) is a list"] }
            return items.flatMap { mismatches($0, item, path + "[]") }
        case .null: return ["\(path) is null"]
        case .number, .text, .flag: return schema["properties"] == nil ? [] : ["\(path) is no object"]
        }
    }

    @Test("believes the disk more than the ledger") func shortFile() throws {
        let cache = try TestCache()
        try cache.save([row("c")], [partial("c", total: 3000, written: 1000)])
        #expect(try cache.report().partials.map(\.done) == [0])
        try cache.file(".syncagent/partial/" + partial("c", total: 3000, written: 1000).name, bytes: 999)
        #expect(try cache.report().partials.map(\.done) == [0])
        try cache.file(".syncagent/partial/" + partial("c", total: 3000, written: 1000).name, bytes: 4000)
        #expect(try cache.report().partials.map(\.done) == [1000])
    }

    @Test("never tells more than the whole") func overfull() throws {
        let cache = try TestCache()
        try cache.save([row("c")], [partial("c", total: 500, written: 1000)])
        try cache.file(".syncagent/partial/" + partial("c", total: 500, written: 1000).name, bytes: 1000)
        #expect(try cache.report().partials.map(\.done) == [500])
    }

    @Test("tells only of the URLs that were asked for") func selected() throws {
        let cache = try filled()
        try cache.file(row("a").fileName, bytes: 1000)
        let report = try cache.report([url("a"), url("b"), url("c"), url("e"), url("nowhere")])
        let selected = try #require(report.selected)
        #expect(selected.map(\.standing) == [.current, .pending, .partial, .failed, .pending])
        #expect(selected.map { $0.file == nil } == [false, false, false, false, true])
        #expect(report.entries == 5)
        #expect(report.cachedBytes == 1000)
        #expect(report.partials.map(\.url) == [url("c")])
        #expect(report.failures.map(\.url) == [url("e")])
        #expect(StatusText.text(report).contains("unknown"))
    }

    @Test("answers for a cache that is not there, and does not make one") func missing() throws {
        let path = scratch("none")
        var view = try CacheView(path: path)
        let report = try StatusReport(of: &view)
        #expect(!report.hasLedger)
        #expect(report.entries == 0)
        #expect(StatusText.text(report).contains("holds no ledger"))
        #expect(size(of: path) == nil)
    }

    @Test("refuses with 73 what is no folder") func file() throws {
        let cache = try TestCache()
        try cache.file("plain", bytes: 1)
        let error = #expect(throws: CommandError.self) {
            _ = try CacheView(path: cache.path + "/plain")
        }
        #expect(error?.code == .cannotCreate)
        #expect(error?.message.hasPrefix("cannot use \(cache.path)/plain: ") == true)
    }

    @Test("changes no byte of the ledger") func readOnly() throws {
        let cache = try filled()
        let before = try cache.ledgerBytes
        _ = try cache.report()
        _ = try cache.report([url("a")])
        #expect(try cache.ledgerBytes == before)
        #expect(before["state.db"] != nil)
    }

    @Test("sees that a run is at work, and does not take its lock") func running() throws {
        let cache = try filled()
        #expect(try cache.report().isRunning == false)
        do {
            let lock = try cache.folder.lock()
            let isHeld = lock != nil
            #expect(isHeld)
            #expect(try cache.report().isRunning)
            #expect(try cache.report().isRunning)
            _ = consume lock
        }
        #expect(try cache.report().isRunning == false)
        let again = try cache.folder.lock()
        let isFree = again != nil
        #expect(isFree)
    }

    @Test("takes rates from two looks") func rates() throws {
        let cache = try filled()
        let earlier = try cache.report()
        try cache.save([], [partial("c", total: 3000, written: 2000)])
        try cache.file(".syncagent/partial/" + partial("c", total: 3000, written: 2000).name, bytes: 2000)
        var later = try cache.report()
        later.measure(since: earlier, seconds: 0.5)
        #expect(later.partials.first { $0.url == url("c") }?.rate == 2000)
        #expect(StatusText.text(later).contains("2.0 KiB/s  0s left"))
        later.measure(since: earlier, seconds: 0)
    }
}

@Suite("A file is complete", .scratch)
struct EdgeCompleteTests {
    @Test("only as a regular file of the recorded size") func complete() throws {
        let cache = try TestCache()
        let whole = row("a", copy: copy(5))
        func isComplete(_ row: EntryRow) throws -> Bool { try CacheView(path: cache.path).isComplete(row) }
        #expect(try !isComplete(whole))
        try cache.file(whole.fileName, bytes: 4)
        #expect(try !isComplete(whole))
        try cache.file(whole.fileName, bytes: 5)
        #expect(try isComplete(whole))
        #expect(try !isComplete(row("a")))
        #expect(rename(cache.path + "/" + whole.fileName, cache.path + "/elsewhere") == 0)
        #expect(symlink("elsewhere", cache.path + "/" + whole.fileName) == 0)
        #expect(try !isComplete(whole))
    }

    @Test(
        "its key is made of the bytes as given, blanks around them trimmed",
        arguments: [
            ("https://example.org/a", "https://example.org/a"),
            (" \thttps://example.org/a  ", "https://example.org/a"),
            ("", ""), ("   ", ""), ("a b", "a b"),
        ])
    func key(word: String, hashed: String) {
        #expect(KeyArgument.key(of: Argument(word)) == Key(md5Of: hashed))
    }
}

@Suite("plan", .scratch)
struct EdgePlanTests {
    private let now: Int64 = 1_700_000_200

    private func entry(_ name: String = "a", checksum: Checksum? = nil, maxAge: MaxAge? = nil) throws -> Entry
    {
        var entry = Entry(
            key: Key(md5Of: url(name)), fileExtension: ".bin", written: url(name),
            url: try HTTPURL(parsing: url(name)), place: Place(manifest: "m", line: 1))
        entry.checksums = checksum.map { [$0] } ?? []
        entry.maxAge = maxAge
        return entry
    }

    private func step(
        _ entry: Entry, _ row: EntryRow?, isHere: Bool = true, wishes: PlanReport.Wishes = .init()
    ) -> PlanReport.Step {
        PlanReport.step(for: entry, row: row, isHere: isHere, partial: nil, wishes: wishes, now: now)
    }

    @Test("tells what a sync would do with an entry") func steps() throws {
        let here = row("a", copy: copy(5))
        #expect(step(try entry(), nil) == .new)
        #expect(step(try entry(), here, isHere: false) == .new)
        #expect(step(try entry(), here) == .ask)
        #expect(step(try entry(maxAge: .seconds(1000)), here) == .current)
        #expect(step(try entry(maxAge: .seconds(100)), here) == .ask)
        #expect(step(try entry(), here, wishes: .init(maxAge: .seconds(1000))) == .current)
        #expect(step(try entry(maxAge: .seconds(1000)), here, wishes: .init(refresh: true)) == .ask)
        let fitting = Checksum(algorithm: .xxh3, bytes: Array(repeating: 1, count: 16))
        let other = Checksum(algorithm: .xxh3, bytes: Array(repeating: 2, count: 16))
        #expect(step(try entry(checksum: fitting), here) == .current)
        #expect(step(try entry(checksum: other), here) == .replace)
    }

    @Test("knows who is not asked yet") func waiting() throws {
        var failed = failure("404", permanent: true)
        failed.since = now - 40_000
        failed.lastTry = now - 100
        let row = row("a", failure: failed)
        #expect(step(try entry(), row) == .waiting)
        #expect(step(try entry(), row, wishes: .init(retryFailed: true)) == .new)
        var changed = try entry()
        changed.fingerprint = 1
        #expect(step(changed, row) == .new)
        failed.since = now - 100
        #expect(step(try entry(), failing(failed)) == .new)
        failed.isPermanent = false
        failed.notBefore = now + 50
        #expect(step(try entry(), failing(failed)) == .waiting)
        failed.notBefore = now - 1
        #expect(step(try entry(), failing(failed)) == .new)
    }

    private func failing(_ failure: FailureRow) -> EntryRow { row("a", failure: failure) }

    @Test("adds up what is known to be fetched") func bytes() throws {
        let cache = try TestCache()
        try cache.save([row("c")], [partial("c", total: 3000, written: 1000)])
        let half = partial("c", total: 3000, written: 1000)
        try cache.file(".syncagent/partial/" + half.name, bytes: 1000)
        var sized = try entry("s")
        sized.size = 500
        var endless = try entry("t")
        endless.size = .max
        var view = try CacheView(path: cache.path)
        var report = PlanReport()
        try report.add(
            [try entry("n"), sized, try entry("c")], &view, partials: [half.key: [half]], wishes: .init(),
            now: now)
        #expect(report.counts == [.new: 2, .resume: 1])
        #expect(report.knownBytes == 2500)
        #expect(report.unknownSizes == 1)
        try report.add([endless], &view, partials: [:], wishes: .init(), now: now)
        #expect(report.knownBytes == .max)
        #expect(report.entries == 4)
    }
}
