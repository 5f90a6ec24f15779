/// A number that outlives the runs.
package struct LedgerCounter: Hashable, Sendable {
    package let name: String

    private init(_ name: String) { self.name = name }

    /// Body bytes received.
    package static let received = LedgerCounter("received")
    /// Published files that were found to hold other bytes than when they were published.
    package static let mismatches = LedgerCounter("mismatches")
    /// Wall seconds at the end of the last run that ended with 0.
    package static let lastSuccess = LedgerCounter("last success")

    private static let requestsPrefix = "requests "

    /// Requests that were answered with this status, or `none`.
    package static func requests(code: String) -> LedgerCounter { LedgerCounter(requestsPrefix + code) }

    /// The status of a counter of requests; nil for any other.
    package static func requestCode(of name: String) -> String? {
        name.hasPrefix(requestsPrefix) ? String(name.dropFirst(requestsPrefix.count)) : nil
    }
}
