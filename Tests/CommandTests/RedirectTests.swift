internal import Posix
internal import TestOrigin
internal import Testing

private let body = pattern(seed: 51, count: 3000)
private let v1 = ("ETag", "\"v1\"")

extension Exchange {
    fileprivate mutating func redirect(_ status: Int, to location: String) {
        respond(status, [("Location", location)])
    }
}

private let redirects: [Misbehaviour] =
    [301, 302, 303, 307, 308].map { status in
        Misbehaviour(
            "\(status)", 0, body,
            { exchange in
                exchange.request.path == "/real"
                    ? exchange.serve(Resource(body)) : exchange.redirect(status, to: "real")
            })
    }
    + [300, 304, 305, 306, 399].map { status in
        Misbehaviour(
            "\(status) is none", status == 304 ? 75 : 1, nil,
            { exchange in
                exchange.request.path == "/real"
                    ? exchange.serve(Resource(body)) : exchange.redirect(status, to: "real")
            })
    } + [
        Misbehaviour(
            "to itself, until a cookie comes back", 1, nil, says: "more than 20 redirects",
            { exchange in
                exchange.respond(302, [("Location", exchange.request.target), ("Set-Cookie", "i=1")])
            }),
        Misbehaviour(
            "from one to the other and back", 1, nil, says: "more than 20 redirects",
            { exchange in
                exchange.redirect(302, to: exchange.request.path == "/other" ? "/file.bin" : "/other")
            }),
        Misbehaviour(
            "twenty in a row", 0, body,
            { exchange in
                let hop = Int(exchange.request.path.dropFirst()) ?? 0
                hop == 20 ? exchange.serve(Resource(body)) : exchange.redirect(302, to: "/\(hop + 1)")
            }),
        Misbehaviour(
            "the same URL twice for a reason", 0, body,
            { exchange in
                exchange.repetition > 0
                    ? exchange.serve(Resource(body)) : exchange.redirect(302, to: exchange.request.target)
            }),
        Misbehaviour(
            "with a body, which is not the file's", 0, body,
            { exchange in
                if exchange.request.path == "/real" { return exchange.serve(Resource(body)) }
                exchange.respond(
                    302, [("Location", "/real"), ("Content-Type", "text/html")],
                    Array("<html>moved</html>".utf8))
            }),
        Misbehaviour(
            "the name stays that of the manifest's URL", 0, body, target: "/download?id=1",
            { exchange in
                exchange.request.path == "/file.tar.gz"
                    ? exchange.serve(Resource(body)) : exchange.redirect(302, to: "/file.tar.gz#top")
            }),
        Misbehaviour("without a Location", 1, nil, { $0.respond(302) }),
        Misbehaviour("with an empty Location", 1, nil, { $0.redirect(302, to: "") }),
        Misbehaviour(
            "to another scheme", 1, nil, says: "file:", { $0.redirect(302, to: "file:///etc/passwd") }),
        Misbehaviour("to a URL that is none", 1, nil, { $0.redirect(302, to: "http://[::1/") }),
        Misbehaviour("to a port that is none", 1, nil, { $0.redirect(302, to: "//127.0.0.1:99999/x") }),
    ]

@Suite("Redirects", .scratch)
struct RedirectTests {
    @Test("a redirect", arguments: redirects)
    func following(_ case: Misbehaviour) throws { try `case`.verify(retries: 0) }

