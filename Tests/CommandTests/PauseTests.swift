internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Pausing", .scratch)
struct PauseTests {
    private func tell(_ command: String, _ words: [String]) throws -> Child.Outcome {
        try Program.run([command] + words + ["--cache", Program.cache])
    }

    @Test(
        "what is paused is not asked for, and a run whose only missing entries are paused ends with 0",
        arguments: [["URL"], ["--match", "*/b.*"], ["--match", "*/?.iso"]])
    func pausedBefore(_ words: [String]) throws {
        let origin = try TestOrigin { $0.serve(Resource(pattern(seed: 1, count: 500))) }
        let urls = ["\(origin.url)/a.bin", "\(origin.url)/b.iso"]
        let words = words.map { $0 == "URL" ? urls[1] : $0 }
        let pause = try tell("pause", words)
        #expect(pause.code == 0 && pause.output.isEmpty && pause.errors.isEmpty, "\(pause)")
        let run = try Program.sync(urls)
        #expect(run.code == 0, "\(run)")
        #expect(run.errors.isEmpty, "\(run)")
        #expect(origin.log.map(\.request.path) == ["/a.bin"])
        let status = try CareStatus.ask()
        #expect(status.states["paused"] == 1)
        #expect(status.states["current"] == 1)
        #expect(status.states.values.reduce(0, +) == status.entries)
        #expect(status.last_run?.paused == 1)
        #expect(status.pauses.count == 1)
        #expect(try CareStatus.ask([urls[1]]).urls?.map(\.state) == ["paused"])
        let plan = try Program.run(["plan", try Program.manifest(urls), "--cache", Program.cache])
        #expect(plan.output.contains("  paused            1"), "\(plan)")

        #expect(try tell("resume", words).code == 0)
        #expect(try Program.sync(urls).code == 0)
        #expect(Program.finished.count == 2)
        #expect(try CareStatus.ask().pauses.isEmpty)
        // A copy that is paused stays as it is, unasked.
        #expect(try tell("pause", ["--all"]).code == 0)
        let count = origin.log.count
        #expect(try Program.sync(urls).code == 0)
        #expect(origin.log.count == count)
        #expect(try CareStatus.ask().states["current"] == 2)
    }

    @Test("all but one", .timeLimit(.minutes(1)))
    func exception() throws {
        let origin = try TestOrigin { $0.serve(Resource(pattern(seed: 1, count: 500))) }
        let urls = ["a", "b", "c"].map { "\(origin.url)/\($0).bin" }
        #expect(try tell("pause", ["--all"]).code == 0)
        #expect(try tell("resume", [urls[1]]).code == 0)
        #expect(try Program.sync(urls).code == 0)
        #expect(origin.log.map(\.request.path) == ["/b.bin"])
        #expect(try CareStatus.ask().states["paused"] == 2)
    }

    @Test("a failed entry that is paused does not fail the run")
    func failed() throws {
        let origin = try TestOrigin { $0.respond(404) }
        let url = "\(origin.url)/a.bin"
        #expect(try Program.sync([url]).code == 1)
        #expect(try tell("pause", [url]).code == 0)
        #expect(try Program.sync([url]).code == 0)
        #expect(try CareStatus.ask().states["paused"] == 1)
        #expect(try tell("resume", ["--all"]).code == 0)
        #expect(try Program.sync([url]).code == 1)
        #expect(origin.log.count == 2)
    }

