internal import CLinux

/// The datagram socket that a service manager listens on. See sd_notify(3), unix(7).
package struct NotifySocket: ~Copyable, Sendable {
    private let socket: Descriptor
    /// As the kernel takes it: sockaddr_un up to the end of the name.
    private let address: [UInt8]

    /// - Parameter name: a path, or `@` and a name in the abstract namespace; nil when it is neither, or too long.
    package init?(named name: String) throws(SystemError) {
        var path = Array(name.utf8)
        guard path.count > 1, path[0] == 0x2F || path[0] == 0x40, !path.contains(0),
            path.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        // An abstract name begins with NUL and ends with the address; a path ends with NUL.
        if path[0] == 0x40 { path[0] = 0 } else { path.append(0) }
        var family = sa_family_t(AF_UNIX)
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = try retrying("socket", name) { CLinux.socket(AF_UNIX, kind, 0) }
        address = withUnsafeBytes(of: &family) { Array($0) } + path
        socket = Descriptor(owning: number, subject: name)
    }

    /// Sends assignments such as `READY=1`, one a line, without waiting for a manager that does not read.
    package borrowing func send(_ text: String) throws(SystemError) {
        let message = Array(text.utf8)
        _ = try retrying("sendto", socket.subject) {
            address.withUnsafeBytes { raw in
                sendto(
                    socket.number, message, message.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT),
                    raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
            }
        }
    }
}
