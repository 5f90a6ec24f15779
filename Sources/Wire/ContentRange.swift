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

extension ContentRange {
    /// Reads `bytes first-last/total`, `bytes first-last/*` or `bytes */total` (RFC 9110 14.4); nil for all else.
    ///
    /// No number is above `Int64.max`, `first` not above `last`, and `last` below the total.
    package init?(parsing text: String) {
        let bytes = Array(text.utf8)
        guard let space = bytes.firstIndex(of: .space), bytes[..<space].equalsIgnoringCase("bytes") else {
            return nil
        }
        let parts = bytes[(space + 1)...].split(separator: 0x2F, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let unknown = "*".utf8

        var total: UInt64?
        if !parts[1].elementsEqual(unknown) {
            guard let number = DecimalNumber(parts[1]).exact else { return nil }
            total = number
        }
        if parts[0].elementsEqual(unknown) {
            guard total != nil else { return nil }
            self.init(part: nil, total: total)
            return
        }
        let ends = parts[0].split(separator: 0x2D, omittingEmptySubsequences: false)
        guard ends.count == 2, let first = DecimalNumber(ends[0]).exact,
            let last = DecimalNumber(ends[1]).exact,
            first <= last, last < total ?? UInt64(Int64.max)
        else { return nil }
        self.init(part: first...last, total: total)
    }
}
