internal import Posix
internal import TestOrigin
internal import Testing

private let size = 1000
private let body = pattern(seed: 41, count: size)
private let large = pattern(seed: 42, count: 5000)
private let v1 = ("ETag", "\"v1\"")

/// An answer of these header lines and the body, then the end of the connection.
private func raw(_ lines: String, _ content: [UInt8] = body) -> @Sendable (inout Exchange) -> Void {
    { exchange in
        exchange.send("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n")
        exchange.send(content)
        exchange.close()
    }
}

private let goodLengths = [
    "Content-Length: 1000\r\nContent-Length: 1000", "Content-Length: 1000, 1000",
    "Content-Length: 1000 , 01000",
    "content-length:1000",
]
private let badLengths = [
    "Content-Length: 1000\r\nContent-Length: 500", "Content-Length: 1000, 500", "Content-Length: +1000",
    "Content-Length: -1000", "Content-Length: 1_000", "Content-Length: 1000 abc", "Content-Length: 0x3e8",
    "Content-Length: 1000.0", "Content-Length: 1000,", "Content-Length: ",
    "Content-Length: 18446744073709552616",
]

private let messages: [Misbehaviour] =
    goodLengths.map { Misbehaviour("'\($0)'", 0, body, raw($0)) }
    + badLengths.map { Misbehaviour("'\($0)'", 75, nil, raw($0)) } + [
        Misbehaviour(
            "trailers after the last chunk", 0, body,
            raw(
                "Transfer-Encoding: chunked\r\nTrailer: ETag",
                Array("3e8\r\n".utf8) + body + Array("\r\n0\r\nETag: \"t\"\r\n\r\n".utf8))),
        Misbehaviour(
            "no last chunk, and a close", 75, nil, kept: body,
            raw("Transfer-Encoding: chunked", Array("3e8\r\n".utf8) + body + Array("\r\n".utf8))),
        Misbehaviour(
            "chunks that are no chunks", 75, nil, raw("Transfer-Encoding: chunked")),
        Misbehaviour(
            "an unknown transfer coding", 75, nil, raw("Transfer-Encoding: gzip, chunked")),
        Misbehaviour(
            "more bytes than announced", 0, body, raw("Content-Length: 1000", body + Array("surplus".utf8))),
        Misbehaviour(
            "a protocol nobody asked for", 75, nil,
            { exchange in
                exchange.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")
                exchange.send(body)
                exchange.close()
            }),
        Misbehaviour(
            "a reset right after the last byte", 0, body,
            { exchange in
                exchange.sendHead(200, [], length: size)
                exchange.send(body)
                exchange.cut(reset: true)
            }),
        Misbehaviour(
            "a length, and not one byte of it", 75, nil, says: "0 of 1000 bytes",
            raw("Content-Length: 1000", [])),
        Misbehaviour("an empty file", 0, [], then: [0], { $0.serve(Resource([])) }),
        Misbehaviour("nothing until the close", 0, [], raw("X-Length: none", [])),
    ]

