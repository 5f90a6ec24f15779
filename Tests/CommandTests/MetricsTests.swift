internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

@testable import syncagent

/// A metric family as Prometheus would read it.
private struct Family: Equatable {
    var type = ""
    var samples: [String: Double] = [:]
}

/// Reads the text format strictly, and holds it to the rules of `promtool check metrics` as well: HELP and TYPE before
/// the samples, each family once and in one piece, `_total` for counters and for nothing else, base units.
private func parse(_ text: String) throws -> [String: Family] {
    var families: [String: Family] = [:]
    var helped: [String] = []
    var present = ""
    try #require(text.hasSuffix("\n"))
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        if line.hasPrefix("# HELP ") {
            present = String(words[2])
            try #require(!helped.contains(present) && words.count == 4 && !words[3].isEmpty, "\(line)")
            helped.append(present)
        } else if line.hasPrefix("# TYPE ") {
            try #require(words[2] == present && families[present] == nil, "\(line)")
            try #require(["gauge", "counter"].contains(words[3]), "\(line)")
            try #require(present.hasSuffix("_total") == (words[3] == "counter"), "\(line)")
            let units = ["_milliseconds", "_minutes", "_kilobytes", "_kib", "_ms"]
            try #require(!units.contains { present.hasSuffix($0) }, "\(line)")
            families[present] = Family(type: String(words[3]))
        } else {
            try #require(!line.hasPrefix("#") && !line.isEmpty, "\(line)")
            let space = try #require(line.lastIndex(of: " "), "\(line)")
            let value = try #require(Double(line[line.index(after: space)...]), "\(line)")
            let series = line[..<space]
            let name = series.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            try #require(name == present, "\(line)")
            let labels = series.dropFirst(name.count)
            if !labels.isEmpty {
                let pattern = /\{[a-z_]+="(?:[^"\\]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\]|\\["\\n])*")*\}/
                try #require(try pattern.wholeMatch(in: labels) != nil, "\(line)")
            }
            try #require(families[present]?.samples[String(labels)] == nil, "\(line)")
            families[present]?.samples[String(labels)] = value
        }
    }
    return families
}

