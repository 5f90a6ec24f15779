internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Signals, time and streams", .scratch)
struct SignalTests {
    private static let total = 400_000
    private static let sent = 100_000
    private static let body = pattern(seed: 31, count: total)

    /// Where an origin falls silent for its first request.
    enum Silence: String, CaseIterable, CustomTestStringConvertible {
        case beforeHead, insideHead, insideBody, afterBusy
        var testDescription: String { rawValue }
    }

    /// Serves properly from its second request on.
    private func silentOrigin(_ silence: Silence) throws -> TestOrigin {
        try TestOrigin { exchange in
            if exchange.repetition > 0 { return exchange.serve(Resource(Self.body)) }
            switch silence {
            case .beforeHead: exchange.stall()
            case .insideHead:
                exchange.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-")
                exchange.stall()
            case .insideBody:
                exchange.sendHead(200, [("ETag", "\"v1\"")], length: Self.total)
                exchange.send(Array(Self.body[..<Self.sent]))
                exchange.stall()
            // A retry is waited for.
            case .afterBusy: exchange.respond(503, [("Retry-After", "50")])
            }
        }
    }

    /// Waits until the client has what the origin sent.
    private func isSilent(_ silence: Silence, _ origin: TestOrigin) -> Bool {
        guard silence == .insideBody else { return origin.wait { !$0.isEmpty } }
        let came = eventually { () -> Bool? in
            Program.partials.contains { size(of: "\(Program.cache)/.syncagent/partial/\($0)") == Self.sent }
                ? true : nil
        }
        return came == true
    }

    @Test(
        "the first signal saves and ends with 75, however silent the origin", arguments: Silence.allCases,
        [SIGTERM, SIGINT, SIGHUP])
    func ended(_ silence: Silence, _ signal: Int32) throws {
        let origin = try silentOrigin(silence)
        let url = "\(origin.url)/a.bin"
        let child = try Program.startSync([url])
        #expect(isSilent(silence, origin))
        child.kill(signal)
        // Two seconds by our own promise; a machine that is busy with other tests may need longer, but not as long as
        // any of the program's timeouts.
        let outcome = child.wait(seconds: 10)
        #expect(outcome.code == 75, "\(outcome)")
        #expect(outcome.errors.contains("stopped by SIG"), "\(outcome)")
        let next = try Program.sync([url])
        #expect(next.code == 0, "\(next)")
        let range = origin.log.last?.request.field("range")
        #expect(range == (silence == .insideBody ? "bytes=\(Self.sent)-" : nil))
        let name = try #require(Program.finished.first)
        #expect(try contents(of: "\(Program.cache)/\(name)") == Self.body)
        #expect(Program.partials.isEmpty)
    }

    @Test("a signal while a copy is being proven costs nothing", .enabled(if: Tracer.isThere))
    func whileProving() throws {
        let origin = try TestOrigin { $0.serve(Resource(Self.body)) }
        let url = "\(origin.url)/a.bin"
        #expect(try Program.sync([url]).code == 0)
        let path = "\(Program.cache)/\(try #require(Program.finished.first))"
        // The same bytes with another time have to be hashed.
        #expect(Child.run("/usr/bin/touch", ["-d", "2001-01-01", path]).code == 0)
        // strace(1) lets each read of it take half a second.
        let words = Tracer.words("pread64", inject: "delay_enter=500000") + ["-P", path]
        let child = try Program.start(
            under: words, ["sync", try Program.manifest([url]), "--cache", Program.cache])
        let process = eventually { () -> pid_t? in
            let children = readSmallFile("/proc/\(child.process)/task/\(child.process)/children") ?? ""
            guard let process = children.split(separator: " ").first.flatMap({ pid_t($0) }) else {
                return nil
            }
            return isOpen(path, in: process) ? process : nil
        }
        _ = CLinux.kill(try #require(process), SIGTERM)
        let outcome = child.wait()
        #expect(outcome.code == 75, "\(outcome)")
        let known = origin.log.count
        let next = try Program.sync([url])
        #expect(next.code == 0, "\(next)")
        #expect(
            origin.log.dropFirst(known).map { $0.request.field("if-none-match") } == ["\"v1\""],
            "the copy is still known")
    }

