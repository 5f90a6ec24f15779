import Posix
import Reconcile
import Synchronization

/// Holds the run's transfers to the rate and the number of bytes that it was given.
final class Shaper: Sendable {
    /// Seconds after which a wait looks at the timetable again.
    private static let look = 1.0

    private let timetable: RateTimetable?
    private let hasAllowance: Bool
    private let stop: Stop
    private let state: Mutex<State>

    private struct State {
        var limiter: RateLimiter
        var allowance: ByteAllowance
        var rate: UInt64?
        var looked: Instant
    }

    init(timetable: RateTimetable?, bytes: UInt64?, stop: Stop) {
        let now = Instant.now
        let rate = timetable?.rate(atMinute: localMinute(of: wallSeconds()))
        self.timetable = timetable
        hasAllowance = bytes != nil
        self.stop = stop
        state = Mutex(
            State(
                limiter: RateLimiter(rate: rate, now: now.nanoseconds),
                allowance: ByteAllowance(bytes: bytes), rate: rate, looked: now))
    }

    /// How many bytes a transfer may read now, at most as many as wanted; 0 when the run may receive no more.
    func reserve(_ wanted: Int) -> Int {
        guard timetable != nil || hasAllowance else { return wanted }
        return state.withLock { state in
            refresh(&state)
            return state.allowance.reserve(RateLimiter.readSize(rate: state.rate, most: wanted))
        }
    }

    /// Accounts for bytes that came of those reserved, and waits as long as the rate asks for, or until the stop.
    /// Returns the seconds that it waited.
    func pay(_ bytes: Int, reserved: Int) -> Double {
        guard timetable != nil || hasAllowance else { return 0 }
        let began = Instant.now
        let place = state.withLock { state in
            state.allowance.giveBack(reserved - bytes)
            return state.limiter.pay(UInt64(max(bytes, 0)), now: began.nanoseconds)
        }
        guard timetable != nil else { return 0 }
        while true {
            let now = Instant.now
            let seconds = state.withLock { state in
                refresh(&state)
                return state.limiter.wait(for: place, now: now.nanoseconds)
            }
            if seconds <= 0 || stop.wait(until: now.advanced(bySeconds: min(seconds, Self.look))) {
                return Instant.now.seconds(since: began)
            }
        }
    }

    /// What was reserved did not come.
    func giveBack(_ bytes: Int) {
        guard hasAllowance else { return }
        state.withLock { $0.allowance.giveBack(bytes) }
    }

    private func refresh(_ state: inout State) {
        guard let timetable, timetable.changes else { return }
        let now = Instant.now
        guard now.seconds(since: state.looked) >= Self.look else { return }
        state.looked = now
        let rate = timetable.rate(atMinute: localMinute(of: wallSeconds()))
        guard rate != state.rate else { return }
        state.rate = rate
        state.limiter.change(to: rate, now: now.nanoseconds)
    }
}
