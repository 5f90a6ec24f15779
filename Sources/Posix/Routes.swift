internal import CLinux

/// Whether the kernel has a route to the world at large, in any address family. Nothing is sent: connecting a datagram
/// socket only looks the route up (udp(7)). The addresses are those for documentation, which only a default route
/// leads to (RFC 5737, RFC 3849).
package func hasWayOut() -> Bool {
    ["203.0.113.1", "2001:db8:ffff::1"].contains { literal in
        guard let address = Address(literal: literal, port: 9) else { return false }
        let family = address.family == .v4 ? AF_INET : AF_INET6
        let number = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return false }
        defer { close(number) }
        return address.withSocketAddress { connect(number, $0, $1) == 0 }
    }
}
