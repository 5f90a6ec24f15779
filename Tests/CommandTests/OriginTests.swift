internal import Posix
internal import TestOrigin
internal import Testing

/// The origin that the other tests trust.
@Suite("Test origin")
struct OriginTests {
    private static let resource = Resource(
        Array("0123456789".utf8), etag: "\"v1\"", lastModified: "Thu, 01 Jan 2026 00:00:00 GMT")

    private func answer(
        _ fields: String, method: String = "GET", _ handler: @escaping @Sendable (inout Exchange) -> Void
    ) throws -> (text: String, wasReset: Bool) {
        let origin = try TestOrigin(handler: handler)
        let client = try RawClient(port: origin.port)
        try client.send("\(method) /x HTTP/1.1\r\nHost: a\r\n\(fields)Connection: close\r\n\r\n")
        let (bytes, wasReset) = try client.receiveAll()
        origin.stop()
        return (String(decoding: bytes, as: UTF8.self), wasReset)
    }

    @Test(
        "a resource obeys ranges and conditions",
        arguments: [
            ("", 200, "0123456789"), ("Range: bytes=4-\r\n", 206, "456789"),
            ("range: bytes=4-5\r\n", 206, "45"),
            ("Range: bytes=-3\r\n", 206, "789"), ("Range: bytes=9-99\r\n", 206, "9"),
            ("Range: bytes=10-\r\n", 416, ""), ("Range: bytes=5-4\r\n", 200, "0123456789"),
            ("Range: bytes=0-1,3-4\r\n", 200, "0123456789"),
            ("Range: bytes=4-\r\nIf-Range: \"v1\"\r\n", 206, "456789"),
            ("Range: bytes=4-\r\nIf-Range: \"v2\"\r\n", 200, "0123456789"),
            ("Range: bytes=4-\r\nIf-Range: W/\"v1\"\r\n", 200, "0123456789"),
            ("Range: bytes=4-\r\nIf-Range: Thu, 01 Jan 2026 00:00:00 GMT\r\n", 206, "456789"),
            ("If-None-Match: W/\"v1\"\r\n", 304, ""), ("If-None-Match: \"a\", \"v1\"\r\n", 304, ""),
            (
                "If-None-Match: \"v2\"\r\nIf-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT\r\n", 200,
                "0123456789"
            ),
            ("If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT\r\n", 304, ""),
            ("If-Modified-Since: Wed, 31 Dec 2025 23:59:59 GMT\r\n", 200, "0123456789"),
        ])
    func conditions(_ fields: String, _ status: Int, _ body: String) throws {
        let (text, _) = try answer(fields) { $0.serve(Self.resource) }
        #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)")
        #expect(text.hasSuffix("\r\n\r\n" + body), "\(text)")
    }

    @Test("HEAD has the length and no body")
    func head() throws {
        let (text, _) = try answer("", method: "HEAD") { $0.serve(Self.resource) }
        #expect(text.contains("Content-Length: 10\r\n"))
        #expect(text.hasSuffix("\r\n\r\n"))
    }

    @Test("a cut sends exactly the bytes before it, and ends as asked", arguments: [false, true])
    func cut(reset: Bool) throws {
        let (text, wasReset) = try answer("") { $0.serve(Self.resource, cutAfter: 4, reset: reset) }
        #expect(text.hasSuffix("\r\n\r\n0123"), "\(text)")
        #expect(wasReset == reset)
    }

    @Test("the log has method, target, status, bytes of the body and connection of each request")
    func log() throws {
        let origin = try TestOrigin { exchange in
            exchange.repetition == 0 ? exchange.respond(200, [], Array("abc".utf8)) : exchange.respond(404)
        }
        let client = try RawClient(port: origin.port)
        try client.send("GET /a?b HTTP/1.1\r\n\r\nGET /a?b HTTP/1.1\r\nConnection: close\r\n\r\n")
        _ = try client.receiveAll()
        origin.stop()
        let log = origin.log
        #expect(log.map(\.target) == ["/a?b", "/a?b"])
        #expect(log.map(\.status) == [200, 404])
        #expect(log.map(\.sent) == [3, 0])
        #expect(log.map(\.connection) == [0, 0])
        #expect(log.allSatisfy { $0.isFinished })
    }

    @Test("a stalled handler returns when the origin stops")
    func stall() throws {
        let origin = try TestOrigin { $0.stall() }
        let client = try RawClient(port: origin.port)
        try client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(origin.wait { $0.count == 1 })
        origin.stop()
        #expect(origin.log.first?.isFinished == true)
        let received = try client.receiveAll()
        #expect(received.bytes.isEmpty)
    }

    @Test("the pattern is the same wherever its parts begin")
    func patterns() {
        let whole = pattern(seed: 9, count: 100)
        for start in 0...20 {
            for count in [0, 1, 7, 8, 9, 40] {
                #expect(pattern(seed: 9, from: start, count: count) == Array(whole[start..<start + count]))
            }
        }
        #expect(whole != pattern(seed: 10, count: 100))
    }

    @Test("dates are written as HTTP wants them")
    func dates() {
        #expect(httpDate(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
}
