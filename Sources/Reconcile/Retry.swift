/// How long to wait before a try: exponential with full jitter, from 0.5 s up to 60 s.
///
/// The upper bound by the number of the retry: 1: 0.5 s, 2: 1 s, 3: 2 s, 4: 4 s, 5: 8 s, 6: 16 s, 7: 32 s, from 8 on
/// 60 s. The wait is drawn from all below it, which spreads a crowd best.
///
/// - Parameters:
///   - retry: counted from 1.
///   - random: in 0..<1.
package func backoff(retry: Int, random: Double) -> Double {
    min(60.0, 0.5 * Double(1 << min(max(retry, 1) - 1, 7))) * random
}

/// The tries of one entry in one run.
package struct RetryBudget: Hashable, Sendable {
    /// A try that brought at least this much beyond what was ever held is free, in bytes.
    package static let progress: UInt64 = 1024
    /// Restarts from byte 0 per entry and run.
    package static let restartLimit = 5

    private let retries: Int
    private var spent = 0
    private var restarts = 0
    private var furthest: UInt64

    /// - Parameters:
    ///   - retries: tries after the first.
    ///   - held: bytes of the partial at the start.
    package init(retries: Int, held: UInt64) {
        self.retries = retries
        furthest = held
    }

    /// What follows a try that did not finish.
    package enum Next: Hashable, Sendable {
        /// It brought bytes: go on at once.
        case now
        /// The number of the retry, counted from 1, for `backoff`.
        case retry(Int)
        case giveUp
    }

    /// Counts a try whose answer brought the representation up to this length; 0 when it brought no body.
    package mutating func ended(holding length: UInt64) -> Next {
        if length >= furthest, length - furthest >= Self.progress {
            furthest = length
            return .now
        }
        furthest = max(furthest, length)
        spent += 1
        return spent > retries ? .giveUp : .retry(spent)
    }

    /// Counts a start from byte 0 although bytes were held, which spends a try; false when there were too many.
    ///
    /// - Parameter isOtherVersion: what comes now is another representation, of which nothing was held yet.
    package mutating func restarted(isOtherVersion: Bool = true) -> Bool {
        restarts += 1
        spent += 1
        if isOtherVersion { furthest = 0 }
        return restarts <= Self.restartLimit
    }
}

/// How long a Retry-After is waited for in a run, in seconds.
package let retryAfterPatience: Int64 = 60
/// The furthest that a not-before is believed, in seconds.
package let notBeforeLimit: Int64 = 86_400

/// When an entry that failed may be asked again (wall seconds): a quarter of the time since it began to fail,
/// after its last try, at most a day later; an immediate rerun always asks.
package func isDue(failingSince since: Int64, lastTry: Int64, now: Int64) -> Bool {
    // A clock that went back says nothing about how long it was.
    guard now >= lastTry, lastTry >= since else { return true }
    let (failing, overflow) = now.subtractingReportingOverflow(since)
    let wait = overflow ? notBeforeLimit : min(failing / 4, notBeforeLimit)
    let (idle, isAges) = now.subtractingReportingOverflow(lastTry)
    return isAges || idle >= wait
}

/// Whether a stored not-before still holds; one further ahead than a day is void.
package func holdsBack(notBefore: Int64?, now: Int64) -> Bool {
    guard let notBefore, notBefore > now else { return false }
    let (ahead, overflow) = notBefore.subtractingReportingOverflow(now)
    return !overflow && ahead <= notBeforeLimit
}
