import Wire

/// Head scanner, response head, framing.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    let ends = cuts(input).map { pieces in
        Outcome { () throws(MessageError) in try end(of: input, in: pieces) }
    }
    require(Set(ends.map { "\($0)" }).count == 1, "the end hangs on how the head came: \(ends)")
    guard let found = ends[0].value, let length = found else { return 0 }

    let bytes = Array(input[..<length])
    checkBlankLine(bytes)
    let exact = Outcome { () throws(MessageError) in try describe(bytes) }
    let surplus = Outcome { () throws(MessageError) in try describe(Array(input)) }
    require(exact == surplus, "what follows a head changes it")
    if let words = exact.value { checkRewritten(words) }
    return 0
}

/// Shows a scanner ever longer beginnings.
private func end(of bytes: UnsafeRawBufferPointer, in pieces: [Int]) throws(MessageError) -> Int? {
    var scanner = HeadScanner()
    var shown = 0
    for piece in pieces {
        shown += piece
        if let end = try scanner.end(in: UnsafeRawBufferPointer(rebasing: bytes[..<shown])) { return end }
    }
    return nil
}

/// The blank line is the first one behind the status line, and the last line.
private func checkBlankLine(_ head: [UInt8]) {
    let begun = head.drop { $0 == 0x0A || $0 == 0x0D }
    let lines = begun.split(separator: 0x0A, omittingEmptySubsequences: false)
    let blank = lines.firstIndex { $0.isEmpty || $0.elementsEqual([0x0D]) }
    require(begun.last == 0x0A && blank == lines.count - 2, "the head does not end at its blank line")
}

/// All that a head says.
private struct Words: Equatable {
    var status: [UInt8] = []
    var fields: [[UInt8]] = []
    var framing: [String] = []
}

private func describe(_ bytes: [UInt8]) throws(MessageError) -> Words {
    let head = try withBytes(bytes) { bytes throws(MessageError) in try ResponseHead(parsing: bytes) }
    require((100...599).contains(head.status) && (0...9).contains(head.minorVersion), "status \(head.status)")
    var words = Words()
    words.status = Array("HTTP/1.\(head.minorVersion) \(head.status) \(head.reason)".utf8)
    for (name, value) in head.fields {
        let stray = value.utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D }
        require(!name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }, "\(name)")
        require(!stray, "\(name) has a line end in its value")
        require(!value.utf8.starts(with: " ".utf8) && value.utf8.last != 0x20, "\(name) is not trimmed")
        words.fields.append(Array("\(name): \(value)".utf8))
    }
    for isHead in [false, true] {
        let framing = Outcome { () throws(MessageError) in
            try MessageFraming(head: head, requestMethodIsHead: isHead)
        }
        if let framing = framing.value { check(framing, of: head, isHead) }
        words.framing.append("\(framing)")
    }
    let validators = Validators(head: head, now: 1_700_000_000)
    require(!validators.isEmpty || validators.strong == nil, "a validator from nowhere")
    words.framing.append("\(validators)")
    return words
}

private func check(_ framing: MessageFraming, of head: ResponseHead, _ isHead: Bool) {
    let isBodiless = isHead || head.status < 200 || head.status == 204 || head.status == 304
    require((framing.body == .none) == isBodiless, "\(framing) for \(head.status)")
    switch framing.body {
    case .none: break
    case .length(let length):
        require(length <= UInt64(Int64.max), "length \(length)")
        require(!head.contains("transfer-encoding"), "a length beside a coding")
    case .chunked:
        require(head.values("transfer-encoding").count > 0, "chunks without a coding")
        require(!framing.keepsConnection || !head.contains("content-length"), "two framings are trusted")
    case .untilClose: require(!framing.keepsConnection, "a body that ends at the close keeps its connection")
    }
}

/// Written down and read again, a head says the same.
private func checkRewritten(_ words: Words) {
    var bytes = words.status + [0x0D, 0x0A]
    for field in words.fields { bytes += field + [0x0D, 0x0A] }
    bytes += [0x0D, 0x0A]
    let again = Outcome { () throws(MessageError) in try describe(bytes) }
    require(again == .value(words), "a head that is written down again reads otherwise: \(again)")
}
