internal import CLinux

/// The three descriptors that a process is born with. Nobody owns or closes them.
package enum StandardStream: Int32, CaseIterable, Sendable {
    case input = 0
    case output = 1
    case error = 2

    /// Opens /dev/null at those of the three that are closed, lest the first file that is opened takes the
    /// number and receives our messages. Call it before anything else.
    package static func fillGaps() {
        // open(2) takes the lowest free number, so going upwards fills each gap with itself.
        for stream in allCases where clinux_fcntl(stream.rawValue, F_GETFD, 0) == -1 {
            if clinux_openat(AT_FDCWD, "/dev/null", O_RDWR, 0) != stream.rawValue { endProcess(71) }
        }
    }

    /// Whether a terminal is at its other end. See isatty(3).
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Columns of the terminal; nil when it is none or does not tell. See TIOCGWINSZ in ioctl_tty(2).
    package var columns: Int? {
        var size = winsize()
        guard clinux_terminal_size(rawValue, &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes all of it. A descriptor that somebody made non-blocking is waited for, at most 10 s at a time.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                CLinux.write(rawValue, $0.baseAddress?.advanced(by: done), $0.count - done)
            }
            if count > 0 {
                done += count
                continue
            }
            let code = clinux_errno()
            if code == EINTR { continue }
            var entry = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
            if code == EAGAIN, CLinux.poll(&entry, 1, 10_000) > 0 { continue }
            // EBADF is no fault of ours here: the shell may have opened the number only to read.
            throw SystemError("write", self == .output ? "standard output" : "standard error", code: code)
        }
    }
}

extension SystemError {
    /// The reader of a pipe went away.
    package var isBrokenPipe: Bool { code == EPIPE }
}

/// Ends the process at once. Handlers of exit(3) do not run: a library's clean-up would pull the ground from
/// under threads that still wait for the world. See _exit(2).
package func endProcess(_ code: Int32) -> Never { _exit(code) }

/// A variable of the environment; nil when it is not set or empty. See getenv(3).
package func environmentValue(_ name: String) -> String? {
    guard let text = getenv(name) else { return nil }
    let value = String(cString: text)
    return value.isEmpty ? nil : value
}
