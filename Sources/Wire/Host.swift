/// The host of an authority (RFC 3986 3.2.2), judged without asking anybody.
enum Host {
    /// Folds a host to lower case and refuses what no host is.
    ///
    /// ASCII is held to letters, digits, `-`, `_` and `.`: the rest of reg-name is in no name that a resolver finds,
    /// and an error now says more than an unknown host later. Bytes beyond ASCII pass, for IDNA to judge.
    static func normalized(_ bytes: UnsafeRawBufferPointer) throws(URLError) -> String {
        guard let first = bytes.first else { throw .emptyHost }
        if first == 0x5B { return try addressLiteral(bytes) }
        for byte in bytes {
            if byte.isAlphanumeric || byte == 0x2D || byte == 0x2E || byte == 0x5F || byte >= 0x80 {
                continue
            }
            throw refusal(of: byte)
        }
        let isASCII = bytes.allSatisfy { $0 < 0x80 }
        try checkLabels(bytes, bounded: isASCII)
        guard let host = String(validating: bytes.map(\.lowercased), as: UTF8.self) else {
            throw .hostNotUTF8
        }
        return host
    }

    private static func refusal(of byte: UInt8) -> URLError {
        switch byte {
        case 0x20: .blankInHost
        case 0x25: .percentInHost
        case 0x5C: .backslashInHost
        case 0x5B, 0x5D: .malformedIPv6
        default: byte.isControl ? .controlCharacter : .characterInHost(Character(Unicode.Scalar(byte)))
        }
    }

    /// A label before IDNA has no fixed bound, so only ASCII names are measured.
    private static func checkLabels(_ bytes: UnsafeRawBufferPointer, bounded: Bool) throws(URLError) {
        var labels = bytes.split(separator: 0x2E, omittingEmptySubsequences: false)
        // One dot at the end marks the root (RFC 1034 3.1).
        let rooted = labels.count > 1 && labels.last?.isEmpty == true
        if rooted { labels.removeLast() }
        guard labels.allSatisfy({ !$0.isEmpty && (!bounded || $0.count <= 63) }) else { throw .labelLength }
        guard !bounded || bytes.count - (rooted ? 1 : 0) <= 253 else { throw .labelLength }
        // A name never ends in a number: inet_aton(3) would read 0x7f.1 or 127.1 as an address.
        guard let last = labels.last, isNumber(last) else { return }
        guard !rooted, isIPv4(bytes) else { throw .malformedIPv4 }
    }

    private static func isNumber(_ label: some Collection<UInt8>) -> Bool {
        if label.allSatisfy(\.isDigit) { return true }
        let digits = label.dropFirst(2)
        return label.first == 0x30 && label.dropFirst().first?.lowercased == 0x78
            && digits.allSatisfy { $0.hexValue != nil }
    }

    /// Four decimal octets without leading zeros (RFC 3986 3.2.2, IPv4address).
    static func isIPv4(_ text: some Collection<UInt8>) -> Bool {
        let octets = text.split(separator: 0x2E, omittingEmptySubsequences: false)
        return octets.count == 4
            && octets.allSatisfy { octet in
                guard (1...3).contains(octet.count), octet.count == 1 || octet.first != 0x30 else {
                    return false
                }
                guard let value = DecimalNumber(octet).exact else { return false }
                return value <= 255
            }
    }

    /// `[` IPv6address `]`, folded to lower case and otherwise as written.
    private static func addressLiteral(_ bytes: UnsafeRawBufferPointer) throws(URLError) -> String {
        guard bytes.count > 2, bytes.last == 0x5D else { throw .malformedIPv6 }
        let inside = UnsafeRawBufferPointer(rebasing: bytes[1..<bytes.count - 1])
        guard !inside.contains(0x25) else { throw .zoneIdentifier }
        guard isIPv6(inside) else { throw .malformedIPv6 }
        return String(decoding: bytes.map(\.lowercased), as: UTF8.self)
    }

    /// IPv6address (RFC 3986 3.2.2): eight groups, or fewer with one `::`; the last two may be an IPv4 address.
    static func isIPv6(_ text: UnsafeRawBufferPointer) -> Bool {
        var rest = text[...]
        var groups = 0
        var elided = false
        if rest.starts(with: [0x3A, 0x3A]) {
            elided = true
            rest = rest.dropFirst(2)
            if rest.isEmpty { return true }
        }
        while groups < 8 {
            let end = rest.firstIndex(of: 0x3A) ?? rest.endIndex
            let group = rest[..<end]
            if end == rest.endIndex, group.contains(0x2E) {
                guard isIPv4(group) else { return false }
                groups += 2
                break
            }
            guard (1...4).contains(group.count), group.allSatisfy({ $0.hexValue != nil }) else {
                return false
            }
            groups += 1
            if end == rest.endIndex {
                rest = rest[end...]
                break
            }
            rest = rest[(end + 1)...]
            if rest.first == 0x3A {
                guard !elided else { return false }
                elided = true
                rest = rest.dropFirst()
                if rest.isEmpty { break }
            } else if rest.isEmpty || groups == 8 {
                return false
            }
        }
        return elided ? groups <= 7 : groups == 8
    }
}
