internal import CLinux

/// A request to stop that any thread, and a signal handler, can raise, and that poll(2) can see.
///
/// It is an eventfd that is written once and never read, so it stays readable for everybody.
package final class Stop: Sendable {
    private let event: Descriptor

    package init() throws(SystemError) {
        let number = try retrying("eventfd", "stop") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
        event = Descriptor(owning: number, subject: "stop")
    }

    /// The descriptor to poll beside the one that is waited for.
    package var number: Int32 { event.number }

    /// Raises it. Safe in a signal handler through `number` and write(2).
    package func raise() {
        var one: UInt64 = 1
        // A full counter (EAGAIN) is raised already.
        _ = CLinux.write(event.number, &one, 8)
    }

    /// Whether it was raised.
    package var isRaised: Bool {
        var entry = pollfd(fd: event.number, events: Int16(POLLIN), revents: 0)
        return CLinux.poll(&entry, 1, 0) > 0
    }

    /// Waits until it is raised or the deadline passes; true when it was raised.
    package func wait(until deadline: Instant) -> Bool {
        while true {
            var entry = pollfd(fd: event.number, events: Int16(POLLIN), revents: 0)
            if CLinux.poll(&entry, 1, deadline.pollTimeout) > 0 { return true }
            if Instant.now >= deadline { return false }
        }
    }
}

/// How a wait ended.
package enum Readiness: Sendable { case ready, timedOut, stopped }

/// What a wait is for.
package enum Interest: Sendable { case read, write }

extension Descriptor {
    /// Waits until the descriptor can be read or written (or has an error to report), the deadline passes, or
    /// the stop is raised, which wins over the others. See poll(2).
    package borrowing func wait(
        _ interest: Interest, until deadline: Instant, stop: Stop
    ) throws(SystemError) -> Readiness {
        while true {
            let events = Int16(interest == .read ? POLLIN : POLLOUT)
            let (count, own, stopped) = withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) {
                entries in
                entries.initializeElement(at: 0, to: pollfd(fd: number, events: events, revents: 0))
                entries.initializeElement(
                    at: 1, to: pollfd(fd: stop.number, events: Int16(POLLIN), revents: 0))
                let count = CLinux.poll(entries.baseAddress, 2, deadline.pollTimeout)
                return (count, entries[0].revents, entries[1].revents)
            }
            if count < 0 {
                let code = clinux_errno()
                if code == EINTR { continue }
                throw SystemError("poll", subject, code: code)
            }
            if stopped != 0 { return .stopped }
            if own != 0 { return .ready }
            if Instant.now >= deadline { return .timedOut }
        }
    }
}
