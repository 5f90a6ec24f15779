internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Freshness", .scratch)
struct StayingFreshTests {
    /// A line's settings, options, what the server adds, whose word it is, and whether it has an end.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var settings = ""
        var head = ""
        var options: [String] = []
        var fields: [(String, String)] = []
        let by: String
        var ends = true
    }

    private static let body = pattern(seed: 1, count: 1000)
    static let cases = [
        Case(testDescription: "max-age= of the entry", settings: "\tmax-age=3600", by: "manifest"),
        Case(testDescription: "max-age= of the manifest", head: "#!syncagent max-age=3600", by: "manifest"),
        Case(testDescription: "--max-age", options: ["--max-age", "1h"], by: "option"),
        Case(
            testDescription: "the manifest before the option", settings: "\tmax-age=3600",
            options: ["--max-age", "0"], by: "manifest"),
        Case(
            testDescription: "--max-age server", options: ["--max-age", "server"],
            fields: [("Cache-Control", "max-age=3600")], by: "server"),
        Case(
            testDescription: "max-age=server", settings: "\tmax-age=server",
            fields: [("Cache-Control", "max-age=3600")], by: "server"),
        Case(
            testDescription: "immutable of the server",
            fields: [("Cache-Control", "max-age=3600, immutable")], by: "server-immutable"),
        Case(
            testDescription: "immutable of the manifest", settings: "\timmutable=true", by: "immutable",
            ends: false),
        Case(
            testDescription: "a checksum",
            settings: "\tchecksum=md5=" + md5(body), by: "checksum", ends: false),
    ]

    private static func md5(_ bytes: [UInt8]) -> String {
        let path = "/tmp/syncagent-md5-\(randomHex(bytes: 6))"
        do {
            try write(bytes, to: path)
        } catch {
            return "\(error)"
        }
        defer { _ = Child.run("/bin/rm", [path], folder: "/tmp") }
        return String(Child.run("/usr/bin/md5sum", [path], folder: "/tmp").output.prefix(32))
    }

    @Test(
        "a run over fresh entries asks nobody, and status says until when and by whose word", arguments: cases
    )
    func fresh(_ one: Case) throws {
        let origin = try TestOrigin { exchange in
            var resource = Resource(Self.body)
            resource.fields = one.fields
            exchange.serve(resource)
        }
        let url = "\(origin.url)/a.bin"
        let lines = [one.head, url + one.settings]
        for _ in 0..<2 {
            let outcome = try Program.sync(lines, one.options)
            #expect(outcome.code == 0, "\(outcome)")
        }
        #expect(origin.log.count == 1)
        let entry = try #require(try CareStatus.ask([url]).urls?.first)
        #expect(entry.fresh?.by == one.by)
        #expect((entry.fresh?.until != nil) == one.ends)
        #expect(entry.received != nil && entry.checked != nil)
        let text = try Program.run(["status", "--cache", Program.cache, url]).output
        #expect(text.contains(one.ends ? "fresh until 20" : "never asked about"), "\(text)")
        // Whoever insists is obeyed.
        #expect(try Program.sync(lines, one.options + ["--refresh"]).code == 0)
        #expect(origin.log.count == 2)
        #expect(origin.log.last?.request.field("if-none-match") == "\"v1\"")
    }

    @Test("without any word the next run asks, and status says so")
    func notFresh() throws {
        let origin = try TestOrigin { $0.serve(Resource(Self.body)) }
        let url = "\(origin.url)/a.bin"
        #expect(try Program.sync([url], ["--max-age", "1h"]).code == 0)
        #expect(try CareStatus.ask([url]).urls?.first?.fresh?.by == "option")
        #expect(try Program.sync([url]).code == 0)
        #expect(origin.log.count == 2)
        #expect(try CareStatus.ask([url]).urls?.first?.fresh == nil)
    }

    @Test("a changed word is known without asking anybody")
    func changedWord() throws {
        let origin = try TestOrigin { $0.serve(Resource(Self.body)) }
        let url = "\(origin.url)/a.bin"
        #expect(try Program.sync([url + "\tmax-age=100"]).code == 0)
        let before = try CareStatus.ask([url]).urls?.first?.fresh
        #expect(try Program.sync([url + "\tmax-age=9000"]).code == 0)
        #expect(origin.log.count == 1)
        let after = try #require(try CareStatus.ask([url]).urls?.first?.fresh)
        #expect(after.by == "manifest")
        #expect(after.until ?? "" > before?.until ?? "~")
    }

    @Test("a file that is gone at its origin stays, and status says that it is gone", arguments: [404, 410])
    func gone(_ status: Int) throws {
        let origin = try TestOrigin { exchange in
            exchange.repetition == 1 ? exchange.respond(status) : exchange.serve(Resource(Self.body))
        }
        let url = "\(origin.url)/a.bin"
        #expect(try Program.sync([url]).code == 0)
        let name = try #require(Program.finished.first)
        let refresh = try Program.sync([url])
        #expect(refresh.code == 1, "\(refresh)")
        #expect(try contents(of: "\(Program.cache)/\(name)") == Self.body)
        let told = try CareStatus.ask([url])
        #expect(told.urls?.first?.gone == true)
        #expect(told.failures.map(\.gone) == [true])
        #expect(told.failures.map(\.copy) == [true])
        let text = try Program.run(["status", "--cache", Program.cache]).output
        #expect(text.contains("gone at its origin; the copy stays"), "\(text)")
        // It came back.
        let again = try Program.sync([url])
        #expect(again.code == 0, "\(again)")
        #expect(try CareStatus.ask([url]).urls?.first?.gone == false)
    }
}