    @Test(
        "a running sync saves what is paused within seconds, goes on, and resumes from the saved byte",
        .timeLimit(.minutes(2)))
    func duringRun() throws {
        let resource = Resource(seed: 9, size: 1_000_000)
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            switch exchange.request.path {
            case "/slow.bin" where exchange.repetition == 0:
                exchange.sendHead(200, [("ETag", "\"v1\"")], length: resource.size)
                exchange.send(resource, 0..<300_000)
                exchange.stall()
            case "/other.bin":
                // Keeps the run at work until the test has seen enough.
                gate.wait(until: .now.advanced(bySeconds: 60))
                exchange.serve(Resource(pattern(seed: 2, count: 100)))
            default: exchange.serve(resource)
            }
        }
        let urls = ["\(origin.url)/slow.bin", "\(origin.url)/other.bin"]
        let child = try Program.startSync(urls)
        let part = {
            Program.partials.compactMap { size(of: "\(Program.cache)/.syncagent/partial/\($0)") }.max()
        }
        #expect(eventually { part() == 300_000 ? true : nil } == true)
        #expect(try tell("pause", [urls[0]]).code == 0)
        #expect(try CareStatus.ask([urls[0]]).urls?.map(\.state) == ["paused"])
        // The connection was given up: the origin's handler returned.
        #expect(
            origin.wait(seconds: 20) { log in log.contains { $0.request.path == "/slow.bin" && $0.isFinished }
            })
        #expect(child.isRunning)
        gate.open()
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.errors.isEmpty, "\(outcome)")
        #expect(part() == 300_000)
        #expect(Program.finished.count == 1)

        #expect(try tell("resume", [urls[0]]).code == 0)
        let rerun = try Program.sync(urls)
        #expect(rerun.code == 0, "\(rerun)")
        let asked = origin.log.filter { $0.request.path == "/slow.bin" }
        #expect(asked.map { $0.request.field("range") } == [nil, "bytes=300000-"])
        let name = try #require(try cacheNames(of: [urls[0]]).first)
        let isWhole =
            try contents(of: "\(Program.cache)/\(name)") == resource.bytes(from: 0, count: resource.size)
        #expect(isWhole)
    }

    @Test("what is resumed while the run is at work is taken up again in it", .timeLimit(.minutes(2)))
    func resumedDuringRun() throws {
        let resource = Resource(seed: 9, size: 400_000)
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            if exchange.request.path == "/other.bin" {
                gate.wait(until: .now.advanced(bySeconds: 60))
                return exchange.serve(Resource(pattern(seed: 2, count: 100)))
            }
            if exchange.repetition > 0 { return exchange.serve(resource) }
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: resource.size)
            exchange.send(resource, 0..<100_000)
            exchange.stall()
        }
        let urls = ["\(origin.url)/slow.bin", "\(origin.url)/other.bin"]
        let child = try Program.startSync(urls)
        #expect(
            eventually {
                Program.partials.contains { size(of: "\(Program.cache)/.syncagent/partial/\($0)") == 100_000 }
                    ? true : nil
            } == true)
        #expect(try tell("pause", ["--match", "*slow*"]).code == 0)
        #expect(
            origin.wait(seconds: 20) { log in log.contains { $0.request.path == "/slow.bin" && $0.isFinished }
            })
        #expect(try tell("resume", ["--match", "*slow*"]).code == 0)
        #expect(origin.wait(seconds: 20) { log in log.count { $0.request.path == "/slow.bin" } == 2 })
        gate.open()
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(Program.finished.count == 2)
        #expect(origin.log.last { $0.request.path == "/slow.bin" }?.request.field("range") == "bytes=100000-")
    }

    @Test("nobody named is a mistake, and resuming where nothing is makes nothing")
    func edges() throws {
        #expect(try tell("pause", []).code == 64)
        #expect(try tell("resume", []).code == 64)
        #expect(try tell("pause", ["--match", ""]).code == 64)
        #expect(try tell("resume", ["--all"]).code == 0)
        #expect(size(of: Program.cache) == nil)
    }

    @Test("a password in a URL that is paused is nowhere in clear")
    func secret() throws {
        let url = "http://user:geheim@127.0.0.1:1/a.bin"
        #expect(try tell("pause", [url, "--match", "http://user:geheim@*"]).code == 0)
        #expect(try CareStatus.ask().pauses.allSatisfy { !$0.subject.contains("geheim") })
        let text = Child.run("/bin/grep", ["-rc", "geheim", Program.cache + "/.syncagent"]).output
        #expect(text.split(separator: "\n").allSatisfy { $0.hasSuffix(":0") }, "\(text)")
    }
}
