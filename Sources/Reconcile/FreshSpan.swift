/// Until when a copy is believed without asking, and by whose word.
package struct FreshSpan: Hashable, Sendable {
    /// Whose word it is.
    package enum Word: String, Hashable, Sendable, CaseIterable {
        /// The manifest's checksum fits.
        case checksum
        /// `immutable` in the manifest.
        case immutable
        /// The server's Cache-Control: immutable.
        case serverImmutable = "server-immutable"
        /// The server's Cache-Control or Expires, which the user trusts.
        case server
        /// A number of seconds, of the manifest or an option.
        case maxAge = "max-age"
    }

    /// Wall seconds, the first of which is too late; nil for ever.
    package let until: Int64?
    package let word: Word

    package init(until: Int64?, word: Word) {
        self.until = until
        self.word = word
    }

    /// Whether it holds at a time. A clock that stands before the time of receipt says nothing about age.
    package func holds(at now: Int64, received: Int64) -> Bool {
        guard let until else { return true }
        return now >= received && now < until
    }
}

/// The longest span in which `belief` finds a copy immutable or fresh; nil when it must be asked about at once.
package func freshSpan(of copy: CopyFacts, entry: EntryFacts) -> FreshSpan? {
    if copy.checksumFits == false || entry.trust == .never { return nil }
    if copy.checksumFits == true { return FreshSpan(until: nil, word: .checksum) }
    if entry.isImmutable { return FreshSpan(until: nil, word: .immutable) }
    var span: FreshSpan?
    func take(_ until: Int64, _ word: FreshSpan.Word) {
        if until > span?.until ?? copy.received { span = FreshSpan(until: until, word: word) }
    }
    if copy.isImmutable, let until = copy.freshUntil { take(until, .serverImmutable) }
    switch entry.trust {
    case .never: break
    case .server: if let until = copy.freshUntil { take(until, .server) }
    case .seconds(let limit):
        let (end, overflow) = copy.received.addingReportingOverflow(limit)
        take(overflow ? .max : end, .maxAge)
    }
    return span
}
