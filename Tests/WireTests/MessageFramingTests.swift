import Testing

@testable internal import Wire

@Suite struct MessageFramingTests {
    static let framed: [(head: String, body: BodyFraming, keeps: Bool)] = [
        ("HTTP/1.1 200 OK\nContent-Length: 5", .length(5), true),
        ("HTTP/1.1 200 OK\nContent-Length: 0", .length(0), true),
        ("HTTP/1.1 200 OK\nContent-Length: 0005", .length(5), true),
        ("HTTP/1.1 200 OK\nContent-Length: 5, 5", .length(5), true),
        ("HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 05", .length(5), true),
        ("HTTP/1.1 200 OK\nContent-Length: 9223372036854775807", .length(9_223_372_036_854_775_807), true),
        ("HTTP/1.1 200 OK\nContent-Length: 5\nConnection: close", .length(5), false),
        ("HTTP/1.1 200 OK\nContent-Length: 5\nConnection: x, CLOSE", .length(5), false),
        ("HTTP/1.1 200 OK\nContent-Length: 5\nConnection: x\nConnection: close", .length(5), false),
        ("HTTP/1.1 200 OK\nContent-Length: 5\nConnection: closed", .length(5), true),
        ("HTTP/1.0 200 OK\nContent-Length: 5", .length(5), false),
        ("HTTP/1.0 200 OK\nContent-Length: 5\nConnection: Keep-Alive", .length(5), true),
        ("HTTP/1.0 200 OK\nContent-Length: 5\nConnection: keep-alive, close", .length(5), false),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", .chunked, true),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: CHUNKED", .chunked, true),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: , chunked ,", .chunked, true),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Length: 5", .chunked, false),
        ("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nContent-Length: x", .chunked, false),
        ("HTTP/1.0 200 OK\nTransfer-Encoding: chunked\nConnection: keep-alive", .chunked, false),
        ("HTTP/1.1 200 OK", .untilClose, false),
        ("HTTP/1.1 206 x\nConnection: keep-alive", .untilClose, false),
        ("HTTP/1.1 204 x", .none, true),
        ("HTTP/1.1 204 x\nContent-Length: 0", .none, true),
        ("HTTP/1.1 204 x\nContent-Length: 5", .none, false),
        ("HTTP/1.1 204 x\nTransfer-Encoding: chunked", .none, false),
        ("HTTP/1.1 304 x\nContent-Length: 5", .none, true),
        ("HTTP/1.1 304 x\nContent-Length: x\nTransfer-Encoding: gzip", .none, true),
        ("HTTP/1.1 304 x\nConnection: close", .none, false),
        ("HTTP/1.1 100 x", .none, true),
        ("HTTP/1.1 101 x", .none, false),
        ("HTTP/1.1 404 x\nContent-Length: 5", .length(5), true),
    ]

    @Test(arguments: framed)
    func knowsWhereTheBodyEnds(_ row: (head: String, body: BodyFraming, keeps: Bool)) throws {
        let framing = try MessageFraming(head: makeHead(row.head))
        #expect(framing.body == row.body)
        #expect(framing.keepsConnection == row.keeps)
    }

    static let refused: [(fields: String, error: MessageError)] = [
        ("Content-Length: 5\nContent-Length: 6", .differentContentLengths(5, 6)),
        ("Content-Length: 1000, 500", .differentContentLengths(1000, 500)),
        ("Content-Length:", .malformedContentLength("")),
        ("Content-Length: -1", .malformedContentLength("-1")),
        ("Content-Length: +1", .malformedContentLength("+1")),
        ("Content-Length: 0x5", .malformedContentLength("0x5")),
        ("Content-Length: 5 5", .malformedContentLength("5 5")),
        ("Content-Length: 5,", .malformedContentLength("5,")),
        ("Content-Length: 5.0", .malformedContentLength("5.0")),
        ("Content-Length: \u{0665}", .malformedContentLength("\u{0665}")),
        ("Content-Length: 9223372036854775808", .contentLengthTooLarge),
        ("Content-Length: 18446744073709551616", .contentLengthTooLarge),
        ("Content-Length: 99999999999999999999999999", .contentLengthTooLarge),
        ("Transfer-Encoding: gzip, chunked", .unsupportedTransferCoding("gzip, chunked")),
        ("Transfer-Encoding: gzip\nTransfer-Encoding: chunked", .unsupportedTransferCoding("gzip, chunked")),
        ("Transfer-Encoding: chunked, chunked", .unsupportedTransferCoding("chunked, chunked")),
        ("Transfer-Encoding: chunked;x", .unsupportedTransferCoding("chunked;x")),
        ("Transfer-Encoding: identity", .unsupportedTransferCoding("identity")),
        ("Transfer-Encoding:", .unsupportedTransferCoding("")),
        ("Transfer-Encoding: xchunked\nContent-Length: 5", .unsupportedTransferCoding("xchunked")),
    ]

    @Test(arguments: refused)
    func refusesContradictions(_ row: (fields: String, error: MessageError)) throws {
        let head = try makeHead("HTTP/1.1 200 OK\n" + row.fields)
        #expect(throws: row.error) { try MessageFraming(head: head) }
    }

    @Test func givesAnAnswerToHEADNoBody() throws {
        let head = try makeHead("HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: gzip")
        let framing = try MessageFraming(head: head, requestMethodIsHead: true)
        #expect(framing.body == .none)
        #expect(framing.keepsConnection)
    }

    @Test func cutsWhatItQuotes() throws {
        let head = try makeHead("HTTP/1.1 200 OK\nContent-Length: " + String(repeating: "x", count: 1000))
        let quoted = String(repeating: "x", count: 64)
        #expect(throws: MessageError.malformedContentLength(quoted)) { try MessageFraming(head: head) }
    }
}
