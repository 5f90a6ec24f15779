internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

@testable import syncagent

/// The fields of a logfmt line; nil when it is none.
private func fields(_ line: String) -> [String: String]? {
    var found: [String: String] = [:]
    var rest = Substring(line)
    while !rest.isEmpty {
        guard let equals = rest.firstIndex(of: "="), equals != rest.startIndex else { return nil }
        let name = String(rest[..<equals])
        guard name.allSatisfy({ $0.isLetter || $0 == "_" }), found[name] == nil else { return nil }
        rest = rest[rest.index(after: equals)...]
        var value = ""
        if rest.first == "\"" {
            rest = rest.dropFirst()
            while let letter = rest.first, letter != "\"" {
                rest = rest.dropFirst()
                if letter == "\\" {
                    guard let next = rest.popFirst() else { return nil }
                    value.append(next)
                } else {
                    value.append(letter)
                }
            }
            guard rest.popFirst() == "\"" else { return nil }
        } else {
            while let letter = rest.first, letter != " " {
                guard letter != "\"", letter != "=" else { return nil }
                value.append(letter)
                rest = rest.dropFirst()
            }
            guard !value.isEmpty else { return nil }
        }
        found[name] = value
        guard rest.isEmpty || rest.popFirst() == " " else { return nil }
    }
    return found
}

@Suite("The log", .scratch)
struct EventLogTests {
    @Test(
        "a value is bare when it can be, and quoted when it must",
        arguments: [
            ("word", "word"), ("https://example.org/a?b", "https://example.org/a?b"), ("", "\"\""),
            ("two words", "\"two words\""), ("a=b", "\"a=b\""), ("say \"x\"", "\"say \\\"x\\\"\""),
            ("back\\slash", "\"back\\\\slash\""), ("line\nend", "\"line\\\\u{a}end\""), ("é", "é"),
        ])
    func value(text: String, written: String) {
        #expect(LogLine.value(text) == written)
        let line = LogLine.text(wall: 0, .error, "x", [("name", text)])
        #expect(line.last == "\n" && line.filter(\.isNewline).count == 1)
        #expect(fields(String(line.dropLast()))?["name"] == DisplayText.printable(text))
    }

    private func log(_ name: String = "log") throws -> [[String: String]] {
        let text = String(decoding: try contents(of: scratch(name)) ?? [], as: UTF8.self)
        #expect(text.isEmpty || text.last == "\n")
        return try text.split(separator: "\n").map { line in try #require(fields(String(line)), "\(line)") }
    }

    @Test("has a line for each event of a run, and no secret")
    func events() throws {
        let origin = try TestOrigin { exchange in
            if exchange.request.path == "/b" {
                exchange.respond(404)
            } else {
                exchange.serve(Resource(seed: 1, size: 1000, etag: nil))
            }
        }
        let lines = ["\(origin.url)/a.bin?token=hunter2", "no url", "\(origin.url)/b"]
        let outcome = try Program.sync(lines, ["--log", scratch("log")])
        #expect(outcome.code == 1, "\(outcome)")
        let events = try log()
        #expect(events.first?["event"] == "begun")
        #expect(events.last?["event"] == "ended")
        #expect(events.last?["exit"] == "1")
        #expect(events.last?["entries"] == "2")
        #expect(events.last?["failed"] == "1")
        let published = try #require(events.first { $0["event"] == "published" })
        #expect(published["url"] == "\(origin.url)/a.bin?token=***")
        #expect(published["bytes"] == "1000")
        let failed = try #require(events.first { $0["event"] == "failed" })
        #expect(failed["url"] == "\(origin.url)/b")
        #expect(failed["reason"] == "404")
        #expect(failed["for"] == "good")
        #expect(failed["place"] == scratch("manifest.txt") + ":3")
        #expect(failed["level"] == "error")
        #expect(events.contains { $0["event"] == "manifest" && $0["message"]?.contains(":2: ") == true })
        #expect(size(of: scratch("log")).map { $0 > 0 } == true)
        #expect(!String(decoding: try contents(of: scratch("log")) ?? [], as: UTF8.self).contains("hunter2"))
    }

    @Test("goes on in a new file when it was moved away")
    func rotated() throws {
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            if exchange.request.path == "/b.bin" { gate.wait(until: .now.advanced(bySeconds: 60)) }
            exchange.serve(Resource(seed: 1, size: 1000))
        }
        let child = try Program.startSync(
            ["\(origin.url)/a.bin", "\(origin.url)/b.bin"], ["--log", scratch("log")])
        let isHalf = try eventually { try log().contains { $0["event"] == "published" } ? true : nil }
        #expect(isHalf == true)
        #expect(rename(scratch("log"), scratch("log.1")) == 0)
        gate.open()
        #expect(child.wait().code == 0)
        #expect(try log("log.1").compactMap { $0["event"] } == ["begun", "published"])
        #expect(try log().compactMap { $0["event"] } == ["published", "ended"])
    }

    @Test("that cannot be opened ends the run at once, one that gets full does not")
    func trouble() throws {
        let origin = try TestOrigin { $0.serve(Resource(seed: 1, size: 1000)) }
        let none = try Program.sync(["\(origin.url)/a.bin"], ["--log", scratch("none/log")])
        #expect(none.code == 73, "\(none)")
        #expect(none.errors.contains("cannot write the log \(scratch("none/log")): no such file"), "\(none)")
        #expect(origin.log.isEmpty)
        let full = try Program.sync(["\(origin.url)/a.bin"], ["--log", "/dev/full"])
        #expect(full.code == 0, "\(full)")
        #expect(
            full.errors == "syncagent: the log /dev/full is not whole: no space left on device\n", "\(full)")
    }

    @Test("the journal gets a severity before each line, others do not")
    func journal() throws {
        let words =
            "'\(Program.folder)/syncagent' sync '\(try Program.manifest(["no url"]))' --cache '\(Program.cache)'"
        // stat(1) tells device and inode of the very file that standard error goes to.
        let script = """
            exec 2>"$OUT"; JOURNAL_STREAM=$(stat -L -c %d:%i /dev/stderr) \(words)
            JOURNAL_STREAM=1:2 \(words)
            """
        _ = Child.run(
            "/bin/sh", ["-c", script],
            environment: Program.environment.merging(["OUT": scratch("err")]) { $1 })
        let lines = String(decoding: try contents(of: scratch("err")) ?? [], as: UTF8.self)
            .split(separator: "\n")
        #expect(lines.count >= 2)
        #expect(lines.prefix(lines.count / 2).allSatisfy { $0.hasPrefix("<3>syncagent: ") }, "\(lines)")
        #expect(lines.suffix(lines.count / 2).allSatisfy { $0.hasPrefix("syncagent: ") }, "\(lines)")
    }
}
