import Wire

/// Until when an answer is fresh by the server's own words (RFC 9111 4.2), and whether it is immutable.
package struct ServerFreshness: Hashable, Sendable {
    /// Wall seconds; nil when the server does not say.
    package let until: Int64?
    /// RFC 8246.
    package let isImmutable: Bool

    /// - Parameters:
    ///   - cacheControl: the field's combined value; nil when absent.
    ///   - expires, date, age: the fields' values as written.
    ///   - isOwnOrigin: the answer's final URL has the entry's own origin; another's word does not count.
    ///   - isSurprisingHTML: html at a name that is not html: a portal's promise is worth nothing.
    ///   - now: wall seconds.
    package init(
        cacheControl: String?, expires: String?, date: Int64?, age: String?, isOwnOrigin: Bool,
        isSurprisingHTML: Bool, now: Int64
    ) {
        guard isOwnOrigin, !isSurprisingHTML else {
            until = nil
            isImmutable = false
            return
        }
        let control = cacheControl.map { CacheControl($0) }
        if control?.noStore == true || control?.noCache == true {
            until = nil
            isImmutable = false
            return
        }
        let spent = age.map(Self.seconds(inAge:)) ?? 0
        var lifetime: Int64?
        if let seconds = control?.maxAge {
            lifetime = seconds
        } else if let expires {
            // RFC 9111 5.3: an invalid Expires, above all "0", means expired.
            let end = parseHTTPDate(expires, now: now) ?? 0
            let (span, overflow) = end.subtractingReportingOverflow(date ?? now)
            lifetime = overflow ? 0 : max(0, span)
        }
        isImmutable = control?.isImmutable ?? false
        guard let lifetime else {
            until = nil
            return
        }
        let (left, under) = lifetime.subtractingReportingOverflow(spent)
        let (end, over) = now.addingReportingOverflow(under ? 0 : max(0, left))
        until = over ? .max : end
    }

    /// An Age beyond all bounds is as old as can be (RFC 9111 1.2.2); one that is no number counts as a day, since
    /// it is better to ask than to trust.
    private static func seconds(inAge text: String) -> Int64 {
        if let number = Int64(text) { return max(0, number) }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber ? .max : 86_400
    }
}
