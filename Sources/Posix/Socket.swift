internal import CLinux

extension Descriptor {
    /// Makes a TCP socket that never blocks, sends small packets at once and notices a peer that is gone for
    /// hours. See socket(2), tcp(7).
    package static func socket(for address: Address) throws(SystemError) -> Descriptor {
        let domain = address.family == .v4 ? AF_INET : AF_INET6
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = try retrying("socket", address.description) { CLinux.socket(domain, kind, 0) }
        let socket = Descriptor(owning: number, subject: address.description)
        try socket.enable(Int32(IPPROTO_TCP), TCP_NODELAY)
        try socket.enable(SOL_SOCKET, SO_KEEPALIVE)
        return socket
    }

    private borrowing func enable(_ level: Int32, _ option: Int32) throws(SystemError) {
        var on: Int32 = 1
        _ = try retrying("setsockopt", subject) {
            setsockopt(number, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Begins to connect; true when that is done already, else the socket gets writable once it is decided and
    /// `pendingError` tells how. See connect(2).
    package borrowing func connect(to address: Address) throws(SystemError) -> Bool {
        let result = address.withSocketAddress {
            CLinux.connect(number, $0, $1)
        }
        if result == 0 { return true }
        let code = clinux_errno()
        // After EINTR the kernel goes on connecting, as after EINPROGRESS.
        if code == EINPROGRESS || code == EINTR { return false }
        throw SystemError("connect", subject, code: code)
    }

    /// Takes the error that the kernel keeps for the socket, 0 when there is none. See socket(7), SO_ERROR.
    package borrowing func pendingError() throws(SystemError) -> Int32 {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        _ = try retrying("getsockopt", subject) { getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &size) }
        return code
    }

    /// Sends what the kernel takes now; nil when it takes nothing yet. Raises no SIGPIPE. See send(2).
    package borrowing func send(_ buffer: UnsafeRawBufferPointer) throws(SystemError) -> Int? {
        do {
            return try retrying("send", subject) {
                CLinux.send(number, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
        } catch  where error.code == EAGAIN {
            return nil
        }
    }

    /// Receives what is here; 0 at the peer's end of the stream, nil when nothing is here yet. See recv(2).
    package borrowing func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
        do {
            return try retrying("recv", subject) { recv(number, buffer.baseAddress, buffer.count, 0) }
        } catch  where error.code == EAGAIN {
            return nil
        }
    }

    /// Whether poll(2) has nothing at all to report for reading: no byte, no end, no error.
    package borrowing func isQuiet() throws(SystemError) -> Bool {
        var entry = pollfd(fd: number, events: Int16(POLLIN) | Int16(POLLRDHUP), revents: 0)
        return try retrying("poll", subject) { CLinux.poll(&entry, 1, 0) } == 0
    }
}

/// How a wait for several descriptors ended: with the places of those that are ready, at least one.
package enum Readinesses: Sendable { case ready([Int]), timedOut, stopped }

/// Waits until one of the descriptors can be read or written (or has an error to report), the deadline passes,
/// or the stop is raised, which wins over the others. The caller keeps the descriptors open. See poll(2).
package func waitForAny(
    _ numbers: [Int32], _ interest: Interest, until deadline: Instant, stop: Stop
) throws(SystemError) -> Readinesses {
    let events = Int16(interest == .read ? POLLIN : POLLOUT)
    var entries = numbers.map { pollfd(fd: $0, events: events, revents: 0) }
    entries += [pollfd](repeating: pollfd(), count: stop.pollCount)
    entries.withUnsafeMutableBufferPointer { all in
        stop.fill(UnsafeMutableBufferPointer(rebasing: all[numbers.count...]))
    }
    while true {
        _ = try retrying("poll", "sockets") {
            CLinux.poll(&entries, nfds_t(entries.count), deadline.pollTimeout)
        }
        if entries[numbers.count...].contains(where: { $0.revents != 0 }) { return .stopped }
        let ready = numbers.indices.filter { entries[$0].revents != 0 }
        if !ready.isEmpty { return .ready(ready) }
        if Instant.now >= deadline { return .timedOut }
    }
}

extension SystemError {
    /// No way leads to the host: the machine is offline, or the address family does not work here.
    package var isUnreachable: Bool {
        code == ENETUNREACH || code == EHOSTUNREACH || code == ENETDOWN || code == EHOSTDOWN
    }
    /// A way leads there, but whoever is next on it, or the host itself, does not answer (the kernel asks a neighbour for
    /// about three seconds).
    package var isNeighbourSilent: Bool { code == EHOSTUNREACH || code == EHOSTDOWN }
    /// The host answered that nobody listens.
    package var isRefused: Bool { code == ECONNREFUSED }
    /// The peer has dropped the connection.
    package var isReset: Bool { code == ECONNRESET || code == EPIPE || code == ECONNABORTED }
    /// The kernel gave up waiting for the peer.
    package var isTimeout: Bool { code == ETIMEDOUT }
    /// This machine does not have the address family, or no address of it to send from.
    package var isFamilyMissing: Bool { code == EAFNOSUPPORT || code == EADDRNOTAVAIL }
}
