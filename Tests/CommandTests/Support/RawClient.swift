internal import CLinux
internal import Posix
internal import Testing

/// A TCP client that sends bytes and keeps all that comes back, until the other side closes.
final class RawClient {
    private let socket: Descriptor

    /// Connects to loopback.
    init(port: UInt16) throws {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = CLinux.socket(AF_INET, kind, 0)
        try #require(number >= 0)
        socket = Descriptor(owning: number, subject: "client")
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
    }

    /// Sends text as it is.
    func send(_ text: String) throws {
        try Array(text.utf8).withUnsafeBytes { try socket.write(all: $0) }
    }

    /// All that comes until the other side closes; `wasReset` tells how it did.
    func receiveAll() throws(SystemError) -> (bytes: [UInt8], wasReset: Bool) {
        var bytes: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { buffer.deallocate() }
        while true {
            do throws(SystemError) {
                let count = try socket.read(into: buffer)
                if count == 0 { return (bytes, false) }
                bytes += buffer[..<count]
            } catch  where error.code == ECONNRESET {
                return (bytes, true)
            }
        }
    }
}
