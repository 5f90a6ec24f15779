import Wire

/// Chunked decoder.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    let decoded = cuts(input).map { pieces in
        Outcome { () throws(MessageError) in try decode(Array(input), in: pieces) }
    }
    require(decoded.allSatisfy { $0 == decoded[0] }, "the payload hangs on how the chunks came: \(decoded)")
    if let whole = decoded[0].value {
        require(whole.payload.count <= whole.consumed && whole.consumed <= count, "\(whole) of \(count)")
        require(whole.isComplete || whole.consumed == count, "bytes are left before the end")
    }
    checkEncoded(Array(input))
    return 0
}

private struct Decoded: Equatable {
    var payload: [UInt8] = []
    var consumed = 0
    var isComplete = false
}

private func decode(_ bytes: [UInt8], in pieces: [Int]) throws(MessageError) -> Decoded {
    var decoder = ChunkedDecoder()
    var decoded = Decoded()
    var rest = bytes[...]
    for piece in pieces where !decoder.isComplete {
        var buffer = Array(rest.prefix(piece))
        rest = rest.dropFirst(piece)
        let result: Result<(payload: Int, consumed: Int), MessageError> = buffer.withUnsafeMutableBytes {
            buffer in
            do throws(MessageError) { return .success(try decoder.decode(buffer)) } catch {
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

/// The input as a payload: cut into chunks whose sizes its own bytes choose, it must come out again, and what
/// follows must be left alone.
private func checkEncoded(_ payload: [UInt8]) {
    var message: [UInt8] = []
    var rest = payload[...]
    while let first = rest.first {
        let chunk = rest.prefix(Int(first) + 1)
        rest = rest.dropFirst(chunk.count)
        let end = first % 2 == 0 ? "\r\n" : "\n"
        message += String(chunk.count, radix: 16, uppercase: first % 3 == 0).utf8
        message += (first % 5 == 0 ? " ;a=\"b;c\"" : "").utf8
        message += end.utf8 + chunk + end.utf8
    }
    message += "0\r\nTrailer: x\r\n\r\n".utf8
    let expected = Decoded(payload: payload, consumed: message.count, isComplete: true)
    message += "HTTP/1.1 200 OK\r\n".utf8
    let pieces = message.withUnsafeBytes { cuts($0) }
    for pieces in pieces {
        let decoded = Outcome { () throws(MessageError) in try decode(message, in: pieces) }
        require(decoded == .value(expected), "\(decoded) of \(message)")
    }
}
