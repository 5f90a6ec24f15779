internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

/// Who is told what: each secret goes to the origin that it is meant for.
@Suite("Credentials", .scratch)
struct CredentialTests {
    private func file(_ name: String, _ text: String, mode: UInt32 = 0o600) throws -> String {
        try write(text, to: scratch(name))
        try #require(chmod(scratch(name), mode) == 0)
        return scratch(name)
    }

    private func login(_ origin: TestOrigin) -> [String?] {
        origin.log.map { $0.request.field("authorization") }
    }

    private static let netrcLogin = "Basic bmV0cmM6aHVudGVyMg=="  // netrc:hunter2

    private func plain() throws -> TestOrigin {
        try TestOrigin { $0.respond(200, [], Array("fine".utf8)) }
    }

    @Test(
        "a netrc speaks for an entry that brings nothing of its own",
        arguments: [
            ("", [], "machine 127.0.0.1 login netrc password hunter2", netrcLogin),
            ("", [], "default login netrc password hunter2", netrcLogin),
            ("", [], "machine localhost login netrc password hunter2", nil),
            ("", [], "machine 27.0.0.1 login netrc password hunter2", nil),
            ("u:p@", [], "machine 127.0.0.1 login netrc password hunter2", "Basic dTpw"),
            (
                "", ["header=Authorization: Bearer x"], "machine 127.0.0.1 login netrc password hunter2",
                "Bearer x"
            ),
            (
                "", ["header=authorization: Bearer x"], "machine 127.0.0.1 login netrc password hunter2",
                "Bearer x"
            ),
            ("", ["header=X-Other: x"], "machine 127.0.0.1 login netrc password hunter2", netrcLogin),
        ] as [(String, [String], String, String?)])
    func netrc(userinfo: String, options: [String], text: String, expected: String?) throws {
        let origin = try plain()
        let path = try file("netrc", text)
        let outcome = try Program.sync(
            ["http://\(userinfo)127.0.0.1:\(origin.port)/a"] + options.map { "  " + $0 },
            ["--netrc-file", path])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(login(origin) == [expected])
    }

    @Test("~/.netrc is read when it is asked for", arguments: [true, false])
    func home(isAsked: Bool) throws {
        let origin = try plain()
        _ = try file(".netrc", "machine 127.0.0.1 login netrc password hunter2")
        let outcome = try Program.sync(["\(origin.url)/a"], isAsked ? ["--netrc"] : [])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(login(origin) == [isAsked ? Self.netrcLogin : nil])
    }

    @Test(
        "a netrc that others can read, or that cannot be understood, is refused",
        arguments: [
            (0o640, "machine 127.0.0.1 login netrc password hunter2", "chmod 600"),
            (0o604, "machine 127.0.0.1 login netrc password hunter2", "chmod 600"),
            (0o600, "machine 127.0.0.1 login netrc password my hunter2", "line 1"),
            (0o600, "machine 127.0.0.1 login netrc password \"hunter2", "line 1"),
        ] as [(UInt32, String, String)])
    func badNetrc(mode: UInt32, text: String, words: String) throws {
        let origin = try plain()
        let path = try file("netrc", text, mode: mode)
        let outcome = try Program.sync(["\(origin.url)/a"], ["--netrc-file", path])
        #expect(outcome.code == 78, "\(outcome)")
        #expect(outcome.errors.contains(path) && outcome.errors.contains(words), "\(outcome)")
        #expect(!outcome.errors.contains("hunter2"))
        #expect(origin.log.isEmpty)
    }

    @Test("a netrc that is missing or no file", arguments: ["missing", "."])
    func noNetrc(name: String) throws {
        let outcome = try Program.sync(["http://127.0.0.1:1/a"], ["--netrc-file", scratch(name)])
        #expect(outcome.code == 78, "\(outcome)")
        #expect(outcome.errors.contains(scratch(name)), "\(outcome)")
    }

