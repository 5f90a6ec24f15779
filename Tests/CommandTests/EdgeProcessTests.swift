internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

/// The process as shell, cron and systemd see it: signals, descriptors, exit codes.
@Suite("The process", .scratch)
struct EdgeProcessTests {
    /// Whether all signals that were sent have been taken: two of a kind that wait are one (signal(7)).
    private func hasTakenSignals(_ child: Child) -> Bool {
        let status = readSmallFile("/proc/\(child.process)/status") ?? ""
        return status.split(separator: "\n").contains("ShdPnd:\t0000000000000000")
    }

    private func quoted(_ words: [String]) -> String { words.map { "'\($0)'" }.joined(separator: " ") }

    /// A run that waits for its server, under the shell's setting.
    private func waiting(_ setting: String, _ body: (Child) throws -> Void) throws {
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: 1_000_000)
            exchange.send(Resource(seed: 1, size: 1_000_000), 0..<100_000)
            gate.wait(until: .now.advanced(bySeconds: 60))
        }
        let manifest = try Program.manifest(["\(origin.url)/a.bin"])
        let words = [Program.folder + "/syncagent", "sync", manifest, "--cache", Program.cache]
        let child = try Child(
            "/bin/sh", ["-c", "\(setting) exec \(quoted(words))"], environment: Program.environment)
        let hasBegun = eventually { () -> Bool? in
            Program.partials.contains { size(of: "\(Program.cache)/.syncagent/partial/\($0)") ?? 0 > 0 }
                ? true : nil
        }
        #expect(hasBegun == true)
        try body(child)
        gate.open()
    }

    @Test(
        "a signal ends a run with 75, its name and the next step",
        arguments: [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGHUP, "SIGHUP")])
    func signal(number: Int32, name: String) throws {
        try waiting("") { child in
            child.kill(number)
            let outcome = child.wait()
            #expect(outcome.code == 75, "\(outcome)")
            #expect(
                outcome.errors
                    == "syncagent: stopped by \(name): 0 of 1 entry current, 1 pending; run again to go on\n")
            #expect(Program.partials.count == 1)
        }
    }

    @Test("a signal that the caller ignores stays ignored") func ignored() throws {
        try waiting("trap '' HUP INT;") { child in
            child.kill(SIGHUP)
            child.kill(SIGINT)
            child.kill(SIGTERM)
            let outcome = child.wait()
            #expect(outcome.code == 75, "\(outcome)")
            #expect(outcome.errors.contains("stopped by SIGTERM"), "\(outcome)")
        }
    }

    @Test(
        "a signal that comes a while after the first ends at once what that one cannot",
        arguments: [SIGTERM, SIGINT, SIGHUP])
    func second(number: Int32) throws {
        let words = [
            Program.folder + "/syncagent", "sync", try Program.manifest(["no URL"]), "--cache", Program.cache,
        ]
        // Its first complaint goes into a pipe that is full and that nobody reads.
        let script = """
            mkfifo full && exec 3<>full && dd if=/dev/zero of=/dev/fd/3 bs=65536 count=1 2>/dev/null &&
            exec \(quoted(words)) 2>&3
            """
        let child = try Child("/bin/sh", ["-c", script], environment: Program.environment)
        // The signals are watched for before the cache is made.
        #expect(eventually { names(in: Program.cache).contains(".syncagent") ? true : nil } == true)
        child.kill(number)
        #expect(eventually { hasTakenSignals(child) ? true : nil } == true)
        #expect(child.isRunning)
        let hasEnded = eventually { () -> Bool? in
            child.kill(number)
            return child.isRunning ? nil : true
        }
        #expect(hasEnded == true)
        let outcome = child.wait(seconds: 20)
        #expect(outcome.code == 128 + number, "\(outcome)")
    }

    @Test("closed standard streams do not turn files of ours into streams") func closed() throws {
        let words = [
            Program.folder + "/syncagent", "sync", try Program.manifest(["no URL", "neither"]), "--cache",
            Program.cache,
        ]
        let outcome = Child.run(
            "/bin/sh", ["-c", "exec \(quoted(words)) <&- >&- 2>&-"], environment: Program.environment)
        #expect(outcome.code == 65, "\(outcome)")
        let ledger = try contents(of: Program.cache + "/.syncagent/state.db") ?? []
        #expect(ledger.starts(with: "SQLite format 3\0".utf8))
    }

    @Test("a reader that goes away is no error, a full disk is") func output() throws {
        let program = Program.folder + "/syncagent"
        let gone = Child.run(
            "/bin/bash", ["-c", "'\(program)' sync --help | true; exit ${PIPESTATUS[0]}"],
            environment: Program.environment)
        #expect(gone.code == 0, "\(gone)")
        #expect(gone.errors.isEmpty)
        let full = Child.run(
            "/bin/sh", ["-c", "'\(program)' --version >/dev/full"], environment: Program.environment)
        #expect(full.code == 74, "\(full)")
        #expect(full.errors == "syncagent: cannot write to standard output: no space left on device\n")
    }

    @Test("version and help go to standard output") func words() throws {
        #expect(try Program.run(["--version"]).description == "exit 0\nsyncagent 0.1.0\n")
        let help = try Program.run(["help", "status"])
        #expect(help.code == 0)
        #expect(help.output.hasPrefix("usage: syncagent status [options] [URL...]\n"))
        #expect(help.errors.isEmpty)
    }

    @Test("path hashes the bytes that it is given, and prints nothing when the file is not complete")
    func path() throws {
        let origin = try TestOrigin { $0.serve(Resource(seed: 1, size: 1000)) }
        let url = "\(origin.url)/a.bin"
        #expect(try Program.sync([url, "\(origin.url)/b?c=d", "  id=stable"]).code == 0)
        let name = try #require(Program.finished.first { $0.hasSuffix(".bin") })
        func path(_ words: String...) throws -> Child.Outcome {
            try Program.run(["path", "--cache", Program.cache] + words)
        }
        #expect(try path(url).description == "exit 0\n\(Program.cache)/\(name)\n")
        #expect(try path(" \(url) ").code == 0)
        #expect(try path("stable", "--id").code == 0)
        let unknown = try path(url + "x")
        #expect(unknown.code == 1)
        #expect(unknown.output.isEmpty)
        #expect(unknown.errors.contains("run syncagent sync"))
        _ = chmod(Program.cache + "/" + name, 0o644)
        _ = truncate(Program.cache + "/" + name, 999)
        let short = try path(url)
        #expect(short.code == 1)
        #expect(short.output.isEmpty)
        #expect(short.errors.contains("not complete"))
    }

    @Test("status --watch ends when its reader goes away") func watch() throws {
        let words = [Program.folder + "/syncagent", "status", "--watch", "--json", "--cache", Program.cache]
        let outcome = Child.run(
            "/bin/bash", ["-c", "\(quoted(words)) | head -n 2; exit ${PIPESTATUS[0]}"],
            environment: Program.environment)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output.split(separator: "\n").count == 2)
    }
}
