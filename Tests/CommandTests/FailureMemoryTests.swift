internal import Posix
internal import Storage
internal import TestOrigin
internal import Testing
internal import Wire

/// Runs with a clock that libfaketime moves.
enum ShiftedClock {
    private static let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"

    static let isThere = size(of: library) != nil

    /// Only the time of day is moved, by the words of faketime(1), or by those of a file that may change meanwhile.
    static func environment(_ shift: String? = nil, file: String? = nil) -> [String: String] {
        var settings = [
            "LD_PRELOAD": library, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
            // Its semaphores in /dev/shm are shared by all who do not say this.
            "FAKETIME_DISABLE_SHM": "1",
        ]
        if let shift { settings["FAKETIME"] = shift }
        if let file {
            settings["FAKETIME_TIMESTAMP_FILE"] = file
            settings["FAKETIME_NO_CACHE"] = "1"
        }
        return settings
    }
}

@Suite("What is remembered of failures", .scratch)
struct FailureMemoryTests {
    /// Runs so many seconds after now.
    private func sync(
        _ lines: [String], at seconds: Int, _ options: [String] = []
    ) throws -> Child.Outcome {
        try Program.sync(
            under: [], lines, ["--retries", "0"] + options,
            environment: ShiftedClock.environment("+\(seconds)s"))
    }

    private func failure(_ url: String) throws -> FailureRow? {
        guard var reader = try LedgerReader.open(cache: Program.cache) else { return nil }
        return try reader.entry(for: Key(md5Of: url))?.failure
    }

    @Test("a failure for good is asked again, ever more seldom", .enabled(if: ShiftedClock.isThere))
    func growingDelay() throws {
        let origin = try TestOrigin { $0.respond(404) }
        let url = "\(origin.url)/a"
        // Seconds since the first failure, and whether the origin is asked: a quarter of the time that it has been
        // failing must have gone by since the last try.
        let steps = [
            (0, true), (0, true), (400, true), (450, false), (500, false), (560, true), (600, false),
            (1000, true), (90_000, true), (100_000, false), (125_000, true),
            // At most a day.
            (1_000_000, true), (1_050_000, false), (1_090_000, true),
        ]
        for (second, isAsked) in steps {
            let known = origin.log.count
            let outcome = try sync([url], at: second)
            #expect(outcome.code == 1, "at \(second): \(outcome)")
            #expect(origin.log.count - known == (isAsked ? 1 : 0), "at \(second)")
        }
        let known = origin.log.count
        #expect(try sync([url], at: 1_090_001, ["--retry-failed"]).code == 1)
        #expect(origin.log.count == known + 1, "asked now")
        let row = try #require(try failure(url))
        #expect(row.tries == origin.log.count)
        #expect(row.reason == "404" && row.isPermanent)
    }

    @Test("a clock that went back, or is far ahead, asks", .enabled(if: ShiftedClock.isThere))
    func clockWentBack() throws {
        let origin = try TestOrigin { $0.respond(404) }
        let url = "\(origin.url)/a"
        for (index, second) in [1_000_000, 0, 100_000_000].enumerated() {
            #expect(try sync([url], at: second).code == 1)
            #expect(origin.log.count == index + 1)
        }
    }

