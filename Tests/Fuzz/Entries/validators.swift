import Wire

/// Entity tags (two, one a line), and the small fields: media type, credentials.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    let lines = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let tags = lines.map { EntityTag(String(decoding: $0, as: UTF8.self)) }
    for tag in tags { check(tag) }
    let (left, right) = (tags[0], tags[tags.count - 1])
    let isSame = left.text.utf8.elementsEqual(right.text.utf8)
    require(
        left.stronglyEquals(right) == (isSame && left.kind == .strong && right.kind == .strong),
        "strong comparison of \(Array(left.text.utf8)) and \(Array(right.text.utf8))")
    require(
        left.weaklyEquals(right) == opaque(left).elementsEqual(opaque(right)),
        "weak comparison of \(Array(left.text.utf8)) and \(Array(right.text.utf8))")
    require((left == right) == isSame, "equality of \(Array(left.text.utf8)) and \(Array(right.text.utf8))")

    if let received = receivedField(input) {
        require(
            EntityTag(received).kind != .strong || received.utf8.count >= 2, "a strong tag without quotes")
        if let type = mediaType(received) {
            require(type.utf8.count { $0 == 0x2F } == 1 && mediaType(type) == type, "the media type \(type)")
        }
    }
    return 0
}

private func opaque(_ tag: EntityTag) -> Substring.UTF8View {
    let bytes = tag.text[...].utf8
    return tag.kind == .weak ? bytes.dropFirst(2) : bytes
}

/// The grammar of RFC 9110 8.8.3, letter by letter.
private func check(_ tag: EntityTag) {
    var bytes = Array(tag.text.utf8)[...]
    let isWeak = bytes.starts(with: "W/".utf8)
    if isWeak { bytes = bytes.dropFirst(2) }
    let isQuoted = bytes.count >= 2 && bytes.first == 0x22 && bytes.last == 0x22
    let isClean = !bytes.dropFirst().dropLast().contains { $0 <= 0x20 || $0 == 0x22 || $0 == 0x7F }
    let kind: EntityTag.Kind = isQuoted && isClean ? (isWeak ? .weak : .strong) : .malformed
    require(tag.kind == kind, "\(Array(tag.text.utf8)) is \(tag.kind)")
}
