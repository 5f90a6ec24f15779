package import Posix

/// A door that a test opens once, for handlers to wait at; so that a test orders events without sleeping.
package final class Gate: Sendable {
    private let opened = Monitor(false)

    package init() {}

    /// Lets everybody through, now and later.
    package func open() { opened.signal { $0 = true } }

    /// Waits until it is open; false when the deadline passed first.
    @discardableResult
    package func wait(until deadline: Instant) -> Bool {
        opened.wait { isOpen in
            if isOpen { return .done(true) }
            return Instant.now >= deadline ? .done(false) : .wait(until: deadline)
        }
    }
}
