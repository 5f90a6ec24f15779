internal import CLinux

/// The signals that ask for an end, TERM, INT and HUP, and the one that asks how far things are, USR1. See
/// signal(7).
///
/// No handler runs: the signals are blocked in every thread and one thread waits for them with sigwait(3), so
/// what is done about them is ordinary code.
package final class SignalWatch: Sendable {
    /// Seconds in which further signals are taken for the first one: a key pressed twice, or a terminal that closes
    /// and a shell that ends its children, must not cost what is being saved.
    package static let grace = 1.0

    private let first = Monitor<(number: Int32, time: Instant)?>(nil)

    /// A write to a closed pipe (OpenSSL writes too) or beyond the largest file that is allowed (setrlimit(2),
    /// RLIMIT_FSIZE) becomes an error instead of the process's end.
    package static func ignoreFailedWrites() {
        clinux_ignore_signal(SIGPIPE)
        clinux_ignore_signal(SIGXFSZ)
    }

    /// From now on the first signal raises the stop, and one that comes after `grace` ends the process at once with
    /// 128 plus its number. Call it before any other thread starts.
    ///
    /// Signals that were ignored at the start stay so: nohup(1) and a shell's background jobs mean it.
    ///
    /// - Parameter onQuestion: called for each USR1, from the thread that waits for signals, so it must not block;
    ///   without it USR1 does what it does by default.
    package init(
        raising stop: Stop, onQuestion: (@Sendable () -> Void)? = nil
    ) throws(SystemError) {
        var watched = sigset_t()
        sigemptyset(&watched)
        let wanted = [SIGTERM, SIGINT, SIGHUP] + (onQuestion == nil ? [] : [SIGUSR1])
        for number in wanted where clinux_is_signal_ignored(number) == 0 {
            sigaddset(&watched, number)
        }
        pthread_sigmask(SIG_BLOCK, &watched, nil)
        let signals = watched
        let first = self.first
        try WorkerThread(name: "signals") {
            var signals = signals
            while true {
                var number: Int32 = 0
                // An empty set waits for ever, which is right: nothing is to be seen.
                guard sigwait(&signals, &number) == 0 else { continue }
                if number == SIGUSR1 {
                    onQuestion?()
                    continue
                }
                let received = number
                let isImpatient = first.signal { (seen: inout (number: Int32, time: Instant)?) -> Bool in
                    if let seen { return Instant.now.seconds(since: seen.time) >= Self.grace }
                    seen = (received, .now)
                    return false
                }
                if isImpatient { endProcess(128 + number) }
                stop.raise()
            }
        }.detach()
    }

    /// The name of the signal that came, for instance `SIGTERM`; nil when none did.
    package var receivedName: String? {
        switch first.withLock({ $0?.number }) {
        case SIGTERM: "SIGTERM"
        case SIGINT: "SIGINT"
        case SIGHUP: "SIGHUP"
        case .some(let number): "signal \(number)"
        case nil: nil
        }
    }
}
