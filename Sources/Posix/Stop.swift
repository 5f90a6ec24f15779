internal import CLinux

/// A request to stop that any thread, and a signal handler, can raise, and that poll(2) can see.
///
/// It is an eventfd that stays readable for everybody once it is written.
package final class Stop: Sendable {
    private let event: Descriptor
    /// Raised for all who are below it.
    private let above: Stop?

    /// - Parameter above: another stop that counts as this one too, but not the other way round.
    package init(below above: Stop? = nil) throws(SystemError) {
        let number = try retrying("eventfd", "stop") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
        event = Descriptor(owning: number, subject: "stop")
        self.above = above
    }

    /// The descriptor of this one alone: for a wait for it, not beside something else.
    package var number: Int32 { event.number }

    /// How many descriptors `fill` gives.
    var pollCount: Int { 1 + (above?.pollCount ?? 0) }

    /// Puts what is to be polled, beside what is waited for, at the front of the entries.
    func fill(_ entries: UnsafeMutableBufferPointer<pollfd>) {
        entries.initializeElement(at: 0, to: pollfd(fd: event.number, events: Int16(POLLIN), revents: 0))
        above?.fill(UnsafeMutableBufferPointer(rebasing: entries[1...]))
    }

    /// Raises it.
    package func raise() {
        var one: UInt64 = 1
        // A full counter (EAGAIN) is raised already.
        _ = CLinux.write(event.number, &one, 8)
    }

    /// Takes back a raise of its own; what is above it stays as it is. Who waited may or may not have seen it.
    package func lower() {
        var count: UInt64 = 0
        // EAGAIN: it was not raised.
        _ = CLinux.read(event.number, &count, 8)
    }

    /// Whether it was raised.
    package var isRaised: Bool { poll(timeout: 0) }

    private func poll(timeout: Int32) -> Bool {
        let count = pollCount
        return withUnsafeTemporaryAllocation(of: pollfd.self, capacity: count) { entries in
            fill(entries)
            return CLinux.poll(entries.baseAddress, nfds_t(count), timeout) > 0
        }
    }

    /// Waits until it is raised or the deadline passes; true when it was raised.
    package func wait(until deadline: Instant) -> Bool {
        while true {
            if poll(timeout: deadline.pollTimeout) { return true }
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
            let size = 1 + stop.pollCount
            let (count, own, stopped) = withUnsafeTemporaryAllocation(of: pollfd.self, capacity: size) {
                entries in
                entries.initializeElement(at: 0, to: pollfd(fd: number, events: events, revents: 0))
                stop.fill(UnsafeMutableBufferPointer(rebasing: entries[1...]))
                let count = CLinux.poll(entries.baseAddress, nfds_t(size), deadline.pollTimeout)
                return (count, entries[0].revents, entries[1...].reduce(0) { $0 | $1.revents })
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
