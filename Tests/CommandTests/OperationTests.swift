internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

@testable import syncagent

/// The end of a datagram socket that a service manager would hold.
private final class Manager {
    private let socket: Descriptor

    /// - Parameter name: a path, or `@` and an abstract name.
    init(_ name: String) throws {
        let number = CLinux.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        socket = Descriptor(owning: number, subject: name)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(name.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        if bytes.first == 0x40 { address.sun_path.0 = 0 }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (bytes.first == 0x40 ? 0 : 1))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) }
        }
        try #require(result == 0, "bind: \(clinux_errno())")
    }

    /// All that has come.
    func messages() throws -> [String] {
        var found: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(socket.number, &buffer, buffer.count, 0)
            guard count >= 0 else { return found }
            found.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
    }
}

@Suite("A run among other programs", .scratch)
struct OperationTests {
    private func start(
        _ lines: [String], _ options: [String] = [], environment: [String: String] = [:]
    ) throws -> Child {
        try Child(
            Program.folder + "/syncagent",
            ["sync", try Program.manifest(lines), "--cache", Program.cache] + options,
            environment: Program.environment.merging(environment) { $1 })
    }

    private func good() throws -> TestOrigin { try TestOrigin { $0.serve(Resource(seed: 1, size: 1000)) } }

    // MARK: The service manager