    /// Where the second server's redirect leads, and whether the last hop may see the first one's secrets.
    struct Road: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let isHome: Bool
        let isBackThroughAnother: Bool
    }

    @Test(
        "secrets of the entry's origin stay there",
        arguments: [
            Road(testDescription: "the same origin", isHome: true, isBackThroughAnother: false),
            Road(testDescription: "another port", isHome: false, isBackThroughAnother: false),
            Road(testDescription: "back through another port", isHome: true, isBackThroughAnother: true),
        ])
    func secrets(_ road: Road) throws {
        let away = try TestOrigin { exchange in
            if let target = exchange.request.target.split(separator: "=").last,
                exchange.request.path == "/back"
            {
                return exchange.redirect(302, to: String(target))
            }
            exchange.serve(Resource(body))
        }
        let elsewhere = away.url
        let home = try TestOrigin { exchange in
            switch exchange.request.path {
            case "/real": exchange.serve(Resource(body))
            default:
                let host = exchange.request.field("host") ?? ""
                exchange.redirect(
                    302,
                    to: road.isBackThroughAnother
                        ? "\(elsewhere)/back?to=http://\(host)/real"
                        : road.isHome ? "/real" : "\(elsewhere)/real")
            }
        }
        let url = "http://user:S3CRET@127.0.0.1:\(home.port)/file.bin"
        let line = url + "\theader=Authorization: Bearer S3CRET2\theader=Cookie: c=S3CRET3"
        let named = "http://user:S3CRET@127.0.0.1:\(home.port)/other.bin\theader=X-Key: S3CRET4"
        let outcome = try Program.sync([line, named], ["--jobs", "1", "--header", "X-All: S3CRET5"])
        #expect(outcome.code == 0, "\(outcome)")
        for entry in away.log {
            let fields = entry.request.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
            #expect(!fields.contains("S3CRET"), "\(fields)")
            #expect(!fields.contains("dXNlcjpTM0NSRVQ"), "\(fields)")
        }
        let last = road.isHome ? home.log.last : away.log.last
        #expect((last?.request.field("x-all") != nil) == road.isHome)
        #expect(home.log.allSatisfy { $0.request.field("authorization") != nil })
        #expect(road.isHome == away.log.isEmpty || road.isBackThroughAnother)
        // Neither said nor stored where everybody may read it.
        #expect(!outcome.output.contains("S3CRET") && !outcome.errors.contains("S3CRET"))
        let status = try Program.run(["status", "--json", "--cache", Program.cache, url])
        #expect(!status.output.contains("S3CRET"), "\(status)")
        for name in names(in: Program.cache + "/.syncagent") where name.hasPrefix("state.db") {
            guard let bytes = try contents(of: "\(Program.cache)/.syncagent/\(name)") else { continue }
            #expect(!holds(bytes, "S3CRET"), "\(name)")
        }
    }

    @Test("a secret in a URL is never said, also when things fail", arguments: [404, 503, 302, 200])
    func masked(_ status: Int) throws {
        let origin = try TestOrigin { exchange in
            if status == 200 { return exchange.cut() }
            exchange.respond(status, [("Location", exchange.request.target + "&x")])
        }
        let url = "http://user:S3CRET@127.0.0.1:\(origin.port)/a.bin?sig=S3CRET&token=S3CRET"
        let outcome = try Program.sync([url, url + " x"], ["--retries", "0"])
        #expect(outcome.code == 1, "\(outcome)")
        #expect(!outcome.errors.contains("S3CRET"), "\(outcome)")
        for arguments in [["status"], ["status", url], ["status", "--json", url]] {
            let told = try Program.run(arguments + ["--cache", Program.cache])
            #expect(!told.output.contains("S3CRET") && !told.errors.contains("S3CRET"), "\(told)")
        }
    }

    private func holds(_ bytes: [UInt8], _ text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard bytes.count >= wanted.count else { return false }
        return (0...(bytes.count - wanted.count)).contains { start in
            bytes[start] == wanted[0] && bytes[start..<(start + wanted.count)].elementsEqual(wanted)
        }
    }

    @Test("a signed link that has expired is fetched anew, and the rest from there")
    func signedLink() throws {
        let origin = try TestOrigin { exchange in
            if exchange.request.path == "/link.bin" {
                return exchange.redirect(302, to: "/object?exp=\(exchange.repetition)")
            }
            // Each signature works once.
            if exchange.repetition > 0 {
                return exchange.respond(403, [("Content-Type", "application/xml")], Array("<expired/>".utf8))
            }
            exchange.serve(
                Resource(body), cutAfter: exchange.request.target == "/object?exp=0" ? 1500 : nil)
        }
        let outcome = try Program.sync(["\(origin.url)/link.bin"], ["--retries", "0"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(
            origin.log.map(\.target) == ["/link.bin", "/object?exp=0", "/link.bin", "/object?exp=1"])
        #expect(origin.log.map { $0.request.field("range") } == [nil, nil, nil, "bytes=1500-"])
        #expect(origin.log.last?.request.field("if-range") == "\"v1\"")
        #expect(try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))") == body)
    }

    @Test("many entries that are all sent elsewhere, over kept connections")
    func many() throws {
        let origin = try TestOrigin { exchange in
            exchange.request.path.hasPrefix("/real/")
                ? exchange.respond(200, [], Array(exchange.request.path.utf8))
                : exchange.redirect(303, to: "/real" + exchange.request.path)
        }
        let urls = (0..<40).map { "\(origin.url)/\($0)" }
        let outcome = try Program.sync(urls, ["--jobs", "8", "--per-host", "8"])
        #expect(outcome.code == 0, "\(outcome)")
        for (index, name) in try cacheNames(of: urls).enumerated() {
            #expect(try contents(of: "\(Program.cache)/\(name)") == Array("/real/\(index)".utf8))
        }
        #expect(Set(origin.log.map(\.connection)).count <= 8)
    }

    @Test("from https to http is refused before anything is asked there")
    func downgrade() throws {
        let plain = try TestOrigin { $0.serve(Resource(body)) }
        let authority = try Authority()
        let nginx = try Nginx(
            settings: """
                location /down.bin { return 302 \(plain.url)/x; }
                location /around.bin { return 302 /down.bin; }
                """, authority: authority)
        try write("fine", to: nginx.files + "/fine.txt")
        let secure = nginx.url
        let up = try TestOrigin { $0.redirect(302, to: "\(secure)/down.bin") }
        let urls = ["/down.bin", "/around.bin", "/fine.txt"].map { secure + $0 } + ["\(up.url)/up.bin"]
        let outcome = try Program.sync(urls, ["--cacert", authority.certificate])
        #expect(outcome.code == 1, "\(outcome)")
        #expect(Program.finished == (try cacheNames(of: [urls[2]])))
        #expect(plain.log.isEmpty)
        #expect(outcome.errors.contains("from https to http://"), "\(outcome)")
    }
}
