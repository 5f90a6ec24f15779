import Testing

@testable internal import Wire

@Suite struct ResponseHeadTests {
    static let statusLines: [(line: String, minor: Int, status: Int, reason: String)] = [
        ("HTTP/1.1 200 OK", 1, 200, "OK"), ("HTTP/1.0 404 Not Found", 0, 404, "Not Found"),
        ("HTTP/1.1 200", 1, 200, ""), ("HTTP/1.1 200 ", 1, 200, ""),
        ("HTTP/1.1 100 Continue", 1, 100, "Continue"),
        ("HTTP/1.1 599 \u{E9}", 1, 599, "\u{E9}"), ("HTTP/1.9 206  x ", 9, 206, " x "),
    ]

    @Test(arguments: statusLines)
    func readsStatusLines(_ row: (line: String, minor: Int, status: Int, reason: String)) throws {
        let head = try makeHead(row.line)
        #expect(head.minorVersion == row.minor)
        #expect(head.status == row.status)
        #expect(head.reason == row.reason)
        #expect(head.fields.isEmpty)
    }

    @Test(arguments: [
        "HTTP/2 200", "HTTP/2.0 200 OK", "HTTP/0.9 200 OK", "http/1.1 200 OK", "HTTP/1.1  200 OK",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK", "HTTP/1.1 099 x", "HTTP/1.1 600 x", "HTTP/1.1 999 x", "HTTP/1.1 -20 x",
        "HTTP/1.1 2x0 OK",
        "HTTP/1.1 200OK", "HTTP/1.1\t200 OK", "HTTP/1.10 200 OK", "HTTP/1. 200 OK", "HTTP/1.1", "HTTP/1.1 ",
        "ICY 200 OK",
        "<html>", " HTTP/1.1 200 OK", "Content-Length: 5", "",
    ])
    func refusesOtherStatusLines(_ line: String) {
        #expect(throws: MessageError.notHTTP) { try makeHead(line) }
    }

    @Test func joinsLinesOfOneNameWhateverTheirCase() throws {
        let head = try makeHead("HTTP/1.1 200 OK\nVary: a\nX: 1\nvARY:b \nvary:\t c\t")
        #expect(head.value("vary") == "a, b, c")
        #expect(head.values("vary") == ["a", "b", "c"])
        #expect(head.value("x") == "1")
        #expect(head.value("y") == nil)
        #expect(head.values("y").isEmpty)
        #expect(head.contains("x") && !head.contains("y"))
        #expect(head.fields.map(\.name) == ["vary", "x", "vary", "vary"])
        #expect(head.fields.map(\.value) == ["a", "1", "b", "c"])
    }

    @Test func keepsEmptyValues() throws {
        let head = try makeHead("HTTP/1.1 200 OK\nA:\nB:  \t ")
        #expect(head.value("a")?.isEmpty == true)
        #expect(head.value("b")?.isEmpty == true)
    }

    @Test func joinsFoldedLinesWithOneSpace() throws {
        let head = try makeHead("HTTP/1.1 200 OK\nA: x \n  y\n\tz\nB:\n b\nC: c\n \t \n d")
        #expect(head.value("a") == "x y z")
        #expect(head.value("b") == "b")
        #expect(head.value("c") == "c d")
    }

    @Test func acceptsBareLineFeeds() throws {
        let head = try parseHead(Array("HTTP/1.1 200 OK\nA: 1\r\nB: 2\n\nrest".utf8))
        #expect(head.fields.map(\.value) == ["1", "2"])
    }

    @Test func stopsAtTheBlankLine() throws {
        let head = try parseHead(Array("HTTP/1.1 200 OK\r\nA: 1\r\n\r\nno field\r\0".utf8))
        #expect(head.fields.count == 1)
    }

    @Test func readsValuesAsUTF8ElseLatin1() throws {
        let start = Array("HTTP/1.1 200 \u{E9}\r\nA: \u{E9}\r\nB: ".utf8)
        let head = try parseHead(start + [0x78, 0xE9] + Array("\r\n\r\n".utf8))
        #expect(head.value("a") == "\u{E9}")
        #expect(head.value("b") == "x\u{E9}")
    }

