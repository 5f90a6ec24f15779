import Posix
import Testing

@Suite("An instant")
struct InstantTests {
    static let moves: [(from: Int64, seconds: Double, to: Int64)] = [
        (0, 1.5, 1_500_000_000), (5, 0, 5), (5, -1, -999_999_995), (.max, 1, .max),
        (.max, -1, .max - 1_000_000_000),
        (.min, -1, .min), (.min, 1, .min + 1_000_000_000), (0, 1e300, .max), (0, .infinity, .max),
        (0, .nan, .max), (.min, -.infinity, .min), (1, 9.3e9, .max), (.min, -1e300, .min),
    ]

    @Test("is moved, and saturates", arguments: moves)
    func isMoved(_ row: (from: Int64, seconds: Double, to: Int64)) {
        #expect(Instant(nanoseconds: row.from).advanced(bySeconds: row.seconds).nanoseconds == row.to)
    }

    static let timeouts: [(instant: Instant, milliseconds: Int32)] = [
        (.never, 86_400_000), (Instant(nanoseconds: .max - 1), 86_400_000),
        (Instant(nanoseconds: 0), 0), (Instant(nanoseconds: -1), 0), (Instant(nanoseconds: .min), 0),
        (Instant(nanoseconds: .min + 1), 0),
    ]

    @Test("is what poll takes: nothing when it has passed, a day at most", arguments: timeouts)
    func pollTimeouts(_ row: (instant: Instant, milliseconds: Int32)) {
        #expect(row.instant.pollTimeout == row.milliseconds)
    }

    @Test("a wait for poll is rounded up, never down")
    func roundsUp() {
        let deadline = Instant.now.advanced(bySeconds: 3600.0001)
        let timeout = deadline.pollTimeout
        #expect((1_800_000...3_600_001).contains(timeout))
        #expect(Instant.now.advanced(bySeconds: Double(timeout) / 1000) >= deadline)
    }

    @Test("the clock runs forwards")
    func runsForwards() {
        let first = Instant.now
        let second = Instant.now
        #expect(first <= second)
        #expect(second.seconds(since: first) >= 0)
        #expect(first < Instant.never)
    }

    @Test("wall seconds are of this age")
    func wallClock() { #expect(wallSeconds() > 1_600_000_000) }
}
