internal import Posix
internal import TestOrigin
internal import Testing

/// Runs behind a proxy: Debian's tinyproxy, and ones that misbehave.
@Suite("Proxies", .scratch)
struct ProxyTests {
    private let body = pattern(seed: 31, count: 200_000)

    private func origin() throws -> TestOrigin {
        let resource = Resource(body)
        return try TestOrigin { $0.serve(resource) }
    }

    private func expectMirrored(_ url: String, _ outcome: Child.Outcome) throws {
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.errors.isEmpty, "\(outcome)")
        #expect(Program.finished == (try cacheNames(of: [url])))
        let name = try #require(Program.finished.first)
        let isSame = try contents(of: "\(Program.cache)/\(name)") == body
        #expect(isSame, "the file's bytes")
    }

    @Test(
        "an http origin is asked through it, with the credentials told to it alone",
        arguments: [false, true])
    func forwarded(byOption: Bool) throws {
        let (origin, proxy) = (try origin(), try Tinyproxy(user: "jane", password: "hunter2"))
        let url = "\(origin.url)/a/file.bin?x=1"
        let address = "http://jane:hunter2@127.0.0.1:\(proxy.port)"
        let outcome = try Program.sync(
            [url], byOption ? ["--proxy", address] : [],
            environment: byOption ? [:] : ["http_proxy": address])
        try expectMirrored(url, outcome)
        #expect(try proxy.requests() == ["GET \(origin.url)/a/file.bin?x=1 HTTP/1.1"])
        let request = try #require(origin.log.first?.request)
        #expect(request.target == "/a/file.bin?x=1")
        #expect(request.field("host") == "127.0.0.1:\(origin.port)")
        #expect(request.field("proxy-authorization") == nil)
    }

    @Test("an https origin is reached through its tunnel, and what breaks off is gone on with")
    func tunnelled() throws {
        let authority = try Authority()
        let nginx = try Nginx(authority: authority)
        try write(body, to: nginx.files + "/file.bin")
        let proxy = try Tinyproxy(user: "jane", password: "hunter2")
        let url = "\(nginx.url)/file.bin"
        let outcome = try Program.sync(
            [url], ["--cacert", authority.certificate],
            environment: ["https_proxy": "http://jane:hunte%722@127.0.0.1:\(proxy.port)"])
        try expectMirrored(url, outcome)
        let host = nginx.url.dropFirst("https://".count)
        #expect(try proxy.requests() == ["CONNECT \(host) HTTP/1.1"])
    }

    @Test(
        "no password or the wrong one is a failure for now, told with the proxy's name and without the password",
        arguments: ["http", "https"], [("", 407, 0), ("", 407, 1), ("jane:sesame@", 401, 1)])
    func wrongPassword(scheme: String, row: (userinfo: String, status: Int, retries: Int)) throws {
        let proxy = try Tinyproxy(user: "jane", password: "hunter2")
        let url = "\(scheme)://127.0.0.1:1/file.bin"
        let retries = row.retries
        let outcome = try Program.sync(
            [url], ["--retries", "\(retries)"],
            environment: ["all_proxy": "http://\(row.userinfo)127.0.0.1:\(proxy.port)"])
        #expect(outcome.code == 75, "\(outcome)")
        let words = "proxy 127.0.0.1:\(proxy.port) answered \(row.status)"
        #expect(outcome.errors.contains(words), "\(outcome)")
        #expect(!outcome.errors.contains("sesame"))
        #expect(try proxy.requests().count == retries + 1)
        #expect(Program.finished.isEmpty && Program.partials.isEmpty)
    }

    @Test(
        "none is asked when the environment or the option says so",
        arguments: [
            ([], ["no_proxy": "127.0.0.1"]), ([], ["NO_PROXY": "10.0.0.0/8, 127.0.0.0/8"]),
            ([], ["no_proxy": "*"]),
            (["--proxy", ""], [:]), (["--proxy=none"], [:]),
        ] as [([String], [String: String])])
    func exempt(options: [String], environment: [String: String]) throws {
        let origin = try origin()
        let url = "\(origin.url)/file.bin"
        // Nobody listens where the proxy should be.
        let proxy = ["all_proxy": "http://127.0.0.1:\(try refusingPort())"]
        let outcome = try Program.sync([url], options, environment: proxy.merging(environment) { $1 })
        try expectMirrored(url, outcome)
    }

    @Test("under CGI the upper-case variable is not believed", arguments: [true, false])
    func cgi(isCGI: Bool) throws {
        let origin = try origin()
        let url = "\(origin.url)/file.bin"
        var environment = ["HTTP_PROXY": "http://127.0.0.1:\(try refusingPort())"]
        if isCGI { environment["REQUEST_METHOD"] = "GET" }
        let outcome = try Program.sync([url], ["--retries", "0"], environment: environment)
        #expect(outcome.code == (isCGI ? 0 : 75), "\(outcome)")
    }

    @Test(
        "one that cannot be used is a bad configuration that names where it stands",
        arguments: [
            ([], ["https_proxy": "socks5://jane:hunter2@h:1"], "https_proxy", "socks5"),
            ([], ["HTTP_PROXY": "https://jane:hunter2@h:1"], "HTTP_PROXY", "https"),
            ([], ["ALL_PROXY": "http://jane:hunter2@h:port"], "ALL_PROXY", "port"),
            (["--proxy", "socks4a://jane:hunter2@h"], [:], "--proxy", "socks4a"),
        ] as [([String], [String: String], String, String)])
    func unusable(options: [String], environment: [String: String], name: String, words: String) throws {
        let outcome = try Program.sync(["http://127.0.0.1:1/a"], options, environment: environment)
        #expect(outcome.code == 78, "\(outcome)")
        #expect(outcome.errors.hasPrefix("syncagent: \(name): "), "\(outcome)")
        #expect(outcome.errors.contains(words), "\(outcome)")
        #expect(!outcome.errors.contains("hunter2"))
        #expect(names(in: Program.cache).isEmpty)
    }

    @Test("one that is not there is left after a few tries, for all hosts behind it")
    func missing() throws {
        let port = try refusingPort()
        let urls = (0..<6).map { "http://host\($0).test/file.bin" } + ["https://host.test/file.bin"]
        let outcome = try Program.sync(
            urls, ["--retries", "1"], environment: ["all_proxy": "http://127.0.0.1:\(port)"])
        #expect(outcome.code == 75, "\(outcome)")
        let lines = outcome.errors.split(separator: "\n").dropLast()
        #expect(lines.count == urls.count, "\(outcome)")
        #expect(lines.allSatisfy { $0.contains("proxy 127.0.0.1:\(port)") }, "\(outcome)")
    }

    @Test("a kept connection serves only its own origin and route")
    func keptConnections() throws {
        let origins = [try origin(), try origin()]
        let exempt = try origin()
        let proxy = try TestOrigin { exchange in
            exchange.respond(200, [("ETag", "\"p\"")], Array("by proxy".utf8))
        }
        var urls: [String] = []
        for index in 0..<4 {
            for origin in origins + [exempt] { urls.append("\(origin.url)/\(index)") }
        }
        let outcome = try Program.sync(
            urls, ["--jobs", "1"],
            environment: [
                "http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "127.0.0.1:\(exempt.port)",
            ])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(origins.allSatisfy { $0.log.isEmpty })
        #expect(Set(exempt.log.map(\.target)) == ["/0", "/1", "/2", "/3"])
        var hosts: [Int: Set<String>] = [:]
        for entry in proxy.log {
            #expect(
                entry.target == "http://\(entry.request.field("host") ?? "")\(entry.request.path.suffix(2))")
            hosts[entry.connection, default: []].insert(entry.request.field("host") ?? "")
        }
        #expect(proxy.log.count == 8)
        #expect(hosts.values.allSatisfy { $0.count == 1 })
    }

    /// What the answer to CONNECT may be, and what the run says of it.
    static let refusals: [(answer: String, words: String)] = [
        ("HTTP/1.1 403 No\r\nContent-Length: 7\r\n\r\n<html/>", "answered 403"),
        ("HTTP/1.1 404 No\r\n\r\n<html/>", "answered 404"),
        ("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n", "answered 407"),
        ("HTTP/1.1 502 Bad\r\n\r\n<html/>", "answered 502"),
        ("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\n", "answered 503"),
        ("HTTP/1.1 302 There\r\nLocation: http://127.0.0.1:1/\r\n\r\n", "answered 302"),
        ("HTTP/1.1 200 OK\r\n\r\n<html>log in</html>", "proxy"),
        ("220 smtp\r\n", "no HTTP"), ("", "closed"),
    ]

    @Test("what is no tunnel is a failure for now, and nothing of it is stored", arguments: refusals)
    func refusedTunnel(_ row: (answer: String, words: String)) throws {
        let proxy = try TestOrigin { exchange in
            exchange.send(row.answer)
            exchange.cut()
        }
        let url = "https://127.0.0.1:1/file.html"
        let outcome = try Program.sync(
            [url], ["--retries", "0"], environment: ["https_proxy": "jane:hunter2@127.0.0.1:\(proxy.port)"])
        #expect(outcome.code == 75, "\(outcome)")
        #expect(outcome.errors.contains("proxy 127.0.0.1:\(proxy.port)"), "\(outcome)")
        #expect(outcome.errors.contains(row.words), "\(outcome)")
        #expect(!outcome.errors.contains("hunter2"))
        #expect(Program.finished.isEmpty && Program.partials.isEmpty)
        #expect(proxy.log.map(\.target) == ["127.0.0.1:1"])
        #expect(proxy.log.first?.request.field("proxy-authorization") == "Basic amFuZTpodW50ZXIy")
    }

    @Test("a 407 is for good from an origin, asked straight or in a tunnel", arguments: [false, true])
    func originAnswers407(inTunnel: Bool) throws {
        let authority = try Authority()
        let nginx = try Nginx(settings: "location / { return 407; }", authority: authority)
        let proxy = try Tinyproxy()
        let outcome = try Program.sync(
            ["\(nginx.url)/file.bin"], ["--cacert", authority.certificate],
            environment: inTunnel ? ["https_proxy": "http://jane:hunter2@127.0.0.1:\(proxy.port)"] : [:])
        #expect(outcome.code == 1, "\(outcome)")
        #expect(outcome.errors.contains("origin answered 407"), "\(outcome)")
        #expect(try nginx.log().count == 1)
        #expect(try proxy.requests().count == (inTunnel ? 1 : 0))
    }

    @Test("a 407 or 401 to a request that was handed on", arguments: [(407, 75), (401, 1)])
    func forwarded407(status: Int, code: Int32) throws {
        let proxy = try TestOrigin { $0.respond(status, [("Proxy-Authenticate", "Basic")]) }
        let outcome = try Program.sync(
            ["http://origin.test/file.bin"], ["--retries", "1"],
            environment: ["http_proxy": "http://jane:hunter2@127.0.0.1:\(proxy.port)"])
        #expect(outcome.code == code, "\(outcome)")
        #expect(outcome.errors.contains("answered \(status)") && !outcome.errors.contains("hunter2"))
        #expect(proxy.log.count == (code == 75 ? 2 : 1))
        #expect(proxy.log.allSatisfy { $0.request.field("proxy-authorization") != nil })
    }

    @Test("a redirect out of a tunnel is asked on its own route, without the proxy's credentials")
    func redirect() throws {
        let target = try origin()
        let proxy = try TestOrigin { exchange in
            exchange.respond(302, [("Location", "\(target.url)/file.bin")])
        }
        let url = "http://origin.test/file.bin"
        let outcome = try Program.sync(
            [url],
            environment: [
                "http_proxy": "jane:hunter2@127.0.0.1:\(proxy.port)", "no_proxy": "127.0.0.1:\(target.port)",
            ])
        try expectMirrored(url, outcome)
        #expect(proxy.log.map { $0.request.field("host") } == ["origin.test"])
        #expect(proxy.log.first?.request.field("proxy-authorization") == "Basic amFuZTpodW50ZXIy")
        #expect(target.log.map { $0.request.field("proxy-authorization") } == [nil])
    }
}
