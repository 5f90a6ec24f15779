/// Shares a rate in bytes per second among all transfers of a run.
///
/// Bytes are paid for after they came: each payment gets a place in one line, and its payer reads on when the line has
/// been served up to it. A change of the rate moves the whole line. Time is an argument, in nanoseconds of a clock that
/// does not go back.
package struct RateLimiter: Sendable {
    /// Seconds of the rate that a pause in the traffic saves up.
    package static let burst = 0.1

    /// Bytes per second; nil for no bound.
    private var rate: UInt64?
    /// Bytes that were paid for, and that the rate has allowed, since the beginning. A Double counts single bytes up to
    /// 2^53, and beyond that its error is far below what a read brings.
    private var paid = 0.0
    private var served = 0.0
    private var last: Int64

    /// - Parameter rate: bytes per second, nil for no bound; 0 counts as 1.
    package init(rate: UInt64?, now: Int64) {
        self.rate = rate.map { max($0, 1) }
        last = now
    }

    /// Another rate from now on.
    package mutating func change(to rate: UInt64?, now: Int64) {
        advance(to: now)
        self.rate = rate.map { max($0, 1) }
    }

    /// Pays for bytes that came; the place in the line is for `wait`.
    package mutating func pay(_ bytes: UInt64, now: Int64) -> Double {
        advance(to: now)
        paid += Double(bytes)
        return paid
    }

    /// Seconds until the line is served up to this place, at the present rate; 0 when it is.
    package mutating func wait(for place: Double, now: Int64) -> Double {
        advance(to: now)
        guard let rate, place > served else { return 0 }
        return (place - served) / Double(rate)
    }

    private mutating func advance(to now: Int64) {
        let (step, overflow) = now.subtractingReportingOverflow(last)
        guard step > 0, !overflow else { return }
        last = now
        if let rate {
            served = min(served + Double(rate) * Double(step) / 1e9, paid + Double(rate) * Self.burst)
        } else {
            served = max(served, paid)
        }
    }

    /// How many bytes to read at once, so that a payer waits some twentieth of a second and not for minutes.
    package static func readSize(rate: UInt64?, most: Int) -> Int {
        guard let rate else { return most }
        return min(most, max(1024, Int(clamping: rate / 20)))
    }
}
