import Posix
import Transport
package import Wire

/// A service that notices when runs fail or stay away: it is told by its URL being asked.
package struct Ping: Sendable {
    /// Seconds for one call.
    package static let limit = 10.0

    /// Why a call did not arrive.
    package struct Failure: Error, Sendable {
        /// Without the URL, whose path is the right to ping.
        package let message: String
    }

    private let url: HTTPURL
    private let network: Network
    private let userAgent: String

    /// Uses the run's ways to the network, but not its stop: a run that is stopped has something to tell.
    package init(_ url: HTTPURL, options: SyncOptions) throws(Failure) {
        self.url = url
        userAgent = options.userAgent
        do throws(SystemError) {
            network = options.network(stop: try Stop())
        } catch {
            throw Failure(message: error.reason)
        }
    }

    /// Asks the URL with a path appended, before its query. Takes `limit` seconds at most.
    package func call(appending path: String) throws(Failure) {
        let deadline = Instant.now.advanced(bySeconds: Self.limit)
        var target = url
        if !path.isEmpty {
            target.path = (url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path) + path
        }
        let status: Int
        do throws(TransportError) {
            target.origin = try target.origin.ascii()
            let request = try request(to: target)
            var connection = try Connection.open(to: target.origin, using: network, until: deadline)
            try connection.send(request, until: deadline)
            status = try connection.receiveHead(until: deadline).status
        } catch {
            throw Failure(message: Setback(transport: error).message)
        }
        guard (200..<300).contains(status) else {
            throw Failure(message: "\(target.origin.authority) answered \(status)")
        }
    }

    private func request(to url: HTTPURL) throws(TransportError) -> [UInt8] {
        let forwarder = network.route(to: url.origin).forwarder
        var fields: [(name: String, value: String)] = [
            ("User-Agent", userAgent), ("Accept", "*/*"), ("Connection", "close"),
        ]
        if let own = url.basicCredentials {
            fields.append(("Authorization", basicAuthorization(user: own.user, password: own.password)))
        }
        if let value = forwarder?.authorization { fields.append(("Proxy-Authorization", value)) }
        var request: [UInt8] = []
        do throws(RequestError) {
            try appendRequest(
                to: &request, target: forwarder == nil ? url.target : url.absoluteTarget,
                host: url.origin.authority, fields: fields)
        } catch {
            throw TransportError(.send, url.origin.authority, .badHost("\(error)"))
        }
        return request
    }
}