    static let malformed: [(fields: String, error: MessageError)] = [
        ("A: 1\nno colon", .fieldWithoutColon), ("A : 1", .malformedFieldName),
        ("A\t: 1", .malformedFieldName),
        (": 1", .malformedFieldName), ("A B: 1", .malformedFieldName), ("A(: 1", .malformedFieldName),
        ("\u{E9}: 1", .malformedFieldName), (" A: 1", .foldBeforeFields), ("\tA: 1", .foldBeforeFields),
        ("A: 1\r2", .strayControl), ("A: \u{0}", .strayControl), ("A\u{0}: 1", .strayControl),
        ("A: 1\r", .strayControl),
    ]

    @Test(arguments: malformed)
    func refusesMalformedFields(_ row: (fields: String, error: MessageError)) {
        #expect(throws: row.error) { try makeHead("HTTP/1.1 200 OK\n" + row.fields) }
    }

    @Test func boundsTheCountOfFields() throws {
        let most = Array(repeating: "A: 1", count: ResponseHead.maximumFieldCount).joined(separator: "\n")
        #expect(try makeHead("HTTP/1.1 200 OK\n" + most).fields.count == ResponseHead.maximumFieldCount)
        #expect(throws: MessageError.tooManyFields) { try makeHead("HTTP/1.1 200 OK\n\(most)\nA: 1") }
    }

    @Test func skipsAFewEmptyLinesFirst() throws {
        let head = Array("HTTP/1.1 204 x\r\n\r\n".utf8)
        let few = Array("\r\n\n\r\n\n".utf8) + head
        #expect(try parseHead(few).status == 204)
        #expect(try scan(few, step: 1) == few.count)
        let many = Array("\n".utf8) + few
        #expect(throws: MessageError.notHTTP) { try parseHead(many) }
        #expect(throws: MessageError.notHTTP) { try scan(many, step: 1) }
    }
}

@Suite struct HeadScannerTests {
    static let heads = [
        "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\n\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n",
        "HTTP/1.1 200 OK\nA: b\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n\n", "\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
        "\nHTTP/1.1 200 OK\r\nA: \r\r\n\r\n",
    ]

    @Test(arguments: heads)
    func findsTheEndHoweverTheBytesCome(_ text: String) throws {
        let head = Array(text.utf8)
        for surplus in ["", "\r\n", "\n", "body", "HTTP/1.1 200 OK\r\n\r\n"] {
            let bytes = head + Array(surplus.utf8)
            for step in 1...bytes.count { #expect(try scan(bytes, step: step) == head.count) }
        }
        for length in 0..<head.count { #expect(try scan(Array(head[..<length]), step: 1) == nil) }
    }

    @Test(arguments: [
        "<html>", "ICY 200 OK", "SSH-2.0-x", "HTTP 200", "http/1.1", "\rHTTP/1.1", " HTTP/1.1", "\0",
        "\r\r\n",
    ])
    func refusesOtherProtocolsAtTheFirstWrongByte(_ text: String) {
        for step in 1...text.utf8.count {
            #expect(throws: MessageError.notHTTP) { try scan(Array(text.utf8), step: step) }
        }
    }

    @Test func boundsTheHeadAtTheLimit() throws {
        let start = Array("HTTP/1.1 200 OK\r\nA: ".utf8)
        let end = Array("\r\n\r\n".utf8)
        let filling = HeadScanner.maximumHeadSize - start.count - end.count
        let longest = start + [UInt8](repeating: 0x61, count: filling) + end
        #expect(try scan(longest, step: longest.count) == HeadScanner.maximumHeadSize)
        #expect(try scan(longest + end, step: 100_000) == HeadScanner.maximumHeadSize)
        let longer = start + [UInt8](repeating: 0x61, count: filling + 1) + end
        #expect(throws: MessageError.headTooLarge) { try scan(longer, step: longer.count) }
        #expect(throws: MessageError.headTooLarge) { try scan(longer, step: 100_000) }
        #expect(try scan(Array(longest.dropLast(2)), step: 100_000) == nil)
    }
}