private let codings: [Misbehaviour] =
    ["identity", "", "IDENTITY", "identity, identity"].map { coding in
        Misbehaviour(
            "Content-Encoding: '\(coding)' is none", 0, body,
            { $0.respond(200, [("Content-Encoding", coding)], body) })
    }
    + ["gzip", "x-gzip", "aws-chunked", "br, gzip", "gzip, identity", "nonsense"].map { coding in
        Misbehaviour(
            "Content-Encoding: '\(coding)' nobody asked for", 1, nil, says: "--accept-coded",
            { $0.respond(200, [("Content-Encoding", coding)], body) })
    }
    + ["x-gzip", "GZIP", "aws-chunked", "br, gzip"].map { coding in
        Misbehaviour(
            "Content-Encoding: '\(coding)' when asked for what comes", 0, body,
            options: ["--accept-coded"], { $0.respond(200, [("Content-Encoding", coding)], body) })
    }
    + ["/a.gz", "/a.tar.gz", "/a.tgz", "/a.TGZ", "/a.svgz"].flatMap { target in
        ["gzip", "x-gzip"].map { coding in
            Misbehaviour(
                "Content-Encoding: '\(coding)' of \(target) is its own nature", 0, body, target: target,
                { $0.respond(200, [("Content-Encoding", coding)], body) })
        }
    }
    + [
        Misbehaviour(
            "Content-Encoding: 'br' of /a.gz is not its nature", 1, nil, target: "/a.gz",
            { $0.respond(200, [("Content-Encoding", "br")], body) }),
        Misbehaviour(
            "a checksum of what is received judges, whatever it is called", 0, Array("hello".utf8),
            settings: "\tchecksum=md5=5d41402abc4b2a76b9719d911017c592",
            { $0.respond(200, [("Content-Encoding", "x-gzip")], Array("hello".utf8)) }),
        Misbehaviour(
            "a server that codes whatever allows it gets no chance", 0, large, ranges: [nil, "bytes=2000-"],
            { exchange in
                if exchange.request.field("accept-encoding") != "identity" {
                    return exchange.respond(200, [v1, ("Content-Encoding", "gzip")], [1, 2, 3])
                }
                exchange.serve(Resource(large), cutAfter: exchange.repetition == 0 ? 2000 : nil)
            }),
    ]

@Suite("Messages", .scratch)
struct MessageTests {
    @Test("framing:", arguments: messages)
    func framing(_ case: Misbehaviour) throws { try `case`.verify(retries: 0) }

    @Test("coding:", arguments: codings)
    func coding(_ case: Misbehaviour) throws { try `case`.verify(retries: 0) }

    @Test("a body that ends early keeps the copy of an earlier run", arguments: [true, false])
    func copyStays(isChunked: Bool) throws {
        let origin = try TestOrigin { exchange in
            if exchange.repetition == 0 { return exchange.serve(Resource(body)) }
            let framing = isChunked ? ("Transfer-Encoding", "chunked") : ("Content-Length", "1000")
            exchange.sendHead(200, [("ETag", "\"v2\""), framing], length: nil)
            if isChunked { exchange.send("190\r\n") }
            exchange.send(Array(body.reversed()[..<400]) + (isChunked ? Array("\r\n".utf8) : []))
            exchange.close()
        }
        let url = "\(origin.url)/a.bin"
        #expect(try Program.sync([url]).code == 0)
        let outcome = try Program.sync([url], ["--retries", "0"])
        #expect(outcome.code == 75, "\(outcome)")
        #expect(outcome.errors.contains("stays"))
        #expect(try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))") == body)
    }

    /// What the first of two entries gets, and whether its connection may serve the second.
    struct Pair: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let isKept: Bool
        let code: Int32
        let first: @Sendable (inout Exchange) -> Void

