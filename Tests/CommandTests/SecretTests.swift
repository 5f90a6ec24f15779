internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

/// Where a secret must not be: output, ledger, the process's title.
@Suite("Secrets", .scratch)
struct SecretTests {
    private static let secret = "hunter2secret"

    private func expectNowhere(_ texts: [String], at location: SourceLocation = #_sourceLocation) throws {
        for text in texts { #expect(!text.contains(Self.secret), "\(text)", sourceLocation: location) }
        let folder = Program.cache + "/.syncagent"
        let files = names(in: folder).filter { $0.hasPrefix("state.db") }
        #expect(!files.isEmpty, sourceLocation: location)
        for name in files {
            let bytes = try contents(of: folder + "/" + name) ?? []
            let isThere = bytes.firstRange(of: Array(Self.secret.utf8)) != nil
            #expect(!isThere, "\(name)", sourceLocation: location)
        }
    }

    private func looks() throws -> [String] {
        try [["status"], ["status", "--json"], ["plan", scratch("manifest.txt")]].map { words in
            let outcome = try Program.run(words + ["--cache", Program.cache])
            #expect(outcome.code == 0, "\(outcome)")
            return outcome.output + outcome.errors
        }
    }

    @Test("an origin that fails, redirects, or repeats what it was told, spreads none")
    func failures() throws {
        let secret = Self.secret
        let origin = try TestOrigin { exchange in
            let told = exchange.request.field("authorization") ?? exchange.request.target
            switch exchange.request.path {
            case "/404": exchange.respond(404)
            case "/echo": exchange.send("HTTP/1.1 403 no \(told) \(secret)\r\nContent-Length: 0\r\n\r\n")
            case "/coding": exchange.respond(200, [("Content-Encoding", told)], [1])
            case "/length":
                exchange.send("HTTP/1.1 200 ok\r\nContent-Length: \(secret)\r\n\r\n")
                exchange.cut()
            case "/scheme": exchange.respond(302, [("Location", "ftp://u:\(secret)@h/?sig=\(secret)")])
            case "/bad": exchange.respond(302, [("Location", "http://u:\(secret)@h h/?token=\(secret)")])
            case "/port": exchange.respond(302, [("Location", "http://h:\(secret)/")])
            case "/loop": exchange.respond(302, [("Location", "/loop?signature=\(secret)")])
            case "/cut":
                exchange.sendHead(200, [("ETag", "\"v\"")], length: 1000)
                exchange.send(Array(repeating: 1, count: 100))
                exchange.cut()
            default:
                exchange.respond(302, [("Location", "\(exchange.request.path == "/away" ? "" : "x")/cut")])
            }
        }
        let host = "127.0.0.1:\(origin.port)"
        var lines = ["404", "echo", "coding", "length", "scheme", "bad", "port", "loop", "cut", "away"]
            .flatMap {
                ["http://user:\(secret)@\(host)/\($0)?X-Amz-Signature=\(secret)&a=b"]
            }
        lines += [
            "http://\(host)/echo?token=\(secret)", "http://\(host)/cut#access_token=\(secret)",
            "http://\(host)/echo", "  header=X-Key: \(secret)",
            "http://h h/\tu:\(secret)@x", "http://u:\(secret)@[::1/", "http://u:\(secret)@h:port/",
            "ftp://u:\(secret)@h/", "u:\(secret)@h", "  header=\(secret)",
        ]
        let outcome = try Program.sync(
            lines, ["--retries", "0", "--progress", "always", "--header", "X-Key: \(secret)"])
        #expect(outcome.code == 1, "\(outcome)")
        #expect(outcome.errors.contains("http://***@\(host)/404?X-Amz-Signature=***&a=b"), "\(outcome)")
        try expectNowhere([outcome.errors, outcome.output] + looks())
        for line in lines where line.hasPrefix("http") && !line.contains("\t") {
            let status = try Program.run(["status", "--json", line, "--cache", Program.cache])
            try expectNowhere([status.output, status.errors])
        }
    }

    @Test("a run that does well keeps it out of the ledger")
    func success() throws {
        let origin = try TestOrigin { $0.serve(Resource(seed: 3, size: 1000)) }
        let netrc = scratch("netrc")
        try write("default login u password \(Self.secret)", to: netrc)
        _ = Child.run("/bin/chmod", ["600", netrc])
        let outcome = try Program.sync(
            [
                "http://user:\(Self.secret)@127.0.0.1:\(origin.port)/a?sig=\(Self.secret)",
                "\(origin.url)/b", "  header=Cookie: \(Self.secret)", "\(origin.url)/c",
            ],
            ["--netrc-file", netrc, "--header", "X-Key: \(Self.secret)"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(origin.log.count == 3)
        try expectNowhere([outcome.errors, outcome.output] + looks())
    }

    @Test("ps sees none on the command line")
    func title() throws {
        let origin = try TestOrigin { $0.stall() }
        let child = try Program.startSync(
            ["\(origin.url)/a"],
            [
                "--header", "Authorization: \(Self.secret)", "--header=X: \(Self.secret)",
                "--proxy=http://u:\(Self.secret)@127.0.0.1:1", "--proxy",
                "http://u:\(Self.secret)@\(origin.url.dropFirst(7))",
            ])
        // It has been read by the time a request is sent.
        #expect(origin.wait { !$0.isEmpty })
        let title = try processTitle(of: child)
        #expect(!title.contains(Self.secret), "\(title)")
        #expect(title.contains("--header\0***") && title.contains("--cache"), "\(title)")
        #expect(origin.log.first?.request.field("authorization") == Self.secret)
        child.kill(SIGKILL)
        _ = child.wait()
    }

    private func processTitle(of child: Child) throws -> String {
        let file = try Descriptor(reading: "/proc/\(child.process)/cmdline")
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 1)
        defer { buffer.deallocate() }
        return String(decoding: buffer[..<(try file.read(into: buffer))], as: UTF8.self)
    }

    @Test(
        "a slip on the command line repeats none",
        arguments: [
            ["http://u:\(secret)@h/"],
            ["path", "http://u:\(secret)@h/", "http://u:\(secret)@h/?sig=\(secret)"],
            ["sync", "http://u:\(secret)@h/?sig=\(secret)", "--cache", "/nonexistent/x"],
            ["sync", "--hedaer=\(secret)", "m"], ["sync", "--header", secret, "m"],
            ["sync", "--proxy", "http://u:\(secret)@h:port", "m"],
            ["sync", "--jobs", "http://u:\(secret)@h", "m"],
        ])
    func slips(words: [String]) throws {
        let outcome = try Program.run(words)
        #expect(outcome.code != 0, "\(outcome)")
        #expect(!(outcome.output + outcome.errors).contains(Self.secret), "\(outcome)")
    }
}
