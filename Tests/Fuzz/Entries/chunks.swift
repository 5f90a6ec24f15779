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
    require(decoded[0].value == reference(Array(input)), "\(decoded[0]) of \(Array(input))")
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

/// The same for who has the whole message at hand and need not be quick; nil when it is malformed.
private func reference(_ bytes: [UInt8]) -> Decoded? {
    var decoded = Decoded()
    var rest = bytes[...]
    /// Takes what is wanted from the front; nil when something else stands there, false when it is not here yet.
    func takeLineEnd() -> Bool? {
        if rest.first == 0x0D { rest = rest.dropFirst() }
        guard let next = rest.first else { return false }
        guard next == 0x0A else { return nil }
        rest = rest.dropFirst()
        return true
    }
    while true {
        let digits = rest.prefix { Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }
        rest = rest[digits.endIndex...]
        guard let size = Int64("0" + String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        if digits.isEmpty, !rest.isEmpty { return nil }
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        if rest.first == 0x3B { rest = rest.drop { $0 != 0x0D && $0 != 0x0A } }
        guard let isWhole = takeLineEnd() else { return nil }
        guard isWhole else { break }
        if size == 0 { return trailers(rest, after: decoded, of: bytes.count) }
        let data = rest.prefix(Int(size))
        decoded.payload += data
        rest = rest[data.endIndex...]
        guard data.count == Int(size) else { break }
        guard let isEnded = takeLineEnd() else { return nil }
        guard isEnded else { break }
    }
    decoded.consumed = bytes.count
    return decoded
}

/// Lines up to an empty one.
private func trailers(_ lines: ArraySlice<UInt8>, after decoded: Decoded, of count: Int) -> Decoded? {
    var decoded = decoded
    var rest = lines
    while let end = rest.firstIndex(of: 0x0A) {
        let line = rest[..<end]
        rest = rest[(end + 1)...]
        if line.isEmpty || line.elementsEqual([0x0D]) {
            decoded.consumed = rest.startIndex
            decoded.isComplete = true
            return decoded
        }
        // A CR begins the empty line or none.
        if line.first == 0x0D { return nil }
    }
    if rest.first == 0x0D, rest.count > 1 { return nil }
    decoded.consumed = count
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