        init(
            _ description: String, isKept: Bool, code: Int32 = 0,
            _ first: @escaping @Sendable (inout Exchange) -> Void
        ) {
            testDescription = description
            self.isKept = isKept
            self.code = code
            self.first = first
        }
    }

    private static let fake = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nEVIL!"

    static let pairs = [
        Pair("a length", isKept: true) { $0.respond(200, [], body) },
        Pair("interim answers", isKept: true) { exchange in
            exchange.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
            exchange.respond(200, [], body)
        },
        Pair("trailers", isKept: true) { exchange in
            exchange.sendHead(
                200, [("Transfer-Encoding", "chunked"), ("Trailer", "ETag")], length: nil)
            exchange.send(
                Array("3e8\r\n".utf8) + body + Array("\r\n0\r\nETag: \"t\"\r\n\r\n".utf8))
        },
        Pair("a small answer that is not wanted", isKept: true, code: 1) { exchange in
            exchange.respond(404, [], Array(fake.utf8))
        },
        Pair("a large answer that is not wanted", isKept: false, code: 1) { exchange in
            let filling = Array(String(repeating: fake, count: 40_000).utf8)
            exchange.respond(404, [], filling)
        },
        Pair("an answer after the answer", isKept: false) { exchange in
            exchange.sendHead(200, [], length: body.count)
            exchange.send(body + Array(fake.utf8))
        },
        Pair("an answer after the last chunk", isKept: false) { exchange in
            exchange.sendHead(200, [("Transfer-Encoding", "chunked")], length: nil)
            exchange.send(Array("3e8\r\n".utf8) + body + Array("\r\n0\r\n\r\n\(fake)".utf8))
        },
        Pair("a checksum that is wrong", isKept: true, code: 1) { exchange in
            exchange.respond(200, [("Repr-Digest", "md5=:AAAAAAAAAAAAAAAAAAAAAA==:")], body)
        },
        Pair("a 206 with more than its range", isKept: false, code: 75) { exchange in
            if exchange.request.field("range") == nil {
                return exchange.serve(Resource(body), cutAfter: 400)
            }
            exchange.sendHead(
                206, [v1, ("Content-Range", "bytes 400-999/1000"), ("Transfer-Encoding", "chunked")],
                length: nil)
            exchange.send("2710\r\n")
            exchange.send(Array(String(repeating: fake, count: 1000).utf8))
        },
    ]

    @Test("the next file gets its own answer after", arguments: pairs)
    func nextAnswer(_ pair: Pair) throws {
        let world = Array("world".utf8)
        let origin = try TestOrigin { exchange in
            exchange.request.path == "/x.bin" ? pair.first(&exchange) : exchange.respond(200, [], world)
        }
        let urls = ["\(origin.url)/x.bin", "\(origin.url)/y.bin"]
        let outcome = try Program.sync(urls, ["--jobs", "1", "--retries", "0"])
        #expect(outcome.code == pair.code, "\(outcome)")
        let names = try cacheNames(of: urls)
        #expect(try contents(of: "\(Program.cache)/\(names[1])") == world)
        let first = try contents(of: "\(Program.cache)/\(names[0])")
        #expect(first == (pair.code == 0 ? body : nil))
        let log = origin.log
        let asked = try #require(log.last { $0.target == "/x.bin" })
        let next = try #require(log.last)
        #expect(next.target == "/y.bin")
        #expect((next.connection == asked.connection) == pair.isKept)
    }

    @Test("what one mirror calls coded and another does not is one and the same archive")
    func codedByOneMirror() throws {
        let origin = try TestOrigin { exchange in
            switch exchange.request.path {
            case "/a.tar.gz":
                exchange.respond(302, [("Location", exchange.repetition == 0 ? "/one.gz" : "/two.gz")])
            case "/one.gz":
                var resource = Resource(body)
                resource.fields = [("Content-Encoding", "x-gzip")]
                exchange.serve(resource)
            default: exchange.serve(Resource(body))
            }
        }
        let url = "\(origin.url)/a.tar.gz"
        #expect(try Program.sync([url]).code == 0)
        #expect(try Program.sync([url]).code == 0)
        #expect(origin.log.map(\.status) == [302, 200, 302, 304])
        #expect(try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))") == body)
    }

    @Test("small files come over one connection")
    func oneConnection() throws {
        let origin = try TestOrigin { exchange in
            exchange.respond(200, [], Array(exchange.request.target.utf8))
        }
        let urls = (0..<40).map { "\(origin.url)/\($0)" }
        #expect(try Program.sync(urls, ["--jobs", "1"]).code == 0)
        #expect(Set(origin.log.map(\.connection)).count == 1)
        for (index, name) in try cacheNames(of: urls).enumerated() {
            #expect(try contents(of: "\(Program.cache)/\(name)") == Array("/\(index)".utf8))
        }
    }
}
