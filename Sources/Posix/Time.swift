internal import CLinux

/// A point of the monotonic clock, in nanoseconds; it does not run while nothing can wait for it, and clock
/// changes do not touch it. See clock_gettime(2), CLOCK_MONOTONIC.
package struct Instant: Comparable, Hashable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Now.
    package static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Later than any that is reached.
    package static let never = Instant(nanoseconds: .max)

    package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// This instant moved by a number of seconds, which may be a fraction; saturates.
    package func advanced(bySeconds seconds: Double) -> Instant {
        let step = seconds * 1e9
        guard step < 9.0e18 else { return .never }
        let (sum, overflow) = nanoseconds.addingReportingOverflow(Int64(max(step, -9.0e18)))
        return Instant(nanoseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }

    /// Seconds from another instant to this one.
    package func seconds(since other: Instant) -> Double { Double(nanoseconds &- other.nanoseconds) / 1e9 }

    /// What poll(2) takes: milliseconds from now, rounded up, 0 when it has passed, at most a day.
    package var pollTimeout: Int32 {
        let left = nanoseconds.subtractingReportingOverflow(Instant.now.nanoseconds)
        if left.overflow { return nanoseconds < 0 ? 0 : 86_400_000 }
        if left.partialValue > 86_400_000_000_000 { return 86_400_000 }
        return left.partialValue <= 0 ? 0 : Int32((left.partialValue + 999_999) / 1_000_000)
    }
}

/// Wall-clock seconds since 1970, only for what is stored and compared with a server's dates.
package func wallSeconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec)
}
