/// The hosts that are asked without a proxy: the items of a `no_proxy`, separated by commas or blanks.
///
/// | item | means |
/// |---|---|
/// | `*` | every host |
/// | `example.org`, `.example.org`, `*.example.org` | that name and the names below it, at label borders |
/// | `192.0.2.7`, `::1`, `[::1]` | that address, however it is spelled |
/// | `10.0.0.0/8`, `fd00::/8` | the addresses whose first so many bits are these |
/// | any name or address with `:port`, an IPv6 one in brackets | the same at that port only |
///
/// Case and a dot at the end do not count. A name is never looked up to be compared with an address. An item that
/// is none of these means nothing: the variable is shared with programs that know others.
package struct ProxyExceptions: Hashable, Sendable {
    private enum Pattern: Hashable {
        case all
        /// Lower case, without dots around it.
        case domain(String)
        case network(IPNumber, bits: Int)
    }
    private struct Item: Hashable {
        let pattern: Pattern
        let port: UInt16?
    }
    private var items: [Item] = []

    package init(parsing text: String) {
        // A blank can be any of those that a shell script leaves in a variable.
        let words = text.utf8.split { $0 == 0x2C || $0.isBlank || $0 == .lineFeed || $0 == .carriageReturn }
        items = words.compactMap { Self.item(String(decoding: $0, as: UTF8.self)) }
    }

    /// Nobody is asked through a proxy.
    package var containAll: Bool { items.contains { $0.pattern == .all && $0.port == nil } }

    /// Whether an origin is among them.
    package func contain(_ origin: Origin) -> Bool {
        let address = IPNumber(origin.bareHost)
        let name = Self.bareName(origin.host.lowercased()[...])
        return items.contains { item in
            if let port = item.port, port != origin.port { return false }
            switch item.pattern {
            case .all: return true
            case .network(let network, let bits): return address?.begins(like: network, bits: bits) == true
            case .domain(let domain):
                guard address == nil else { return false }
                return name == domain || name.hasSuffix("." + domain)
            }
        }
    }

    private static func item(_ word: String) -> Item? {
        if let pattern = pattern(word) { return Item(pattern: pattern, port: nil) }
        // A bare IPv6 address was understood above, so that the last colon is a port's.
        guard let colon = word.utf8.lastIndex(of: 0x3A),
            let number = DecimalNumber(word.utf8[colon...].dropFirst()).exact, number > 0,
            let port = UInt16(exactly: number), let pattern = pattern(String(word[..<colon]))
        else { return nil }
        // Whether two colons are meant as an address or as a port cannot be told without brackets.
        if !word.hasPrefix("["), word[..<colon].contains(":") { return nil }
        return Item(pattern: pattern, port: port)
    }

    private static func pattern(_ text: String) -> Pattern? {
        if text == "*" { return .all }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let isBracketed = parts[0].hasPrefix("[") && parts[0].hasSuffix("]") && parts[0].utf8.count > 2
        if let number = IPNumber(isBracketed ? String(parts[0].dropFirst().dropLast()) : String(parts[0])) {
            guard parts.count == 2 else { return .network(number, bits: number.width) }
            // An address of IPv4 in IPv6's clothes has lost 96 bits on the way in.
            let lost = parts[0].contains(":") && number.width == 32 ? 96 : 0
            guard let bits = DecimalNumber(parts[1].utf8).exact, bits <= UInt64(number.width + lost),
                bits >= UInt64(lost)
            else { return nil }
            return .network(number, bits: Int(bits) - lost)
        }
        var name = text.lowercased()[...]
        if name.hasPrefix("*.") { name = name.dropFirst(1) }
        name = bareName(name)[...]
        let isName = name.utf8.allSatisfy {
            $0.isAlphanumeric || $0 == 0x2D || $0 == 0x5F || $0 == 0x2E || $0 >= 0x80
        }
        return isName && !name.isEmpty ? .domain(String(name)) : nil
    }

    /// Without one dot at either end.
    private static func bareName(_ name: Substring) -> String {
        var name = name
        if name.hasPrefix(".") { name = name.dropFirst() }
        if name.hasSuffix(".") { name = name.dropLast() }
        return String(name)
    }

    /// The same with each name put into another form, for instance that of IDNA; nil leaves it as it is.
    package func mappingNames(_ map: (String) -> String?) -> ProxyExceptions {
        var mapped = self
        mapped.items = items.map { item in
            guard case .domain(let name) = item.pattern else { return item }
            return Item(pattern: .domain(map(name) ?? name), port: item.port)
        }
        return mapped
    }
}
