/// Reads a Retry-After (RFC 9110 10.2.3) as seconds from `now` (seconds since 1970): 0 to half of `Int64.max`.
///
/// nil for anything but digits or a date.
package func parseRetryAfter(_ text: String, now: Int64) -> Int64? {
    let farthest = Int64.max / 2
    switch DecimalNumber(text.utf8) {
    case .value(let seconds): return Int64(min(seconds, UInt64(farthest)))
    case .tooLarge: return farthest
    case .malformed: break
    }
    guard let date = parseHTTPDate(text, now: now) else { return nil }
    let (difference, overflow) = date.subtractingReportingOverflow(now)
    // A date lies within ten thousand years, so only a `now` far in the past can overflow.
    return overflow ? farthest : min(max(difference, 0), farthest)
}
