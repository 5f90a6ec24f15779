package import Posix
package import Wire

/// The way to the hosts: what all connections of a run share.
package final class Network: Sendable {
    package let resolver: Resolver
    /// Seconds that an address has to accept a connection, tunnel and TLS handshake included; and the name service to
    /// answer.
    package let connectTimeout: Double
    package let stop: Stop
    private let options: TLSOptions
    private let proxies: ProxyRules
    private let context: Monitor<TLSContext?>

    package init(
        resolver: Resolver = Resolver(), tls options: TLSOptions = TLSOptions(),
        proxies: ProxyRules = ProxyRules(), connectTimeout: Double = 10, stop: Stop
    ) {
        self.resolver = resolver
        self.options = options
        self.proxies = proxies
        self.connectTimeout = connectTimeout
        self.stop = stop
        context = Monitor(nil)
    }

    private init(of other: Network, stop: Stop) {
        resolver = other.resolver
        options = other.options
        proxies = other.proxies
        connectTimeout = other.connectTimeout
        context = other.context
        self.stop = stop
    }

    /// The same way, with the same memory, for connections that end by another stop.
    package func ending(by stop: Stop) -> Network { Network(of: self, stop: stop) }

    /// How an origin, whose host is in ASCII, is reached.
    package func route(to origin: Origin) -> Route {
        guard let proxy = proxies.proxy(for: origin) else { return .direct }
        switch origin.scheme {
        case .http: return .forwarded(proxy)
        case .https: return .tunnelled(proxy)
        }
    }

    /// The TLS context, made when it is first needed: reading the system's trust store takes milliseconds that a
    /// run over plain HTTP does not owe. Ask for it early to find a bad file among the options at once.
    package func tls() throws(TLSSetupError) -> TLSContext {
        try context.withLock { context throws(TLSSetupError) -> TLSContext in
            if let context { return context }
            let made = try TLSContext(options)
            context = made
            return made
        }
    }
}
