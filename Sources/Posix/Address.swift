internal import CLinux

/// An IP address and a TCP port.
package struct Address: Hashable, Sendable {
    package enum Family: Sendable { case v4, v6 }

    package let family: Family
    /// Four or sixteen, in network order.
    package let octets: [UInt8]
    /// The interface that a link-local IPv6 address belongs to; 0 for others. See ipv6(7).
    private let scope: UInt32
    package let port: UInt16

    private init(family: Family, octets: [UInt8], scope: UInt32, port: UInt16) {
        self.family = family
        self.octets = octets
        self.scope = scope
        self.port = port
    }

    /// Reads dotted decimal or an IPv6 literal without brackets; nil for anything else. See inet_pton(3).
    package init?(literal: String, port: UInt16) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, literal, &v4) == 1 {
            let octets = withUnsafeBytes(of: &v4) { Array($0) }
            self.init(family: .v4, octets: octets, scope: 0, port: port)
        } else if inet_pton(AF_INET6, literal, &v6) == 1 {
            let octets = withUnsafeBytes(of: &v6) { Array($0) }
            self.init(family: .v6, octets: octets, scope: 0, port: port)
        } else {
            return nil
        }
    }

    /// The same host at another port.
    package func with(port: UInt16) -> Address {
        Address(family: family, octets: octets, scope: scope, port: port)
    }

    /// Reads what getaddrinfo(3) hands out; nil for other families.
    fileprivate init?(_ info: addrinfo) {
        guard let raw = UnsafeRawPointer(info.ai_addr) else { return nil }
        if info.ai_family == AF_INET, info.ai_addrlen >= MemoryLayout<sockaddr_in>.size {
            var socketAddress = raw.loadUnaligned(as: sockaddr_in.self)
            let octets = withUnsafeBytes(of: &socketAddress.sin_addr) { Array($0) }
            self.init(family: .v4, octets: octets, scope: 0, port: UInt16(bigEndian: socketAddress.sin_port))
        } else if info.ai_family == AF_INET6, info.ai_addrlen >= MemoryLayout<sockaddr_in6>.size {
            var socketAddress = raw.loadUnaligned(as: sockaddr_in6.self)
            let octets = withUnsafeBytes(of: &socketAddress.sin6_addr) { Array($0) }
            let port = UInt16(bigEndian: socketAddress.sin6_port)
            self.init(family: .v6, octets: octets, scope: socketAddress.sin6_scope_id, port: port)
        } else {
            return nil
        }
    }

    /// Lends the address as the kernel takes it.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch family {
        case .v4:
            var raw = sockaddr_in()
            raw.sin_family = sa_family_t(AF_INET)
            raw.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &raw.sin_addr) { $0.copyBytes(from: octets.prefix($0.count)) }
            return withUnsafePointer(to: &raw) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .v6:
            var raw = sockaddr_in6()
            raw.sin6_family = sa_family_t(AF_INET6)
            raw.sin6_port = port.bigEndian
            raw.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &raw.sin6_addr) { $0.copyBytes(from: octets.prefix($0.count)) }
            return withUnsafePointer(to: &raw) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
    }
}

extension Address: CustomStringConvertible {
    /// `192.0.2.1:80` or `[2001:db8::1]:80`.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let kind = family == .v4 ? AF_INET : AF_INET6
        let host = octets.withUnsafeBytes { bytes in
            inet_ntop(kind, bytes.baseAddress, &text, socklen_t(text.count)).map { String(cString: $0) }
                ?? "?"
        }
        return family == .v4 ? "\(host):\(port)" : "[\(host)]:\(port)"
    }
}

/// What the name service said of a host.
package enum NameAnswer: Sendable {
    /// Never empty; in the order of RFC 6724, with port 0.
    case addresses([Address])
    /// The name does not exist, or has no address.
    case unknown
    /// Nobody could be asked, or the one asked could not tell; in the library's words.
    case noService(String)
}

/// Asks the system's resolver, for as long as that takes: it has neither a deadline nor a way to be stopped.
/// See getaddrinfo(3).
package func askNameService(_ host: String) -> NameAnswer {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, nil, &hints, &list)
    let systemCode = clinux_errno()
    defer { if let list { freeaddrinfo(list) } }
    switch code {
    case 0:
        var found: [Address] = []
        var next = list
        while let info = next {
            if let address = Address(info.pointee), !found.contains(address) { found.append(address) }
            next = info.pointee.ai_next
        }
        return found.isEmpty ? .unknown : .addresses(found)
    case EAI_NONAME, EAI_NODATA, EAI_ADDRFAMILY:
        return .unknown
    case EAI_SYSTEM:
        return .noService(SystemError("getaddrinfo", host, code: systemCode).reason)
    default:
        return .noService(String(cString: gai_strerror(code)).lowercased())
    }
}
