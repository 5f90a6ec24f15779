package import Wire

/// How an origin is reached.
package enum Route: Hashable, Sendable {
    case direct
    /// Each request goes to the proxy, its target in absolute-form (RFC 9112 3.2.2).
    case forwarded(Proxy)
    /// The proxy opens a tunnel (RFC 9110 9.3.6), and what goes through it is between us and the origin.
    case tunnelled(Proxy)

    /// The proxy on the way.
    package var proxy: Proxy? {
        switch self {
        case .direct: nil
        case .forwarded(let proxy), .tunnelled(let proxy): proxy
        }
    }

    /// `host:port` and how it is reached, for errors.
    func subject(for origin: Origin) -> String {
        proxy.map { "\(origin.subject) through \($0.subject)" } ?? origin.subject
    }

    /// The one who answers requests in the origin's place, and to whom Proxy-Authorization is said in each.
    package var forwarder: Proxy? {
        switch self {
        case .direct, .tunnelled: nil
        case .forwarded(let proxy): proxy
        }
    }
}