    @Test("a redirect to another origin, on the same host too, is followed without any of it")
    func redirected() throws {
        let other = try plain()
        let origin = try TestOrigin { exchange in
            exchange.respond(302, [("Location", "http://evil:evil@127.0.0.1:\(other.port)/b")])
        }
        let path = try file("netrc", "default login netrc password hunter2")
        let lines = [
            "http://u:p@127.0.0.1:\(origin.port)/userinfo", "\(origin.url)/netrc",
            "\(origin.url)/field", "  header=Authorization: Bearer hunter2", "  header=Cookie: a=hunter2",
        ]
        let outcome = try Program.sync(lines, ["--netrc-file", path, "--header", "X-Key: hunter2"])
        #expect(outcome.code == 0, "\(outcome)")
        let told = Dictionary(
            uniqueKeysWithValues: origin.log.map { ($0.target, $0.request.field("authorization")) })
        #expect(
            told == ["/userinfo": "Basic dTpw", "/netrc": Self.netrcLogin, "/field": "Bearer hunter2"])
        #expect(origin.log.allSatisfy { $0.request.field("x-key") == "hunter2" })
        #expect(other.log.count == 3)
        for entry in other.log {
            for name in ["authorization", "cookie", "x-key", "proxy-authorization"] {
                #expect(entry.request.field(name) == nil, "\(name)")
            }
        }
    }

    @Test("a redirect within the origin keeps it")
    func redirectedAtHome() throws {
        let origin = try TestOrigin { exchange in
            if exchange.request.path == "/a" { return exchange.respond(302, [("Location", "/b")]) }
            exchange.respond(200, [], Array("fine".utf8))
        }
        let outcome = try Program.sync(["http://u:p@127.0.0.1:\(origin.port)/a", "  header=X-Key: k"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(login(origin) == ["Basic dTpw", "Basic dTpw"])
        #expect(origin.log.allSatisfy { $0.request.field("x-key") == "k" })
    }

    @Test("a mirror gets its own userinfo and nothing of the entry's")
    func mirror() throws {
        let mirror = try plain()
        let origin = try TestOrigin { $0.respond(404) }
        let path = try file("netrc", "default login netrc password hunter2")
        for userinfo in ["", "m:n@"] {
            let outcome = try Program.sync(
                [
                    "\(origin.url)/\(userinfo)\thttp://\(userinfo)127.0.0.1:\(mirror.port)/b",
                    "  header=Authorization: Bearer hunter2",
                ], ["--netrc-file", path])
            #expect(outcome.code == 0, "\(outcome)")
        }
        #expect(login(origin) == ["Bearer hunter2", "Bearer hunter2"])
        #expect(login(mirror) == [nil, "Basic bTpu"])
    }

    @Test("Proxy-Authorization is no field for origins")
    func proxyField() throws {
        let origin = try plain()
        let option = try Program.sync(["\(origin.url)/a"], ["--header", "Proxy-Authorization: hunter2"])
        #expect(option.code == 64, "\(option)")
        let line = try Program.sync(["\(origin.url)/a", "  header=proxy-authorization: hunter2"])
        #expect(line.code == 65, "\(line)")
        #expect(!(option.errors + line.errors).contains("hunter2"))
        #expect(origin.log.isEmpty)
    }

    @Test("a server that wants a certificate gets it")
    func certificate() throws {
        let authority = try Authority()
        let nginx = try Nginx(
            settings: "ssl_verify_client on; ssl_client_certificate \(authority.certificate);",
            authority: authority)
        try write("fine", to: nginx.files + "/a")
        let url = "\(nginx.url)/a"
        let without = try Program.sync([url], ["--cacert", authority.certificate])
        #expect(without.code == 1, "\(without)")
        let with = try Program.sync(
            [url],
            [
                "--cacert", authority.certificate, "--retry-failed", "--cert", authority.serverCertificate,
                "--key", authority.serverKey,
            ])
        #expect(with.code == 0, "\(with)")
    }

    @Test("certificates and keys that cannot be used end the run before its first request")
    func badCertificates() throws {
        let authority = try Authority()
        let folder = scratch("tls")
        for arguments in [
            ["genpkey", "-algorithm", "ed25519", "-out", "other.key"],
            ["genpkey", "-algorithm", "ed25519", "-aes256", "-pass", "pass:x", "-out", "encrypted.key"],
        ] {
            let outcome = Child.run(
                "/usr/bin/openssl", arguments, environment: ["PATH": "/usr/bin"], folder: folder)
            try #require(outcome.code == 0, "openssl: \(outcome)")
        }
        try write("nothing", to: folder + "/text")
        let good = authority.serverCertificate
        let cases: [(options: [String], code: Int32, words: [String])] = [
            (["--cert", folder + "/missing"], 78, [folder + "/missing", "no such file"]),
            (["--cert", folder + "/text"], 78, [folder + "/text", "no certificate"]),
            (["--cert", good], 78, [good, "no private key"]),
            (["--cert", good, "--key", folder + "/missing"], 78, [folder + "/missing", "no such file"]),
            (["--cert", good, "--key", folder + "/text"], 78, [folder + "/text", "no private key"]),
            (["--cert", good, "--key", folder + "/other.key"], 78, [folder + "/other.key", "not the key"]),
            (["--cert", good, "--key", folder + "/encrypted.key"], 78, ["encrypted.key", "is encrypted"]),
            (["--cacert", folder + "/text"], 78, [folder + "/text", "no certificate"]),
            (["--key", authority.serverKey], 64, ["--cert"]),
        ]
        let origin = try plain()
        for (options, code, words) in cases {
            let outcome = try Program.sync(["\(origin.url)/a"], options)
            #expect(outcome.code == code, "\(options) \(outcome)")
            #expect(words.allSatisfy { outcome.errors.contains($0) }, "\(options) \(outcome)")
        }
        #expect(origin.log.isEmpty)
    }
}
