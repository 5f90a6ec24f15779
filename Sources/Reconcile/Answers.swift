/// What an answer without a file means for the entry.
package enum Disposition: Hashable, Sendable {
    /// Ask again in this run, within the tries; then 75.
    case retry
    /// 75, and nothing more in this run.
    case later
    /// 1.
    case never
    /// 1 for a first fetch; on a refresh the copy stays and is marked gone.
    case gone
}

/// The rule of what a status means when it brings no body of ours (RFC 9110 15).
package func disposition(ofStatus status: Int) -> Disposition {
    switch status {
    case 202: .later
    case 408, 425, 429: .retry
    case 404, 410: .gone
    case 500...599: .retry
    // A status that no registry knows is no reason to give an entry up for good.
    case 600...: .retry
    default: .never
    }
}

/// Whether a status may carry a Retry-After that pauses the whole origin (RFC 9110 10.2.3, RFC 6585 4).
package func pausesOrigin(status: Int) -> Bool {
    status == 429 || status == 503
}
