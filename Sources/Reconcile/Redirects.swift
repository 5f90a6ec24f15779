package import Wire

/// The hops of one try (RFC 9110 15.4). Hops are counted; URLs are not remembered, since a server may send the
/// same URL twice for a reason.
package struct Redirects: Sendable {
    package static let limit = 20

    private let entry: HTTPURL
    /// Where the next request goes.
    package private(set) var current: HTTPURL
    /// Hops followed so far.
    package private(set) var count = 0

    package init(from entry: HTTPURL) {
        self.entry = entry
        current = entry
    }

    /// Why a redirect is not followed.
    package enum Obstacle: Error, Hashable, Sendable {
        case noLocation
        case badLocation(String)
        case unsupportedScheme(String)
        /// From https to http.
        case downgrade(to: String)
        case tooMany
    }

    /// Follows a Location (a URI reference, RFC 3986 4.1).
    package mutating func follow(_ location: String?) throws(Obstacle) {
        guard let location, !location.isEmpty else { throw .noLocation }
        guard count < Self.limit else { throw .tooMany }
        let next: HTTPURL
        do throws(URLError) {
            next = try current.resolving(location)
        } catch {
            if case .unsupportedScheme(let scheme) = error { throw .unsupportedScheme(scheme) }
            throw .badLocation("\(error)")
        }
        if current.origin.scheme == .https, next.origin.scheme == .http {
            throw .downgrade(to: next.origin.description)
        }
        current = next
        count += 1
    }

    /// Credentials and `header=` fields go to the entry's own origin only.
    package var isAtHome: Bool { current.origin == entry.origin }
}