    @Test("tells systemd that it begins, how far it is, and how it ends", arguments: [true, false])
    func notify(isAbstract: Bool) throws {
        let name = isAbstract ? "@syncagent-test-" + randomHex(bytes: 6) : scratch("notify")
        let manager = try Manager(name)
        let origin = try good()
        let outcome = try start(["\(origin.url)/a.bin"], environment: ["NOTIFY_SOCKET": name]).wait()
        #expect(outcome.code == 0, "\(outcome)")
        let messages = try manager.messages()
        #expect(messages.first == "READY=1\nSTATUS=reading the manifests")
        #expect(
            messages.last?.hasPrefix("STOPPING=1\nSTATUS=1 entry current, 1 fetched") == true, "\(messages)")
    }

    @Test(
        "does not care for a manager that is not there",
        arguments: [
            "/nonexistent", "@nobody", "", "x", "@", String(repeating: "/long", count: 50), "vsock:2:1",
        ])
    func noManager(_ name: String) throws {
        let outcome = try start([], environment: ["NOTIFY_SOCKET": name]).wait()
        #expect(outcome.description == "exit 0\n")
    }

    // MARK: The ping

    @Test("calls URL/start, then URL or URL/EXITCODE", arguments: [(200, ""), (404, "/1"), (503, "/75")])
    func ping(status: Int, path: String) throws {
        let origin = try TestOrigin { $0.respond(status, [], [1, 2, 3]) }
        let service = try TestOrigin { $0.respond(200, [], Array("OK".utf8)) }
        let outcome = try start(
            ["\(origin.url)/a.bin"], ["--ping", "\(service.url)/uuid/?rid=1", "--retries", "0"]
        ).wait()
        #expect(outcome.code == (path.isEmpty ? 0 : Int32(path.dropFirst())), "\(outcome)")
        let end = path.isEmpty ? "/uuid/?rid=1" : "/uuid\(path)?rid=1"
        #expect(service.log.map(\.target) == ["/uuid/start?rid=1", end])
        #expect(service.log.allSatisfy { $0.method == "GET" })
    }

    @Test("a run that cannot begin is told, one beside another is not")
    func pingWithoutRun() throws {
        let service = try TestOrigin { $0.respond(200) }
        let missing = try Program.run([
            "sync", scratch("none"), "--cache", Program.cache, "--ping", service.url + "/x",
        ])
        #expect(missing.code == 66, "\(missing)")
        #expect(service.log.map(\.target) == ["/x/66"])
        let configuration = try Program.run([
            "sync", "/dev/null", "--netrc-file", scratch("none"), "--ping", service.url + "/x",
        ])
        #expect(configuration.code == 78, "\(configuration)")
        #expect(service.log.map(\.target) == ["/x/66", "/x/78"])

        let lock = try CacheFolderLock(Program.cache)
        let options = ["--ping", service.url + "/x", "--on-run-end", "touch '\(scratch("ran"))'"]
        let beside = try withExtendedLifetime(lock) { try start([], options).wait() }
        #expect(beside.code == 75, "\(beside)")
        #expect(service.log.count == 2)
        #expect(size(of: scratch("ran")) == nil)
    }

    @Test("a service that is not there, or does not answer, changes nothing")
    func deafService() throws {
        let origin = try good()
        let port = try refusingPort()
        let refused = try start(
            ["\(origin.url)/a.bin"],
            ["--ping", "http://127.0.0.1:\(port)/hunter2", "--log", scratch("log")]
        ).wait()
        #expect(refused.description == "exit 0\n")
        let log = String(decoding: try contents(of: scratch("log")) ?? [], as: UTF8.self)
        #expect(log.contains("event=ping") && !log.contains("hunter2"), "\(log)")
        let deaf = try TestOrigin { $0.stall() }
        let waited = try start(["\(origin.url)/a.bin"], ["--ping", "\(deaf.url)/x"]).wait()
        #expect(waited.description == "exit 0\n")
        #expect(deaf.log.map(\.target) == ["/x/start", "/x"])
    }

    // MARK: The command at the end

    @Test("the command learns how it ended, and inherits nothing else")
    func command() throws {
        let origin = try TestOrigin { $0.respond(404) }
        let script = """
            env | grep -E '^(SYNCAGENT|NOTIFY)' | sort >'\(scratch("env"))'; ls /proc/self/fd >'\(scratch("fds"))'
            grep -E 'Sig(Blk|Ign)' /proc/self/status >'\(scratch("signals"))'; cat; echo out; exit 3
            """
        let outcome = try start(
            ["\(origin.url)/a.bin"], ["--on-run-end", script],
            environment: [
                "SYNCAGENT_HEADER": "X-Token: hunter2", "NOTIFY_SOCKET": "/nonexistent",
                "SYNCAGENT_RETRIES": "0",
            ]
        ).wait()
        #expect(outcome.code == 1, "\(outcome)")
        #expect(outcome.output.isEmpty, "standard output is for data")
        #expect(
            outcome.errors.contains("\nout\nsyncagent: the command of --on-run-end ended with 3\n"),
            "\(outcome)")
        let environment = String(decoding: try contents(of: scratch("env")) ?? [], as: UTF8.self)
            .split(separator: "\n")
        #expect(
            environment.filter { !$0.hasPrefix("SYNCAGENT_SECONDS=") } == [
                "SYNCAGENT_BYTES=0", "SYNCAGENT_CACHE=\(Program.cache)", "SYNCAGENT_CURRENT=0",
                "SYNCAGENT_ENTRIES=1", "SYNCAGENT_EXIT=1", "SYNCAGENT_FAILED=1",
                "SYNCAGENT_MESSAGE=0 of 1 entry current, 1 failed; syncagent status tells why",
                "SYNCAGENT_PENDING=0",
            ])
        // ls(1) has a fourth for the folder that it lists.
        #expect(String(decoding: try contents(of: scratch("fds")) ?? [], as: UTF8.self) == "0\n1\n2\n3\n")
        let signals = String(decoding: try contents(of: scratch("signals")) ?? [], as: UTF8.self)
        // Those beyond 31 are the C library's own.
        let masks = signals.split(separator: "\n").compactMap { UInt64($0.suffix(16), radix: 16) }
        #expect(masks.count == 2 && masks.allSatisfy { $0 & 0x7FFF_FFFF == 0 }, "\(signals)")
    }

    @Test("a command that takes too long is killed with its children")
    func slowCommand() throws {
        let began = Instant.now
        let ending = try ShellCommand.run(
            "sleep 300 & echo $! >'\(scratch("child"))'; wait", environment: ["PATH=/usr/bin:/bin"],
            seconds: 0.5)
        #expect(ending == .tookTooLong)
        #expect(Instant.now.seconds(since: began) < 60)
        let child = String(decoding: try contents(of: scratch("child")) ?? [], as: UTF8.self)
        let process = try #require(pid_t(child.filter(\.isNumber)))
        let isGone = eventually { CLinux.kill(process, 0) == 0 && !isZombie(process) ? nil : true }
        #expect(isGone == true)
        #expect(try ShellCommand.run("exit 7", environment: [], seconds: 30) == .exited(7))
        #expect(try ShellCommand.run("kill -9 $$", environment: [], seconds: 30) == .killed(signal: 9))
    }

    private func isZombie(_ process: pid_t) -> Bool {
        readSmallFile("/proc/\(process)/stat")?.contains(") Z ") ?? true
    }

    // MARK: Changes alone

    @Test("--notify-change tells of a failure once, and once of its end")
    func changes() throws {
        let isGood = Monitor(false)
        let origin = try TestOrigin { exchange in
            if isGood.withLock({ $0 }) || exchange.request.path == "/a.bin" {
                exchange.serve(Resource(seed: 1, size: 1000))
            } else {
                exchange.respond(exchange.request.path == "/b.bin" ? 503 : 404)
            }
        }
        let host = origin.url.dropFirst(7)
        let lines = ["\(origin.url)/a.bin", "\(origin.url)/b.bin", "\(origin.url)/c.bin", "no url"]
        func run(_ lines: [String], _ code: Int32) throws -> [Substring] {
            let outcome = try Program.sync(lines, ["--notify-change", "--retries", "0"])
            #expect(outcome.code == code, "\(outcome)")
            return outcome.errors.split(separator: "\n")
        }
        let first = try run(lines, 1)
        #expect(first.count == 4, "\(first)")
        #expect(first.contains("syncagent: \(origin.url)/b.bin: \(host) answered 503 Status"), "\(first)")
        #expect(
            first.contains { $0.hasPrefix("syncagent: \(origin.url)/c.bin: \(host) answered 404") },
            "\(first)")
        #expect(first.contains { $0.contains("manifest.txt:4: ") }, "\(first)")
        #expect(
            first.last?.contains("1 of 3 entries current, 1 failed, 1 pending, 1 bad line") == true,
            "\(first)")
        #expect(try run(lines, 1).isEmpty)
        #expect(try run(lines, 1).isEmpty)
        isGood.withLock { $0 = true }
        let over = try run(Array(lines.prefix(3)), 0)
        #expect(over.count == 3, "\(over)")
        #expect(over.allSatisfy { $0.hasPrefix("syncagent: over: ") }, "\(over)")
        #expect(try run(Array(lines.prefix(3)), 0).isEmpty)
        // A run that could not begin is a failure as well.
        for turn in 0..<2 {
            let outcome = try Program.run([
                "sync", scratch("none"), "--cache", Program.cache, "--notify-change",
            ])
            #expect(outcome.code == 66)
            #expect(outcome.errors.isEmpty == (turn == 1), "\(outcome)")
        }
        #expect(try run(Array(lines.prefix(3)), 0).count == 1)
    }

    @Test("what a run did not look at is not over")
    func unknown() {
        typealias Item = ToldFailures.Item
        var before = ToldFailures()
        before.add(Item("entry 1 404", "one"))
        before.add(Item(run: "two\tthree\n"))
        before.add(Item(run: "two\tthree\n"))
        #expect(before.items.count == 2)
        #expect(ToldFailures(parsing: Array(before.text.utf8)) == before)
        var now = ToldFailures()
        now.add(Item("entry 2 404", "four"))
        #expect(
            now.changes(since: before)
                == ToldFailures.Changes(new: ["four"], over: ["one", "two\\u{9}three\\u{a}"]))
        now.keep(before) { !$0.isOfEntry }
        #expect(now.changes(since: before) == ToldFailures.Changes(new: ["four"], over: ["one"]))
        let hosts = ["a.example refused; its 2 entries wait", "a.example refused; its entry waits"].map(
            Item.init(run:))
        #expect(hosts[0].identity == hosts[1].identity)
        #expect(Item(run: "2 of these").identity == Item(run: "3 of these").identity)
        #expect(Item(line: "m:2: bad").identity != Item(line: "m:3: bad").identity)
        #expect(ToldFailures(parsing: Array("no tab\n\u{0}\tx\n\n\t\n".utf8)).items.count == 2)
        var many = ToldFailures()
        for number in 0..<(ToldFailures.limit + 5) { many.add(Item("run \(number)", "x")) }
        #expect(many.items.count == ToldFailures.limit)
    }
}

/// Another run's lock on a cache.
private final class CacheFolderLock {
    private let file: Descriptor

    init(_ cache: String) throws {
        let outcome = try Program.run(["sync", "/dev/null", "--cache", cache])
        try #require(outcome.code == 0, "\(outcome)")
        let number = clinux_openat(AT_FDCWD, cache + "/.syncagent/lock", O_RDWR | O_CLOEXEC, 0)
        file = Descriptor(owning: number, subject: "lock")
        try #require(number >= 0 && flock(number, LOCK_EX | LOCK_NB) == 0)
    }
}