@Suite("Metrics", .scratch)
struct MetricsTests {
    private func metrics(_ name: String = "sync.prom") throws -> [String: Family] {
        let text = String(decoding: try #require(try contents(of: scratch(name))), as: UTF8.self)
        let promtool = "/usr/bin/promtool"
        if size(of: promtool) != nil {
            let outcome = Child.run(promtool, ["check", "metrics"], input: scratch(name))
            #expect(outcome.code == 0, "\(outcome)")
        }
        return try parse(text)
    }

    private func value(_ families: [String: Family], _ name: String, _ labels: String = "") -> Double? {
        families["syncagent_" + name]?.samples[labels]
    }

    @Test("tell of the run and of the cache, and sums outlive the runs")
    func runs() throws {
        let isThere = Monitor(false)
        let origin = try TestOrigin { exchange in
            if exchange.request.path == "/b.bin", !isThere.withLock({ $0 }) {
                exchange.respond(503)
            } else {
                exchange.serve(Resource(seed: 1, size: 1000))
            }
        }
        let lines = ["\(origin.url)/a.bin", "\(origin.url)/b.bin"]
        let options = ["--textfile", scratch("sync.prom"), "--retries", "0"]
        let before = Double(wallSeconds())
        #expect(try Program.sync(lines, options).code == 75)
        let first = try metrics()
        #expect(value(first, "last_exit_code") == 75)
        #expect(try #require(value(first, "last_run_timestamp_seconds")) >= before)
        #expect(first["syncagent_last_success_timestamp_seconds"] == nil)
        #expect(value(first, "entries", "{state=\"current\"}") == 1)
        #expect(value(first, "entries", "{state=\"deferred\"}") == 1)
        #expect(value(first, "entries", "{state=\"failed\"}") == 0)
        #expect(value(first, "cache_bytes") == 1000)
        #expect(value(first, "partial_bytes") == 0)
        #expect(value(first, "downloaded_bytes_total") == 1000)
        #expect(value(first, "requests_total", "{code=\"200\"}") == 1)
        #expect(value(first, "requests_total", "{code=\"503\"}") == 1)
        #expect(value(first, "verify_mismatches_total") == 0)
        #expect(value(first, "build_info", "{version=\"\(Help.version)\"}") == 1)
        #expect(try #require(value(first, "oldest_pending_seconds")) >= 0)
        #expect(try #require(value(first, "run_duration_seconds")) > 0)

        isThere.withLock { $0 = true }
        #expect(try Program.sync(lines, options).code == 0)
        let second = try metrics()
        #expect(value(second, "last_exit_code") == 0)
        #expect(
            value(second, "last_success_timestamp_seconds") == value(second, "last_run_timestamp_seconds"))
        #expect(value(second, "entries", "{state=\"current\"}") == 2)
        #expect(value(second, "oldest_pending_seconds") == 0)
        #expect(value(second, "downloaded_bytes_total") == 2000)
        #expect(value(second, "requests_total", "{code=\"200\"}") == 2)
        #expect(value(second, "requests_total", "{code=\"304\"}") == 1)
        #expect(value(second, "requests_total", "{code=\"503\"}") == 1)

        // Each failure keeps the time of the last success.
        origin.stop()
        #expect(try Program.sync(lines, options).code == 75)
        let third = try metrics()
        #expect(value(third, "last_exit_code") == 75)
        #expect(
            value(third, "last_success_timestamp_seconds")
                == value(second, "last_success_timestamp_seconds"))
        #expect(try #require(value(third, "requests_total", "{code=\"none\"}")) > 0)
        #expect(names(in: ScratchFolder.path).allSatisfy { !$0.hasSuffix(".tmp") })
    }

    @Test(
        "are written when a run cannot begin",
        arguments: [("none.txt", 66), ("/etc", 66), ("/dev/null", 0)])
    func failures(manifest: String, code: Int32) throws {
        let outcome = try Program.run([
            "sync", manifest, "--cache", Program.cache, "--textfile", scratch("sync.prom"),
        ])
        #expect(outcome.code == code, "\(outcome)")
        #expect(value(try metrics(), "last_exit_code") == Double(code))
    }

    @Test("a configuration that is wrong is told as well")
    func configuration() throws {
        let outcome = try Program.sync(
            [], ["--textfile", scratch("sync.prom"), "--netrc-file", scratch("none")])
        #expect(outcome.code == 78, "\(outcome)")
        #expect(value(try metrics(), "last_exit_code") == 78)
    }

    @Test("of several profiles do not collide")
    func profiles() throws {
        try write("{ profiles: { 'a \\\"\\\\b': {} } }", to: scratch("config.json"))
        let outcome = try Program.run([
            "sync", "/dev/null", "--cache", Program.cache, "--textfile", scratch("sync.prom"),
            "--config", scratch("config.json"), "--profile", "a \"\\b",
        ])
        #expect(outcome.code == 0, "\(outcome)")
        let label = "profile=\"a \\\"\\\\b\""
        let families = try metrics()
        #expect(value(families, "last_exit_code", "{\(label)}") == 0)
        #expect(value(families, "entries", "{\(label),state=\"current\"}") == 0)
    }

    @Test("that cannot be written are told of, and change nothing")
    func unwritable() throws {
        let outcome = try Program.run([
            "sync", "/dev/null", "--cache", Program.cache, "--textfile", scratch("none/sync.prom"),
        ])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(
            outcome.errors.contains("cannot write the metrics \(scratch("none/sync.prom"))"), "\(outcome)")
    }

    @Test("numbers have no exponent", arguments: [0, 0.0004, 0.5, 1, 12.0625, 1e9, 1e300, .infinity, -1])
    func numbers(seconds: Double) throws {
        let text = MetricsText(lastRun: 0, duration: seconds, exitCode: 0, version: "1").text
        let families = try parse(text)
        let wanted = seconds.isFinite && seconds > 0 && seconds < 1e15 ? seconds : 0
        let found = try #require(value(families, "run_duration_seconds"))
        #expect(abs(found - wanted) <= 0.001)
        #expect(!text.contains("e+"))
    }
}
