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
    // An interim answer has no place here, and a status that no registry knows is no reason to give an entry up
    // for good.
    case ..<200, 600...: .retry
    case 202: .later
    case 408, 425, 429: .retry
    case 404, 410: .gone
    case 500...599: .retry
    default: .never
    }
}
