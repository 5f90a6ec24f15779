/// A URI reference cut at its delimiters (RFC 3986 appendix B); nothing is judged but control characters.
struct URLReference {
    let bytes: UnsafeRawBufferPointer
    /// Without the colon; nil for a relative reference.
    let scheme: Range<Int>?
    /// Without the `//`.
    let authority: Range<Int>?
    let path: Range<Int>
    /// Without the `?`.
    let query: Range<Int>?
    /// Without the `#`.
    let fragment: Range<Int>?

    init(_ bytes: UnsafeRawBufferPointer) throws(URLError) {
        guard !bytes.contains(where: \.isControl) else { throw .controlCharacter }
        self.bytes = bytes
        var position = 0
        scheme = Self.scheme(of: bytes)
        if let scheme { position = scheme.upperBound + 1 }

        let hash = bytes[position...].firstIndex(of: 0x23)
        let beforeFragment = hash ?? bytes.count
        fragment = hash.map { $0 + 1..<bytes.count }
        let mark = bytes[position..<beforeFragment].firstIndex(of: 0x3F)
        let beforeQuery = mark ?? beforeFragment
        query = mark.map { $0 + 1..<beforeFragment }

        if bytes[position..<beforeQuery].starts(with: [0x2F, 0x2F]) {
            let start = position + 2
            let end = bytes[start..<beforeQuery].firstIndex(of: 0x2F) ?? beforeQuery
            authority = start..<end
            position = end
        } else {
            authority = nil
        }
        path = position..<beforeQuery
    }

    subscript(range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[range]) }

    /// ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) before a colon (RFC 3986 3.1).
    private static func scheme(of bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        guard let first = bytes.first, first.isAlpha else { return nil }
        let end = bytes.firstIndex { !($0.isAlphanumeric || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E) }
        guard let end, bytes[end] == 0x3A else { return nil }
        return 0..<end
    }
}

/// `userinfo@host:port` (RFC 3986 3.2), judged.
struct Authority {
    let userinfo: String?
    let host: String
    let port: UInt16?

    init(_ bytes: UnsafeRawBufferPointer) throws(URLError) {
        guard !bytes.contains(0x5C) else { throw .backslashInHost }
        // The last @ ends it: what stands before one may hold others, what stands behind is the host for sure.
        let at = bytes.lastIndex(of: 0x40)
        userinfo = at.flatMap { at in
            at == 0 ? nil : Self.userinfo(UnsafeRawBufferPointer(rebasing: bytes[..<at]))
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[(at.map { $0 + 1 } ?? 0)...])
        let afterLiteral = rest.first == 0x5B ? rest.firstIndex(of: 0x5D) ?? 0 : 0
        let colon = rest[afterLiteral...].firstIndex(of: 0x3A)
        host = try Host.normalized(UnsafeRawBufferPointer(rebasing: rest[..<(colon ?? rest.count)]))
        port = try colon.flatMap { colon throws(URLError) in try Self.port(rest[(colon + 1)...]) }
    }

    /// Kept as written, but bytes beyond ASCII become escapes, which name the same bytes.
    private static func userinfo(_ bytes: UnsafeRawBufferPointer) -> String {
        var output: [UInt8] = []
        for byte in bytes {
            if byte < 0x80 {
                output.append(byte)
            } else {
                let lone = [byte].withUnsafeBytes { PercentEncoding.encode($0, as: .path) }
                output.append(contentsOf: lone.utf8)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Empty means the scheme's default (RFC 3986 3.2.3).
    private static func port(_ digits: some Collection<UInt8>) throws(URLError) -> UInt16? {
        if digits.isEmpty { return nil }
        guard let value = DecimalNumber(digits).exact, let port = UInt16(exactly: value), port > 0 else {
            throw .malformedPort
        }
        return port
    }
}
