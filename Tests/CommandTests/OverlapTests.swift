internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Runs on one cache", .scratch)
struct OverlapTests {
    /// An origin that answers when the gate is open.
    private func gatedOrigin(_ gate: Gate) throws -> TestOrigin {
        try TestOrigin { exchange in
            gate.wait(until: .now.advanced(bySeconds: 60))
            exchange.respond(200, [("ETag", "\"v1\"")], Array("fine".utf8))
        }
    }

    private func expectSilentRefusal(
        _ outcome: Child.Outcome, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.code == 75, "\(outcome)", sourceLocation: sourceLocation)
        #expect(
            outcome.errors.isEmpty && outcome.output.isEmpty, "\(outcome)", sourceLocation: sourceLocation)
    }

    @Test("one works, the others leave with 75 without a word", arguments: [2, 3, 10])
    func oneWorks(_ count: Int) throws {
        let gate = Gate()
        let origin = try gatedOrigin(gate)
        // Written once: none may read it while it is written again.
        let manifest = try Program.manifest(["\(origin.url)/a"])
        let children = try (0..<count).map { _ in
            try Program.start(["sync", manifest, "--cache", Program.cache])
        }
        // The one that works waits for the origin.
        let left = eventually { () -> Bool? in
            children.count(where: { !$0.isRunning }) == count - 1 ? true : nil
        }
        #expect(left == true)
        gate.open()
        let outcomes = children.map { $0.wait() }
        #expect(outcomes.count { $0.code == 0 } == 1, "\(outcomes)")
        for outcome in outcomes where outcome.code != 0 { expectSilentRefusal(outcome) }
        #expect(origin.log.count == 1)
        #expect(Program.finished.count == 1)
    }

    @Test("--wait-lock waits for the other's end, and for no longer than it says")
    func waits() throws {
        let gate = Gate()
        let origin = try gatedOrigin(gate)
        let first = try Program.startSync(["\(origin.url)/a"])
        #expect(origin.wait { !$0.isEmpty })
        expectSilentRefusal(try Program.sync(["\(origin.url)/a"], ["--wait-lock", "0.3"]))
        let second = try Program.startSync(["\(origin.url)/a"], ["--wait-lock", "60"])
        let isEarly = eventually(seconds: 0.5) { second.isRunning ? nil : true }
        #expect(isEarly == nil)
        gate.open()
        #expect(first.wait().code == 0)
        let outcome = second.wait()
        #expect(outcome.code == 0, "\(outcome)")
    }

    @Test("a wait for the lock ends by a signal")
    func waitEnds() throws {
        let gate = Gate()
        let origin = try gatedOrigin(gate)
        let first = try Program.startSync(["\(origin.url)/a"])
        #expect(origin.wait { !$0.isEmpty })
        let second = try Program.startSync(["\(origin.url)/a"], ["--wait-lock", "60"])
        #expect(eventually { isWatching(second) ? true : nil } == true)
        second.kill(SIGTERM)
        #expect(second.wait(seconds: 10).code == 75)
        gate.open()
        #expect(first.wait().code == 0)
    }

    @Test("a killed holder leaves no lock")
    func killed() throws {
        let gate = Gate()
        let origin = try gatedOrigin(gate)
        let first = try Program.startSync(["\(origin.url)/a"])
        #expect(origin.wait { !$0.isEmpty })
        first.kill(SIGKILL)
        #expect(first.wait().code == 128 + SIGKILL)
        gate.open()
        let second = try Program.sync(["\(origin.url)/a"])
        #expect(second.code == 0, "\(second)")
    }

    @Test("a run in another PID namespace counts, and its end frees the lock", .enabled(if: mayUnshare))
    func otherNamespace() throws {
        let gate = Gate()
        let origin = try gatedOrigin(gate)
        let words = ["/usr/bin/unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        let first = try Program.start(
            under: words,
            ["sync", try Program.manifest(["\(origin.url)/a"]), "--cache", Program.cache])
        #expect(origin.wait { !$0.isEmpty })
        expectSilentRefusal(try Program.sync(["\(origin.url)/a"]))
        first.kill(SIGKILL)
        _ = first.wait()
        gate.open()
        // The kernel ends the namespace after its parent.
        let outcome = try Program.sync(["\(origin.url)/a"], ["--wait-lock", "20"])
        #expect(outcome.code == 0, "\(outcome)")
    }

    private static let mayUnshare =
        Child.run("/usr/bin/unshare", ["--pid", "--fork", "--mount-proc", "/bin/true"], folder: "/tmp").code
        == 0

    @Test("looking whether a run is at work drives none away")
    func status() throws {
        let origin = try TestOrigin { $0.respond(200, [("ETag", "\"v1\"")], [1]) }
        #expect(try Program.sync(["\(origin.url)/a"]).code == 0)
        let file = "\(Program.cache)/.syncagent/lock"
        let number = clinux_openat(AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0)
        try #require(number >= 0)
        #expect(flock(number, LOCK_SH | LOCK_NB) == 0)
        let child = try Program.startSync(["\(origin.url)/a"], ["--wait-lock", "30"])
        #expect(eventually { isWatching(child) ? true : nil } == true)
        close(number)
        #expect(child.wait().code == 0)
    }

    @Test("a ledger that two caches were given is one run's at a time")
    func sharedLedger() throws {
        let gate = Gate()
        let origin = try gatedOrigin(gate)
        let first = try Program.startSync(["\(origin.url)/a"], ["--state", scratch("ledger")])
        #expect(origin.wait { !$0.isEmpty })
        let manifest = try Program.manifest(["\(origin.url)/a"])
        expectSilentRefusal(
            try Program.run(
                ["sync", manifest, "--cache", scratch("other"), "--state", scratch("ledger")]))
        // The same cache with a ledger of its own is still the same cache.
        expectSilentRefusal(try Program.sync(["\(origin.url)/a"]))
        gate.open()
        #expect(first.wait().code == 0)
    }

    @Test("no child of a run would inherit any of its descriptors")
    func closedOnExec() throws {
        let origin = try TestOrigin { exchange in
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: 50_000)
            exchange.send([UInt8](repeating: 1, count: 20_000))
            exchange.stall()
        }
        try write((0..<3).map { "\(origin.url)/\($0)\n" }.joined(), to: scratch("list"))
        let child = try Program.start(
            under: [], ["sync", "-", "--cache", Program.cache], input: scratch("list"))
        #expect(eventually { Program.partials.count == 3 ? true : nil } == true)
        var seen = 0
        for name in names(in: "/proc/\(child.process)/fdinfo") {
            guard let number = Int(name), number > 2 else { continue }
            let text = String(
                decoding: try contents(ofProc: "/proc/\(child.process)/fdinfo/\(name)"), as: UTF8.self)
            let line = text.split(separator: "\n").first { $0.hasPrefix("flags:") }
            let digits = line?.split(whereSeparator: { $0 == "\t" || $0 == " " }).last
            let flags = try #require(digits.flatMap { Int($0, radix: 8) }, "\(text)")
            // O_CLOEXEC as fdinfo shows it; see proc(5).
            #expect(flags & 0o2000000 != 0, "descriptor \(number): \(text)")
            seen += 1
        }
        // Lock, ledger and its log, three folders, three partials, three sockets.
        #expect(seen >= 12)
        child.kill(SIGTERM)
        #expect(child.wait().code == 75)
    }
}

/// Whether a run has come as far as waiting for signals.
func isWatching(_ child: Child) -> Bool {
    names(in: "/proc/\(child.process)/task").contains { task in
        readSmallFile("/proc/\(child.process)/task/\(task)/comm") == "signals\n"
    }
}

/// A file of proc(5), whose size is not told before it is read.
func contents(ofProc path: String) throws -> [UInt8] {
    Array((readSmallFile(path) ?? "").utf8)
}
