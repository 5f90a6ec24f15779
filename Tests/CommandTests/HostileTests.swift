internal import Posix
internal import TestOrigin
internal import Testing

private let size = 300_000
private let held = 100_000
private let old = pattern(seed: 21, count: size)
private let new = pattern(seed: 22, count: size)
private let resumed = "bytes=\(held)-"

/// The first answer breaks off after `held` bytes; the later ones are the case's own.
private func afterCut(
    fields: [(String, String)] = [("ETag", "\"v1\"")],
    _ handler: @escaping @Sendable (inout Exchange, _ repetition: Int) -> Void
) -> @Sendable (inout Exchange) -> Void {
    { exchange in
        if exchange.repetition > 0 { return handler(&exchange, exchange.repetition) }
        exchange.sendHead(200, fields, length: size)
        exchange.send(Array(old[..<held]))
        exchange.cut()
    }
}

/// A second answer that cannot be used; the plain GET after it gets the whole.
private func afterCut(
    _ status: Int, _ fields: [(String, String)], _ body: [UInt8]
) -> @Sendable (inout Exchange) -> Void {
    afterCut { exchange, repetition in
        if repetition == 1 { return exchange.respond(status, fields, body) }
        exchange.serve(Resource(old))
    }
}

private func range(_ text: String) -> (String, String) { ("Content-Range", "bytes \(text)") }
private let v1 = ("ETag", "\"v1\"")
private let rest = Array(old[held...])

private let resumption: [Misbehaviour] = [
    Misbehaviour(
        "a proper 206", 0, old, ranges: [nil, resumed],
        afterCut { exchange, _ in exchange.serve(Resource(old)) }),
    Misbehaviour(
        "a 206 that starts elsewhere", 0, old, ranges: [nil, resumed, nil],
        afterCut(206, [v1, range("0-\(size - 1)/\(size)")], old)),
    Misbehaviour(
        "a 206 of another total", 0, old, ranges: [nil, resumed, nil],
        afterCut(206, [v1, range("\(held)-\(size)/\(size + 1)")], rest + [0])),
    Misbehaviour(
        "a 206 without Content-Range", 0, old, ranges: [nil, resumed, nil],
        afterCut(206, [v1], rest)),
    Misbehaviour(
        "a 206 in another unit", 0, old, ranges: [nil, resumed, nil],
        afterCut(206, [v1, ("Content-Range", "lines \(held)-\(size - 1)/\(size)")], rest)),
    Misbehaviour(
        "a 206 whose length is not its range's", 0, old, ranges: [nil, resumed, nil],
        afterCut(206, [v1, range("\(held)-\(size - 1)/\(size)")], Array(rest.dropLast(5)))),
    Misbehaviour(
        "a 206 of another version", 0, old, ranges: [nil, resumed, nil],
        afterCut(206, [("ETag", "\"v2\""), range("\(held)-\(size - 1)/\(size)")], Array(new[held...]))),
    Misbehaviour(
        "a 206 that is coded", 0, old, ranges: [nil, resumed, nil],
        afterCut(206, [v1, ("Content-Encoding", "gzip"), range("\(held)-\(size - 1)/\(size)")], rest)),
    Misbehaviour(
        "a 206 that ends before the total is progress", 0, old, ranges: [nil, resumed, "bytes=200000-"],
        afterCut { exchange, repetition in
            if repetition > 1 { return exchange.serve(Resource(old)) }
            exchange.respond(206, [v1, range("\(held)-199999/\(size)")], Array(old[held..<200_000]))
        }),
    Misbehaviour(
        "parts of a size that nobody tells: the last is followed by a 416 and a proof", 0, old,
        ranges: [nil, resumed, "bytes=200000-", "bytes=\(size)-", nil],
        { exchange in
            switch exchange.repetition {
            case 0:
                exchange.sendHead(200, [v1, ("Transfer-Encoding", "chunked")], length: nil)
                exchange.send("\(String(held, radix: 16))\r\n")
                exchange.send(Array(old[..<held]) + Array("\r\n".utf8))
                exchange.cut()
            case 1: exchange.respond(206, [v1, range("\(held)-199999/*")], Array(old[held..<200_000]))
            case 2: exchange.respond(206, [v1, range("200000-\(size - 1)/*")], Array(old[200_000...]))
            case 3: exchange.respond(416, [range("*/\(size)")])
            default: exchange.respond(exchange.request.field("if-none-match") == "\"v1\"" ? 304 : 500, [v1])
            }
        }),
    Misbehaviour(
        // The same version came whole: once more with Range alone, in case only If-Range is not understood.
        "Range is ignored", 0, old, ranges: [nil, resumed, resumed],
        afterCut { exchange, _ in exchange.respond(200, [v1], old) }),
    Misbehaviour(
        "the file changed in between", 0, new, ranges: [nil, resumed],
        afterCut { exchange, _ in exchange.serve(Resource(new, etag: "\"v2\"")) }),
    Misbehaviour(
        "a 200 that claims to be a part", 0, old, ranges: [nil, resumed, nil],
        afterCut(200, [v1, range("\(held)-\(size - 1)/\(size)")], rest)),
    Misbehaviour(
        "a 416 starts over", 0, old, ranges: [nil, resumed, nil],
        afterCut(416, [("Content-Range", "bytes */50")], [])),
    Misbehaviour(
        "a weak ETag is no ground for Range", 0, old, ranges: [nil, nil],
        afterCut(fields: [("ETag", "W/\"v1\"")]) { exchange, _ in
            exchange.serve(Resource(old, etag: "W/\"v1\""))
        }),
    Misbehaviour(
        "no validator is no ground for Range", 0, old, ranges: [nil, nil],
        afterCut(fields: []) { exchange, _ in exchange.serve(Resource(old, etag: nil)) }),
    Misbehaviour(
        "a chunked body without its last chunk", 0, old, ranges: [nil, resumed],
        { exchange in
            if exchange.repetition > 0 { return exchange.serve(Resource(old)) }
            exchange.sendHead(200, [v1, ("Transfer-Encoding", "chunked")], length: nil)
            exchange.send("\(String(held, radix: 16))\r\n")
            exchange.send(Array(old[..<held]) + Array("\r\n".utf8))
            exchange.cut()
        }),
    Misbehaviour(
        "a reset in mid-body", 0, old, ranges: nil,
        { exchange in
            exchange.serve(Resource(old), cutAfter: exchange.repetition == 0 ? held : nil, reset: true)
        }),
]

