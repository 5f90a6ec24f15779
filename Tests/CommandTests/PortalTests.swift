internal import Posix
internal import TestOrigin
internal import Testing

private let size = 60_000
private let held = 20_000
private let real = pattern(seed: 91, count: size)
private let login = Array("<html><meta http-equiv=\"refresh\" content=\"0\">log in</html>".utf8)
private let html = ("Content-Type", "text/html")

private let pages: [Misbehaviour] =
    ["text/html", "Text/HTML; charset=UTF-8", " text/html ", "application/xhtml+xml"].map { type in
        Misbehaviour(
            "\(type) for /rec/1.ts", 75, nil, says: "captive portal", target: "/rec/1.ts",
            { $0.respond(200, [("Content-Type", type)], login) })
    }
    + ["/page.html", "/page.HTM", "/doc", "/", "/index.php?id=1"].map { target in
        Misbehaviour(
            "text/html for \(target) is no surprise", 0, login, target: target,
            { $0.respond(200, [html], login) })
    } + [
        Misbehaviour("no type at all", 0, login, { $0.respond(200, [], login) }),
        Misbehaviour(
            "text/plain for /x.json", 0, login, target: "/x.json",
            { $0.respond(200, [("Content-Type", "text/plain")], login) }),
        Misbehaviour(
            "text/html that is wanted", 0, login, options: ["--accept-html"],
            { $0.respond(200, [html], login) }),
        Misbehaviour(
            "a redirect to a login page", 75, nil, says: "captive portal",
            { exchange in
                exchange.request.path == "/login"
                    ? exchange.respond(200, [html], login) : exchange.respond(302, [("Location", "/login")])
            }),
        Misbehaviour("511", 75, nil, { $0.respond(511, [html], login) }),
        Misbehaviour(
            "a login page first, the file in the next run", 75, real, then: [0],
            { exchange in
                exchange.repetition == 0
                    ? exchange.respond(200, [html], login) : exchange.serve(Resource(real))
            }),
        Misbehaviour(
            "a login page for the rest: what is held stays", 75, real, then: [0],
            ranges: [nil, "bytes=\(held)-", "bytes=\(held)-"],
            { exchange in
                switch exchange.repetition {
                case 0: exchange.serve(Resource(real), cutAfter: held)
                case 1: exchange.respond(200, [html], login)
                default: exchange.serve(Resource(real))
                }
            }),
        Misbehaviour(
            "a login page as the rest: it is another version", 75, nil,
            ranges: [nil, "bytes=\(held)-", nil], kept: Array(real[..<held]),
            { exchange in
                switch exchange.repetition {
                case 0: exchange.serve(Resource(real), cutAfter: held)
                case 1:
                    exchange.respond(
                        206, [html, ("Content-Range", "bytes 0-\(login.count - 1)/\(login.count)")], login)
                default: exchange.respond(200, [html], login)
                }
            }),
    ]

@Suite("Captive portals", .scratch)
struct PortalTests {
    @Test("a page:", arguments: pages)
    func page(_ case: Misbehaviour) throws { try `case`.verify(retries: 0) }

    @Test("a login page never takes the place of a copy")
    func copyStays() throws {
        let origin = try TestOrigin { exchange in
            exchange.repetition == 0 ? exchange.serve(Resource(real)) : exchange.respond(200, [html], login)
        }
        let url = "\(origin.url)/a.bin"
        #expect(try Program.sync([url]).code == 0)
        #expect(try Program.sync([url], ["--retries", "0"]).code == 75)
        #expect(try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))") == real)
    }

    @Test("a page that was taken is asked about in the next run, whatever it said of its age")
    func noTrust() throws {
        let origin = try TestOrigin { exchange in
            if exchange.repetition > 0 { return exchange.serve(Resource(real)) }
            exchange.respond(200, [html, ("Cache-Control", "max-age=86400, immutable")], login)
        }
        let url = "\(origin.url)/a.bin"
        #expect(try Program.sync([url], ["--accept-html", "--max-age", "server"]).code == 0)
        #expect(try Program.sync([url], ["--max-age", "server"]).code == 0)
        #expect(try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))") == real)
    }
}
