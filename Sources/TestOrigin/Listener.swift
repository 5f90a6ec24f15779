internal import CLinux
internal import Posix

/// A listening TCP socket on a numeric address.
final class Listener: Sendable {
    private let socket: Descriptor
    let port: UInt16

    /// Binds and listens; port 0 takes a free one. See bind(2), listen(2).
    init(host: String, port: UInt16) throws(SystemError) {
        let subject = "\(host):\(port)"
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let address = list else {
            throw SystemError("getaddrinfo", subject, code: EINVAL)
        }
        defer { freeaddrinfo(list) }
        let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let number = CLinux.socket(address.pointee.ai_family, flags, 0)
        guard number >= 0 else { throw SystemError("socket", subject, code: clinux_errno()) }
        let socket = Descriptor(owning: number, subject: subject)
        var one: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        guard bind(number, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 else {
            throw SystemError("bind", subject, code: clinux_errno())
        }
        guard listen(number, 512) == 0 else { throw SystemError("listen", subject, code: clinux_errno()) }
        self.port = try Listener.boundPort(socket)
        self.socket = socket
    }

    private static func boundPort(_ socket: borrowing Descriptor) throws(SystemError) -> UInt16 {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutableBytes(of: &storage) { bytes -> Int32 in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            return getsockname(socket.number, address, &length)
        }
        guard result == 0 else { throw SystemError("getsockname", socket.subject, code: clinux_errno()) }
        // The port lies behind the family in both families, in network order (ip(7), ipv6(7)).
        return withUnsafeBytes(of: storage) { UInt16($0[2]) << 8 | UInt16($0[3]) }
    }

    /// Waits for a connection; nil once the stop is raised. The descriptor is the caller's.
    func accept(stop: Stop) -> Int32? {
        while true {
            do throws(SystemError) {
                guard try socket.wait(.read, until: .never, stop: stop) == .ready else { return nil }
            } catch {
                return nil
            }
            let number = accept4(
                socket.number, nil, nil,
                Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue))
            guard number >= 0 else {
                // Out of descriptors: the connection stays in the queue, and poll would return at once.
                if stop.wait(until: Instant.now.advanced(bySeconds: 0.01)) { return nil }
                continue
            }
            var one: Int32 = 1
            setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
            return number
        }
    }
}