private let answers: [Misbehaviour] = [
    Misbehaviour("404", 1, nil, { $0.respond(404) }),
    Misbehaviour("410", 1, nil, { $0.respond(410) }),
    Misbehaviour("403", 1, nil, { $0.respond(403) }),
    Misbehaviour("401", 1, nil, { $0.respond(401, [("WWW-Authenticate", "Basic realm=\"x\"")]) }),
    Misbehaviour("204", 1, nil, { $0.respond(204) }),
    Misbehaviour("300", 1, nil, { $0.respond(300) }),
    Misbehaviour("416 to a plain GET", 1, nil, { $0.respond(416) }),
    Misbehaviour("202", 75, nil, { $0.respond(202) }),
    Misbehaviour("408", 75, nil, { $0.respond(408) }),
    Misbehaviour("425", 75, nil, { $0.respond(425) }),
    Misbehaviour("429", 75, nil, { $0.respond(429) }),
    Misbehaviour("500", 75, nil, { $0.respond(500) }),
    Misbehaviour("503", 75, nil, { $0.respond(503) }),
    Misbehaviour("511", 75, nil, { $0.respond(511, [("Content-Type", "text/html")], Array("<html>".utf8)) }),
    Misbehaviour("a 304 nobody asked for", 75, nil, { $0.respond(304) }),
    Misbehaviour("no answer at all", 75, nil, { $0.close() }),
    Misbehaviour(
        "garbage", 75, nil,
        {
            $0.send("\u{1}\u{2}garbage\r\n\r\n"); $0.close()
        }),
    Misbehaviour(
        "two lengths that differ", 75, nil,
        {
            $0.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"); $0.close()
        }),
    Misbehaviour(
        "a length beyond all bounds", 75, nil,
        {
            $0.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nabc"); $0.close()
        }),
    Misbehaviour(
        "a chunk size beyond all bounds", 75, nil,
        {
            $0.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nabc");
            $0.close()
        }),
    Misbehaviour(
        "a head that never ends", 75, nil,
        { exchange in
            exchange.send("HTTP/1.1 200 OK\r\n")
            let line = "X-Filler: \(String(repeating: "x", count: 1000))\r\n"
            for _ in 0..<10_000 where exchange.isOpen { exchange.send(line) }
            exchange.stall()
        }),
    Misbehaviour(
        "interim answers without end", 75, nil,
        { exchange in
            for _ in 0..<1000 where exchange.isOpen { exchange.send("HTTP/1.1 100 Continue\r\n\r\n") }
            exchange.stall()
        }),
    Misbehaviour(
        "three interim answers", 0, [7],
        { exchange in
            for _ in 0..<3 { exchange.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") }
            exchange.respond(200, [], [7])
        }),
    Misbehaviour(
        "a body coded unasked", 1, nil, { $0.respond(200, [("Content-Encoding", "gzip")], [1, 2, 3]) }),
    Misbehaviour(
        "a 206 nobody asked for, of the whole", 0, [1, 2], { $0.respond(206, [range("0-1/2")], [1, 2]) }),
    Misbehaviour(
        "a body that ends at close", 0, [1, 2],
        {
            $0.send("HTTP/1.0 200 OK\r\n\r\n\u{1}\u{2}"); $0.close()
        }),
    Misbehaviour(
        "bytes after the end of the message", 0, [97],
        {
            $0.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\n"); $0.stall()
        }),
    Misbehaviour(
        "a wrong checksum", 1, settings: "\tchecksum=md5=00000000000000000000000000000000",
        { $0.respond(200, [], [1]) }),
    Misbehaviour("a redirect to itself", 1, nil, { $0.respond(302, [("Location", $0.request.target)]) }),
    Misbehaviour(
        "a redirect that goes on and on", 1, nil, { $0.respond(301, [("Location", $0.request.target + "x")]) }
    ),
    Misbehaviour("a redirect without Location", 1, nil, { $0.respond(302) }),
    Misbehaviour(
        "a redirect to a file on disk", 1, nil, { $0.respond(302, [("Location", "file:///etc/passwd")]) }),
    Misbehaviour("a redirect to ftp", 1, nil, { $0.respond(307, [("Location", "ftp://127.0.0.1/x")]) }),
    Misbehaviour(
        "a redirect elsewhere", 0, [5],
        { exchange in
            exchange.request.path == "/real"
                ? exchange.respond(200, [], [5]) : exchange.respond(308, [("Location", "/real")])
        }),
    Misbehaviour("no head in time", 75, options: ["--head-timeout", "1"], { $0.stall() }),
    Misbehaviour(
        "a body that stalls", 75, options: ["--stall-timeout", "1"],
        { exchange in
            exchange.sendHead(200, [], length: 1000)
            exchange.send("abc")
            exchange.stall()
        }),
]

@Suite("Hostile origins", .scratch)
struct HostileTests {
    @Test("a transfer that broke off, then", arguments: resumption)
    func resuming(_ case: Misbehaviour) throws { try `case`.verify(retries: 2) }

    @Test("the answer is", arguments: answers)
    func answering(_ case: Misbehaviour) throws { try `case`.verify(retries: 0) }

    @Test("a refresh that fails keeps the copy", arguments: [(404, 1), (410, 1), (500, 75), (200, 75)])
    func failedRefresh(_ status: Int, _ code: Int32) throws {
        let origin = try TestOrigin { exchange in
            if exchange.repetition == 0 { return exchange.serve(Resource(old)) }
            if status != 200 { return exchange.respond(status) }
            // A new version that breaks off each time, without a byte of its body.
            exchange.sendHead(200, [("ETag", "\"v2\"")], length: size)
            exchange.cut()
        }
        let url = "\(origin.url)/file.bin"
        #expect(try Program.sync([url]).code == 0)
        let outcome = try Program.sync([url], ["--retries", "0"])
        #expect(outcome.code == code, "\(outcome)")
        let name = try #require(try cacheNames(of: [url]).first)
        let isSame = try contents(of: "\(Program.cache)/\(name)") == old
        #expect(isSame, "the old copy's bytes")
        #expect(origin.log.last?.request.field("if-none-match") == "\"v1\"")
    }

    @Test("a 304 of another version is not believed")
    func foreignNotModified() throws {
        let origin = try TestOrigin { exchange in
            switch exchange.repetition {
            case 0: exchange.serve(Resource(old))
            case 1: exchange.respond(304, [("ETag", "\"v2\"")])
            default: exchange.serve(Resource(new, etag: "\"v2\""))
            }
        }
        let url = "\(origin.url)/file.bin"
        #expect(try Program.sync([url]).code == 0)
        let outcome = try Program.sync([url], ["--retries", "0"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(origin.log.map { $0.request.field("if-none-match") } == [nil, "\"v1\"", nil])
        let name = try #require(Program.finished.first)
        let isSame = try contents(of: "\(Program.cache)/\(name)") == new
        #expect(isSame, "the new version's bytes")
    }

    @Test("one bad host stops no other, and the run ends as the worst of them")
    func oneOfMany() throws {
        let origin = try TestOrigin { exchange in
            exchange.request.path == "/gone" ? exchange.respond(404) : exchange.respond(200, [], [1])
        }
        let refusing = try refusingPort()
        let urls = ["http://127.0.0.1:\(refusing)/a", "\(origin.url)/gone", "\(origin.url)/b.txt"]
        let outcome = try Program.sync(urls, ["--retries", "0"])
        #expect(outcome.code == 1, "\(outcome)")
        #expect(Program.finished == (try cacheNames(of: [urls[2]])))
        let refused = try Program.run(
            ["sync", try Program.manifest([urls[0]]), "--cache", scratch("other"), "--retries", "0"])
        #expect(refused.code == 75, "\(refused)")
    }

    @Test("at most twenty lines, then a count")
    func manyFailures() throws {
        let origin = try TestOrigin { $0.respond(404) }
        let outcome = try Program.sync((0..<50).map { "\(origin.url)/\($0)" }, ["--retries", "0"])
        #expect(outcome.code == 1, "\(outcome)")
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count <= 21 && lines.count > 1)
        #expect(lines.allSatisfy { $0.hasPrefix("syncagent: ") })
    }
}
