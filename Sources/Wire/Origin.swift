/// The two schemes that an entry may have (RFC 9110 4.2).
package enum Scheme: String, Sendable, Hashable {
    case http, https

    /// 80 or 443 (RFC 9110 4.2.1, 4.2.2).
    package var defaultPort: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        }
    }
}

/// Scheme, host and port: what credentials, connections and trust belong to (RFC 9110 4.3.1).
package struct Origin: Hashable, Sendable {
    package let scheme: Scheme
    /// Lower case; an IPv6 address stands in brackets.
    package let host: String
    package let port: UInt16

    package init(scheme: Scheme, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// `host` or `host:port` as the Host field says it (RFC 9110 7.2): the port only when it is not the default.
    package var authority: String { port == scheme.defaultPort ? host : "\(host):\(port)" }

    /// The host without the brackets of an IPv6 literal: what a resolver and a certificate check take.
    package var bareHost: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }
}

extension Origin {
    /// The host has letters beyond ASCII, which DNS and TLS know only in their IDNA form (RFC 5890).
    package var needsIDNA: Bool { host.utf8.contains { $0 >= 0x80 } }
}

extension Origin: CustomStringConvertible {
    package var description: String { "\(scheme.rawValue)://\(authority)" }
}
