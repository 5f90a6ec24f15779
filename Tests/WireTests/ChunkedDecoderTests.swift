import Testing

@testable internal import Wire

@Suite struct ChunkedDecoderTests {
    static let messages: [(text: String, payload: String)] = [
        ("0\r\n\r\n", ""),
        ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world"),
        ("5\nhello\n0\n\n", "hello"),
        ("a\r\n0123456789\r\nA\r\n0123456789\r\n000\r\n\r\n", "01234567890123456789"),
        ("0000000000000000000005\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5  \t\r\nhello\r\n0 \r\n\r\n", "hello"),
        ("5;x\r\nhello\r\n0;y=z\r\n\r\n", "hello"),
        ("5 ; x=\"a;\\\"0\"\r\nhello\r\n0\r\n\r\n", "hello"),
        ("4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"),
        ("0\r\nExpires: x\r\nA: b\r\n\r\n", ""),
        ("1\r\nx\r\n0\r\nA: b\n\n", "x"),
    ]

    @Test(arguments: messages)
    func decodesHoweverTheBytesCome(_ row: (text: String, payload: String)) throws {
        let message = Array(row.text.utf8)
        for surplus in ["", "\r\n", "HTTP/1.1 200 OK"] {
            let bytes = message + Array(surplus.utf8)
            let whole = Decoded(payload: Array(row.payload.utf8), consumed: message.count, isComplete: true)
            for size in 1...bytes.count { #expect(try decodeChunked(pieces(bytes, of: size)) == whole) }
            for split in 0...bytes.count {
                #expect(try decodeChunked([Array(bytes[..<split]), Array(bytes[split...])]) == whole)
            }
        }
        for length in 0..<message.count {
            let decoded = try decodeChunked([Array(message[..<length])])
            #expect(!decoded.isComplete && decoded.consumed == length)
            #expect(row.payload.utf8.starts(with: decoded.payload))
        }
    }

    static let malformed: [(text: String, error: MessageError)] = [
        ("\r\n", .malformedChunkSize), ("x\r\n", .malformedChunkSize), (" 5\r\n", .malformedChunkSize),
        ("-5\r\n", .malformedChunkSize), ("+5\r\n", .malformedChunkSize), ("0x5\r\n", .malformedChunkSize),
        (";x\r\n", .malformedChunkSize), ("5 5\r\n", .malformedChunkSize), ("5\rhello", .malformedChunkSize),
        ("5;x\ry\r\n", .malformedChunkSize), ("5,\r\n", .malformedChunkSize),
        ("8000000000000000\r\n", .chunkTooLarge), ("10000000000000000\r\n", .chunkTooLarge),
        ("ffffffffffffffffffffffff\r\n", .chunkTooLarge),
        ("5\r\nhelloX", .malformedChunkEnd), ("5\r\nhello\rX", .malformedChunkEnd),
        ("5\r\nhello 0\r\n", .malformedChunkEnd),
        ("0\r\n\rX", .malformedTrailers),
    ]

    @Test(arguments: malformed)
    func refusesMalformedChunks(_ row: (text: String, error: MessageError)) {
        let bytes = Array(row.text.utf8)
        for size in 1...bytes.count {
            #expect(throws: row.error) { try decodeChunked(pieces(bytes, of: size)) }
        }
    }

    @Test func acceptsTheLargestSize() throws {
        let decoded = try decodeChunked([Array("7fffffffffffffff\r\nabc".utf8)])
        #expect(decoded.payload == Array("abc".utf8))
        #expect(!decoded.isComplete)
    }

    @Test(arguments: ["0", ";", " "])
    func boundsAChunkLine(_ filling: String) throws {
        let room = ChunkedDecoder.maximumLineSize - "1".utf8.count - 2
        let longest = Array(("0" + String(repeating: filling, count: room) + "\r\n\r\n").utf8)
        #expect(try decodeChunked([longest]).isComplete)
        #expect(try decodeChunked(pieces(longest, of: 1000)).isComplete)
        let longer = Array(("0" + String(repeating: filling, count: room + 1) + "\r\n\r\n").utf8)
        #expect(throws: MessageError.chunkLineTooLong) { try decodeChunked([longer]) }
        #expect(throws: MessageError.chunkLineTooLong) { try decodeChunked(pieces(longer, of: 1000)) }
    }

    @Test(arguments: ["x", "Field: x\r\n"])
    func boundsTheTrailers(_ line: String) throws {
        // The filling never ends in a line end, which would end the trailers early.
        let room = ChunkedDecoder.maximumTrailerSize - "x\r\n\r\n".utf8.count
        let lines = String(repeating: line, count: room / line.utf8.count)
        let padding = String(repeating: "x", count: room - lines.utf8.count + 1)
        let longest = Array("0\r\n\(lines)\(padding)\r\n\r\n".utf8)
        #expect(longest.count == ChunkedDecoder.maximumTrailerSize + 3)
        let whole = try decodeChunked([longest])
        #expect(whole.isComplete && whole.consumed == longest.count)
        let longer = Array("0\r\n\(lines)\(padding)x\r\n\r\n".utf8)
        #expect(throws: MessageError.trailersTooLarge) { try decodeChunked([longer]) }
        #expect(throws: MessageError.trailersTooLarge) { try decodeChunked(pieces(longer, of: 1000)) }
    }

    @Test func countsEachChunkLineByItself() throws {
        let line = "1;" + String(repeating: "x", count: 10_000) + "\r\nx\r\n"
        let text = String(repeating: line, count: 5) + "0\r\n\r\n"
        #expect(try decodeChunked([Array(text.utf8)]).payload.count == 5)
    }

    @Test func usesNothingAfterTheEnd() throws {
        var decoder = ChunkedDecoder()
        var bytes = Array("0\r\n\r\n5\r\nhello\r\n".utf8)
        let first = try bytes.withUnsafeMutableBytes { try decoder.decode($0) }
        #expect(first == (0, 5))
        let second = try bytes.withUnsafeMutableBytes { try decoder.decode($0) }
        #expect(second == (0, 0))
    }
}
