/// The bits of an IP address. An IPv4 address mapped into IPv6 (RFC 4291 2.5.5.2) is the IPv4 address, since that is
/// who answers.
struct IPNumber: Hashable {
    /// Four or sixteen, in network order.
    let octets: [UInt8]

    /// 32 or 128.
    var width: Int { octets.count * 8 }

    /// Reads dotted decimal, or an IPv6 address without brackets; nil for anything else.
    init?(_ text: String) {
        if Host.isIPv4(text.utf8) {
            octets = Self.octetsOfIPv4(text.utf8[...])
            return
        }
        guard withBytes(of: text, { Host.isIPv6($0) }) else { return nil }
        // What was found to be an address has one `::` at most and groups of 16 bits each.
        let bytes = Array(text.utf8)
        let gap = bytes.indices.dropLast().first { bytes[$0] == 0x3A && bytes[$0 + 1] == 0x3A }
        let head = Self.octetsOfGroups(bytes[..<(gap ?? bytes.count)])
        let tail = gap.map { Self.octetsOfGroups(bytes[($0 + 2)...]) } ?? []
        let filled = head.count + tail.count
        guard filled <= 16 else { return nil }
        let all = head + [UInt8](repeating: 0, count: 16 - filled) + tail
        let isMapped = all[..<10].allSatisfy { $0 == 0 } && all[10] == 0xFF && all[11] == 0xFF
        octets = isMapped ? Array(all[12...]) : all
    }

    private static func octetsOfIPv4(_ text: some Collection<UInt8>) -> [UInt8] {
        text.split(separator: 0x2E).map { UInt8(clamping: DecimalNumber($0).exact ?? 0) }
    }

    private static func octetsOfGroups(_ text: ArraySlice<UInt8>) -> [UInt8] {
        text.split(separator: 0x3A).flatMap { group -> [UInt8] in
            if group.contains(0x2E) { return octetsOfIPv4(group) }
            let value = group.reduce(UInt16(0)) { $0 << 4 | UInt16($1.hexValue ?? 0) }
            return [UInt8(value >> 8), UInt8(value & 0xFF)]
        }
    }

    /// Whether the first so many bits, at most `width`, are those of the other, which is of the same family.
    func begins(like other: IPNumber, bits: Int) -> Bool {
        guard octets.count == other.octets.count else { return false }
        let whole = bits / 8
        guard octets[..<whole] == other.octets[..<whole] else { return false }
        let rest = bits % 8
        guard rest > 0 else { return true }
        return (octets[whole] ^ other.octets[whole]) >> (8 - rest) == 0
    }
}
