/// A Content-Range in bytes (RFC 9110 14.4).
package struct ContentRange: Hashable, Sendable {
    /// The part's first and last byte; nil for `*`, which a 416 uses.
    package let part: ClosedRange<UInt64>?
    /// The whole size in bytes; nil for `*`.
    package let total: UInt64?

    package init(part: ClosedRange<UInt64>?, total: UInt64?) {
        self.part = part
        self.total = total
    }
}
