internal import CLinux
internal import Posix

/// The origin's end of one connection, used by one thread.
final class Peer {
    private let socket: Descriptor
    private let stop: Stop
    private var inbox: [UInt8] = []
    /// False once nothing more can be sent: the client left, we closed, or the origin stops.
    private(set) var isOpen = true

    init(_ socket: consuming Descriptor, stop: Stop) {
        self.socket = socket
        self.stop = stop
    }

    /// The next request; nil when the client closed, sent no request, or the origin stops.
    func receiveRequest() -> Request? {
        var end = endOfHead()
        while end == nil {
            guard inbox.count < 256 << 10, fill() else { return nil }
            end = endOfHead()
        }
        guard let end, var request = Request(head: inbox[..<end]) else { return nil }
        inbox.removeFirst(end)
        let length = min(request.field("content-length").flatMap { Int($0) } ?? 0, 1 << 20)
        while inbox.count < length {
            guard fill() else { return nil }
        }
        request.body = Array(inbox.prefix(length))
        inbox.removeFirst(length)
        return request
    }

    private func endOfHead() -> Int? {
        guard inbox.count >= 4 else { return nil }
        for index in 0...(inbox.count - 4)
        where inbox[index] == 13 && inbox[index + 1] == 10 && inbox[index + 2] == 13 && inbox[index + 3] == 10
        {
            return index + 4
        }
        return nil
    }

    /// Waits for bytes and takes them; false at the end of the connection.
    private func fill() -> Bool {
        guard ready(.read, until: .never) == .ready else { return false }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, initialized in
            initialized = max(0, recv(socket.number, buffer.baseAddress, buffer.count, 0))
        }
        inbox += bytes
        return !bytes.isEmpty
    }

    /// Hands all bytes to the kernel; returns how many it took before the connection ended.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        var sent = 0
        while isOpen && sent < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
            let count = CLinux.send(socket.number, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count >= 0 {
                sent += count
            } else if clinux_errno() == EAGAIN {
                if ready(.write, until: .never) != .ready { isOpen = false }
            } else if clinux_errno() != EINTR {
                isOpen = false
            }
        }
        return sent
    }

    /// Waits until the client's kernel has acknowledged all that was sent; false after 30 s, or when the
    /// connection or the origin ended first. See tcp(7), SIOCOUTQ: nothing announces it, so it is asked.
    @discardableResult
    func drain() -> Bool {
        let deadline = Instant.now.advanced(bySeconds: 30)
        while Instant.now < deadline && isOpen {
            var waiting: Int32 = 0
            guard clinux_send_queue(socket.number, &waiting) == 0 else { return false }
            if waiting == 0 { return true }
            if stop.wait(until: Instant.now.advanced(bySeconds: 0.001)) { return false }
        }
        return false
    }

    /// Waits for the deadline, the client's leaving, or the origin's stop, whichever is first.
    func idle(until deadline: Instant) {
        while isOpen {
            guard ready(.read, until: deadline) == .ready else { return }
            var byte: UInt8 = 0
            let count = recv(socket.number, &byte, 1, Int32(MSG_PEEK))
            // Bytes that nobody asked for would keep poll awake; a second request ends the wait as well.
            if count == 0 || (count < 0 && clinux_errno() != EAGAIN) { isOpen = false }
            if count > 0 { return }
        }
    }

    /// Ends the connection. A reset (SO_LINGER 0, socket(7)) takes effect when the handler returns.
    func close(reset: Bool) {
        guard isOpen else { return }
        isOpen = false
        if reset {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket.number, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        } else {
            shutdown(socket.number, Int32(SHUT_WR))
        }
    }

    private func ready(_ interest: Interest, until deadline: Instant) -> Readiness {
        do throws(SystemError) {
            return try socket.wait(interest, until: deadline, stop: stop)
        } catch {
            return .stopped
        }
    }
}
