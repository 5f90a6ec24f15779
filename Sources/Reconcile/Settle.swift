/// How a body ended, and what is known of the bytes that are there now.
package struct BodyEnd: Hashable, Sendable {
    /// The message was complete by its framing.
    package var isComplete: Bool
    /// Bytes in the partial now.
    package var length: UInt64
    /// The whole size, by the answers.
    package var total: UInt64?
    /// The size that the manifest names.
    package var expectedSize: UInt64?
    /// Whether the checksum (manifest's, else the server's) fits; nil when nobody named one.
    package var checksumFits: Bool?
    /// The bytes came from more than one answer.
    package var isMixed: Bool
    /// The last answer was a part (206), whose end is the file's end only when something says so.
    package var isPart: Bool
    /// This entry was already asked again from byte 0 because a checksum was wrong.
    package var wasAskedAgain: Bool

    package init(
        isComplete: Bool, length: UInt64, total: UInt64?, expectedSize: UInt64? = nil,
        checksumFits: Bool? = nil,
        isMixed: Bool = false, isPart: Bool = false, wasAskedAgain: Bool = false
    ) {
        self.isComplete = isComplete
        self.length = length
        self.total = total
        self.expectedSize = expectedSize
        self.checksumFits = checksumFits
        self.isMixed = isMixed
        self.isPart = isPart
        self.wasAskedAgain = wasAskedAgain
    }
}

/// What to do with the bytes once a body has ended.
package enum Settlement: Hashable, Sendable {
    /// Complete and checked.
    case publish
    /// A part came as asked; the rest is asked for at once.
    case askOn
    /// Broken off: keep the partial, try again.
    case keep
    /// Wrong: drop it and ask the same URL once more from byte 0, past every cache.
    case askAgain(Wrong)
    /// Wrong: drop it; the next mirror, or failed.
    case drop(Wrong)

    /// What is wrong with complete bytes.
    package enum Wrong: Hashable, Sendable { case size, checksum }
}

/// The rule of what the end of a body means (one row per line in the tests and in docs/rules.md).
package func settle(_ end: BodyEnd) -> Settlement {
    guard end.isComplete else { return .keep }
    if let total = end.total {
        if end.length < total { return .askOn }
        if end.length > total { return wrong(.size, end) }
    } else if end.isPart, end.checksumFits != true, end.expectedSize.map({ end.length < $0 }) ?? true {
        // `bytes 5-9/*` may end anywhere; only the 416 to a further request tells that nothing is left.
        return .askOn
    }
    if let expected = end.expectedSize, expected != end.length { return wrong(.size, end) }
    if end.checksumFits == false { return wrong(.checksum, end) }
    return .publish
}

private func wrong(_ what: Settlement.Wrong, _ end: BodyEnd) -> Settlement {
    end.isMixed && !end.wasAskedAgain ? .askAgain(what) : .drop(what)
}