    @Test("a change of the manifest's line clears the memory", .enabled(if: ShiftedClock.isThere))
    func changedLine() throws {
        let origin = try TestOrigin { $0.respond(404) }
        let url = "\(origin.url)/a"
        for second in [0, 1000] { #expect(try sync([url], at: second).code == 1) }
        #expect(try sync([url], at: 1001).code == 1)
        #expect(origin.log.count == 2)
        #expect(try sync([url + "\tsize=7"], at: 1002).code == 1)
        #expect(origin.log.count == 3)
    }

    @Test("a long Retry-After holds across runs, for that origin alone", .enabled(if: ShiftedClock.isThere))
    func notBefore() throws {
        let busy = try TestOrigin { exchange in
            exchange.request.path == "/a" && exchange.repetition == 0
                ? exchange.respond(503, [("Retry-After", "3600")]) : exchange.respond(200, [], [1])
        }
        let idle = try TestOrigin { $0.respond(200, [("ETag", "\"v1\"")], [2]) }
        let urls = ["\(busy.url)/a", "\(busy.url)/b", "\(idle.url)/c"]
        let first = try sync(urls, at: 0, ["--jobs", "1"])
        #expect(first.code == 75, "\(first)")
        #expect(busy.log.count == 1, "its second file is not asked for either")
        #expect(Program.finished.count == 1, "another origin's comes")
        let row = try #require(try failure(urls[0]))
        #expect(row.notBefore.map { $0 - row.lastTry } == 3600)
        #expect(row.reason == "503" && !row.isPermanent && row.tries == 1)

        #expect(try sync(urls, at: 3000).code == 75)
        #expect(busy.log.count == 1)
        let later = try sync(urls, at: 3700)
        #expect(later.code == 0, "\(later)")
        #expect(busy.log.count == 3)
    }

    @Test("--retry-failed asks although the origin wanted to be left alone")
    func retryFailed() throws {
        let origin = try TestOrigin { exchange in
            exchange.repetition == 0
                ? exchange.respond(503, [("Retry-After", "3600")]) : exchange.respond(200, [], [1])
        }
        let url = "\(origin.url)/a"
        #expect(try Program.sync([url]).code == 75)
        #expect(try Program.sync([url]).code == 75)
        #expect(origin.log.count == 1)
        #expect(try Program.sync([url], ["--retry-failed"]).code == 0)
        #expect(try failure(url) == nil)
    }

    @Test("tries and the last error are kept until it comes")
    func tries() throws {
        let origin = try TestOrigin { exchange in
            switch exchange.repetition {
            case 0: exchange.respond(500)
            case 1: exchange.respond(403)
            default: exchange.respond(200, [], [1])
            }
        }
        let url = "\(origin.url)/a"
        #expect(try Program.sync([url], ["--retries", "0"]).code == 75)
        let first = try #require(try failure(url))
        #expect(first.tries == 1 && first.reason == "500" && !first.isPermanent)
        #expect(try Program.sync([url], ["--retries", "0"]).code == 1)
        let second = try #require(try failure(url))
        #expect(second.tries == 2 && second.reason == "403" && second.isPermanent)
        #expect(second.since == first.since)
        let status = try Program.run(["status", "--cache", Program.cache])
        #expect(status.output.contains("403"), "\(status)")
        #expect(try Program.sync([url]).code == 0)
        #expect(try failure(url) == nil)
    }

    @Test("one bad entry blocks no other, whatever its trouble and its place", arguments: [0, 3])
    func blocksNobody(_ place: Int) throws {
        let origin = try TestOrigin { exchange in
            switch exchange.request.path {
            case "/gone": exchange.respond(410)
            case "/cut":
                exchange.sendHead(200, [("ETag", "\"v1\"")], length: 1000)
                exchange.cut(reset: true)
            case "/nonsense": exchange.send("220 ftp ready\r\n\r\n")
            case "/wrong": exchange.respond(200, [], [9])
            case "/loop": exchange.respond(302, [("Location", "/loop")])
            default: exchange.respond(200, [("ETag", "\"v1\"")], [1])
            }
        }
        let refusing = try refusingPort()
        let bad = [
            "\(origin.url)/gone", "\(origin.url)/cut", "\(origin.url)/nonsense", "\(origin.url)/loop",
            "\(origin.url)/wrong\tsize=5", "http://127.0.0.1:\(refusing)/refused",
            "http://nowhere.invalid/unknown", "ftp://127.0.0.1/scheme",
        ]
        let good = (0..<3).map { "\(origin.url)/\($0)" }
        let names = try cacheNames(of: good).sorted()
        for _ in 0..<2 {
            let lines = good.prefix(place) + bad + good.dropFirst(place)
            let outcome = try Program.sync(Array(lines), ["--retries", "0"])
            #expect(outcome.code == 1, "\(outcome)")
            #expect(Program.finished == names)
        }
    }
}

@Suite("A clock that jumps", .scratch, .enabled(if: ShiftedClock.isThere))
struct ClockTests {
    @Test("a transfer under way does not care", arguments: ["+400d", "-400d"])
    func underWay(_ jump: String) throws {
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: 200_000)
            exchange.send(pattern(seed: 41, count: 100_000))
            gate.wait(until: .now.advanced(bySeconds: 60))
            exchange.send(pattern(seed: 41, from: 100_000, count: 100_000))
        }
        let file = scratch("clock")
        try write("+0\n", to: file)
        let child = try Program.start(
            under: [], ["sync", try Program.manifest(["\(origin.url)/a"]), "--cache", Program.cache],
            environment: ShiftedClock.environment(file: file))
        #expect(eventually { Program.partials.isEmpty ? nil : true } == true)
        try write(jump + "\n", to: file)
        gate.open()
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        let name = try #require(Program.finished.first)
        #expect(try contents(of: "\(Program.cache)/\(name)") == pattern(seed: 41, count: 200_000))
        // Received a year from now, or a year ago, it is asked about at least.
        let next = try Program.sync(["\(origin.url)/a"], ["--max-age", "1h"])
        #expect(next.code == 0, "\(next)")
        #expect(origin.log.count == 2)
    }

    @Test("a partial is gone on with in any year", arguments: [("+400d", "-400d"), ("-400d", "+400d")])
    func resumed(_ before: String, _ after: String) throws {
        let resource = Resource(seed: 42, size: 300_000)
        let origin = try TestOrigin { exchange in
            exchange.serve(resource, cutAfter: exchange.repetition == 0 ? 100_000 : nil)
        }
        let url = "\(origin.url)/a"
        // Without a try that goes on at once.
        let child = try Program.sync(
            under: [], [url], ["--max-time", "0.5"], environment: ShiftedClock.environment(before))
        #expect(child.code == 0 || child.code == 75, "\(child)")
        let outcome = try Program.sync(under: [], [url], environment: ShiftedClock.environment(after))
        #expect(outcome.code == 0, "\(outcome)")
        let name = try #require(Program.finished.first)
        #expect(try contents(of: "\(Program.cache)/\(name)") == pattern(seed: 42, count: 300_000))
        #expect(origin.log.count { $0.request.field("range") == nil } <= 2)
    }
}