    /// Whether a process has the file open.
    private func isOpen(_ path: String, in process: pid_t) -> Bool {
        names(in: "/proc/\(process)/fd").contains { number in
            var buffer = [CChar](repeating: 0, count: 4096)
            let length = max(0, readlink("/proc/\(process)/fd/\(number)", &buffer, buffer.count))
            return String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) == path
        }
    }

    @Test("a second signal ends the process at once", arguments: [SIGTERM, SIGINT, SIGHUP])
    func second(_ signal: Int32) throws {
        // A FIFO that nobody reads from holds up the sentence that the end waits for.
        try #require(mkfifo(scratch("errors"), 0o600) == 0)
        let holder = clinux_openat(AT_FDCWD, scratch("errors"), O_RDWR | O_NONBLOCK | O_CLOEXEC, 0)
        try #require(holder >= 0)
        let pipe = Descriptor(owning: holder, subject: "pipe")
        let origin = try silentOrigin(.beforeHead)
        let words = ["/bin/sh", "-c", "exec \"$@\" 2>\"$0\"", scratch("errors")]
        let child = try Program.start(
            under: words, ["sync", try Program.manifest(["\(origin.url)/a"]), "--cache", Program.cache])
        #expect(origin.wait { !$0.isEmpty })
        try fill(pipe)
        child.kill(signal)
        let isEnded = eventually(seconds: 1) { child.isRunning ? nil : true }
        #expect(isEnded == nil, "it waits to tell of its end")
        child.kill(signal)
        #expect(child.wait(seconds: 10).code == 128 + signal)
    }

    private func fill(_ pipe: borrowing Descriptor) throws {
        let page = [UInt8](repeating: 10, count: 4096)
        while true {
            let count = page.withUnsafeBytes { CLinux.write(pipe.number, $0.baseAddress, $0.count) }
            if count < 0 { break }
        }
        #expect(clinux_errno() == EAGAIN)
    }

    @Test("a signal that was ignored at the start stays ignored")
    func ignored() throws {
        let origin = try silentOrigin(.insideBody)
        let words = ["/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]
        let child = try Program.start(
            under: words, ["sync", try Program.manifest(["\(origin.url)/a"]), "--cache", Program.cache])
        #expect(isSilent(.insideBody, origin))
        child.kill(SIGHUP)
        child.kill(SIGTERM)
        let outcome = child.wait(seconds: 20)
        #expect(outcome.code == 75, "\(outcome)")
        #expect(outcome.errors.contains("stopped by SIGTERM"), "\(outcome)")
    }

    @Test("USR1 is answered with one line of progress each time, and the run goes on")
    func question() throws {
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            guard exchange.request.path == "/big" else { return exchange.respond(200, [], [1]) }
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: Self.total)
            exchange.send(Array(Self.body[..<Self.sent]))
            gate.wait(until: .now.advanced(bySeconds: 60))
            exchange.send(Array(Self.body[Self.sent...]))
        }
        let child = try Program.startSync(["\(origin.url)/small", "\(origin.url)/big"])
        #expect(isSilent(.insideBody, origin))
        #expect(eventually { Program.finished.isEmpty ? nil : true } == true)
        for count in 1...2 {
            child.kill(SIGUSR1)
            let answered = eventually { () -> Bool? in
                child.errorsSoFar.split(separator: "\n").count == count ? true : nil
            }
            #expect(answered == true, "\(child.errorsSoFar)")
        }
        // The small file is counted a moment after it has its name.
        #expect(child.errorsSoFar.hasPrefix("syncagent: "), "\(child.errorsSoFar)")
        #expect(child.errorsSoFar.contains("/2 files"), "\(child.errorsSoFar)")
        gate.open()
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 2, "\(outcome)")
        #expect(outcome.output.isEmpty)
    }

    @Test("--max-time ends a run as a signal does", arguments: Silence.allCases)
    func timeIsOver(_ silence: Silence) throws {
        let origin = try silentOrigin(silence)
        let url = "\(origin.url)/a.bin"
        let outcome = try Program.sync([url], ["--max-time", "1.5"], seconds: 30)
        #expect(outcome.code == 75, "\(outcome)")
        let next = try Program.sync([url])
        #expect(next.code == 0, "\(next)")
    }

    @Test("--max-time also bounds the wait for the lock and for a manifest that does not come")
    func timeForEverything() throws {
        try #require(mkfifo(scratch("list"), 0o600) == 0)
        // Open at both ends, and silent.
        let holder = clinux_openat(AT_FDCWD, scratch("list"), O_RDWR | O_CLOEXEC, 0)
        let pipe = Descriptor(owning: holder, subject: "pipe")
        let first = try Program.start(["sync", scratch("list"), "--cache", Program.cache, "--max-time", "3"])
        #expect(eventually { isWatching(first) ? true : nil } == true)
        let origin = try TestOrigin { $0.respond(200, [], [1]) }
        #expect(eventually { size(of: "\(Program.cache)/.syncagent/lock") } != nil)
        let second = try Program.sync(
            ["\(origin.url)/a"], ["--wait-lock", "60", "--max-time", "0.5"], seconds: 20)
        #expect(second.code == 75 || second.code == 0, "\(second)")
        let outcome = first.wait(seconds: 20)
        #expect(outcome.code == 75, "\(outcome)")
        _ = pipe.number
    }

    @Test("stopped and continued, a run ends well")
    func suspended() throws {
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: Self.total)
            exchange.send(Array(Self.body[..<Self.sent]))
            gate.wait(until: .now.advanced(bySeconds: 60))
            exchange.send(Array(Self.body[Self.sent...]))
        }
        let child = try Program.startSync(["\(origin.url)/a"], ["--stall-timeout", "1"])
        #expect(isSilent(.insideBody, origin))
        child.kill(SIGSTOP)
        gate.open()
        // Longer than it would have waited: what has come meanwhile counts all the same.
        usleep(1_500_000)
        child.kill(SIGCONT)
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(origin.log.count == 1)
    }

    @Test(
        "a stream that is closed at the start gives its number to no file",
        arguments: ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
    func closedStreams(_ redirections: String) throws {
        let mirror = try SmallMirror()
        let words = ["/bin/sh", "-c", "exec \"$@\" \(redirections)", "sh"]
        // A manifest with a bad line makes it talk.
        let lines = mirror.urls + ["nonsense"]
        let outcome = try Program.sync(under: words, lines)
        #expect(outcome.code == 1, "\(outcome)")
        try mirror.expectWhole()
        for name in [".syncagent/state.db", ".syncagent/lock", "CACHEDIR.TAG"] {
            let bytes = try #require(try contents(of: "\(Program.cache)/\(name)"))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("syncagent: "), "\(name)")
        }
        let next = try Program.sync(mirror.urls)
        #expect(next.code == 0 && next.errors.isEmpty, "\(next)")
        let status = try Program.start(
            under: words, ["status", "--cache", Program.cache]
        ).wait()
        #expect(status.code == 0, "\(status)")
    }
}

extension Child {
    /// What it wrote to standard error up to now.
    var errorsSoFar: String { wait(seconds: 0, kills: false).errors }
}
