@testable internal import Wire

/// A head from text with `\n` for its line ends, which become CRLF, and the blank line added.
func makeHead(_ text: String) throws(MessageError) -> ResponseHead {
    try parseHead((text + "\n\n").utf8.flatMap { $0 == 0x0A ? [0x0D, 0x0A] : [$0] })
}

func parseHead(_ bytes: [UInt8]) throws(MessageError) -> ResponseHead {
    try withBuffer(bytes) { buffer throws(MessageError) in try ResponseHead(parsing: buffer) }
}

func withBuffer<Value>(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(MessageError) -> Value
) throws(MessageError) -> Value {
    let result: Result<Value, MessageError> = bytes.withUnsafeBytes { buffer in
        do throws(MessageError) { return .success(try body(buffer)) } catch { return .failure(error) }
    }
    return try result.get()
}

/// What a decoder made of an input.
enum Outcome<Value: Equatable>: Equatable {
    case value(Value)
    case error(MessageError)

    init(_ body: () throws(MessageError) -> Value) {
        do throws(MessageError) { self = .value(try body()) } catch { self = .error(error) }
    }
}

/// Shows a scanner ever longer beginnings of the bytes, `step` bytes more each time.
func scan(_ bytes: [UInt8], step: Int) throws(MessageError) -> Int? {
    var scanner = HeadScanner()
    var shown = 0
    while shown < bytes.count {
        shown = min(bytes.count, shown + step)
        let found = try withBuffer(Array(bytes[..<shown])) { buffer throws(MessageError) in
            try scanner.end(in: buffer)
        }
        if let found { return found }
    }
    return nil
}

struct Decoded: Equatable {
    var payload: [UInt8] = []
    var consumed = 0
    var isComplete = false
}

/// Gives a decoder the pieces one after the other; stops at the end of the message.
func decodeChunked(_ pieces: [[UInt8]]) throws(MessageError) -> Decoded {
    var decoder = ChunkedDecoder()
    var decoded = Decoded()
    for piece in pieces where !decoder.isComplete {
        var buffer = piece
        let result: Result<(payload: Int, consumed: Int), MessageError> = buffer.withUnsafeMutableBytes {
            bytes in
            do throws(MessageError) { return .success(try decoder.decode(bytes)) } catch {
                return .failure(error)
            }
        }
        let (payload, consumed) = try result.get()
        decoded.payload += buffer[..<payload]
        decoded.consumed += consumed
    }
    decoded.isComplete = decoder.isComplete
    return decoded
}

/// The bytes in pieces of that size.
func pieces(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
}
