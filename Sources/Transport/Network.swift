package import Posix

/// The way to the hosts: what all connections of a run share.
package final class Network: Sendable {
    package let resolver: Resolver
    /// Seconds that an address has to accept a connection, the TLS handshake included; and the name service to
    /// answer.
    package let connectTimeout: Double
    package let stop: Stop
    private let options: TLSOptions
    private let context = Monitor<TLSContext?>(nil)

    package init(
        resolver: Resolver = Resolver(), tls options: TLSOptions = TLSOptions(), connectTimeout: Double = 10,
        stop: Stop
    ) {
        self.resolver = resolver
        self.options = options
        self.connectTimeout = connectTimeout
        self.stop = stop
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
