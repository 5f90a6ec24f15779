import CLinux
import Posix

/// The server's end of one connection, for scripts. Every wait of it ends after ten seconds, so that a failed
/// test leaves no thread behind.
final class Peer: @unchecked Sendable {
    let number: Int32
    /// Counts connections of a server from 0.
    let place: Int

    init(_ number: Int32, place: Int) {
        self.number = number
        self.place = place
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var on: Int32 = 1
        setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The next request up to its blank line; nil when the client closes first.
    func request() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard recv(number, &byte, 1, 0) == 1, bytes.count < 65536 else { return nil }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                CLinux.send(number, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Every byte in a packet of its own, as far as the kernel lets us.
    func drip(_ text: String) { for byte in text.utf8 { send([byte]) } }

    /// Sends one byte; false when the client is gone.
    func sendOne() -> Bool {
        var byte: UInt8 = 0x78
        return CLinux.send(number, &byte, 1, Int32(MSG_NOSIGNAL)) == 1
    }

    /// Ends our direction (FIN) and waits for the client's end.
    func finish() {
        shutdown(number, Int32(SHUT_WR))
        waitForEnd()
    }

    func waitForEnd() {
        var byte: UInt8 = 0
        while recv(number, &byte, 1, 0) == 1 {}
    }

    /// Makes the close that follows the script a reset.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }
}

/// Runs a script for each connection that it accepts on a loopback address, each on a thread of its own.
final class ScriptedServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let places = Monitor(0)

    /// How many connections were accepted.
    var connections: Int { places.withLock { $0 } }

    init(
        _ address: String = "127.0.0.1", port wanted: UInt16 = 0,
        _ script: @escaping @Sendable (Peer) -> Void
    ) throws {
        (listener, port) = try listen(address, port: wanted, backlog: 64)
        let listener = listener
        try WorkerThread(name: "accept") { [weak self] in
            while true {
                let number = accept4(
                    listener, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
                guard number >= 0, let self else {
                    if number >= 0 { CLinux.close(number) }
                    break
                }
                let place = places.withLock { places in
                    places += 1
                    return places - 1
                }
                do {
                    try WorkerThread(name: "script") {
                        script(Peer(number, place: place))
                        CLinux.close(number)
                    }.detach()
                } catch {
                    CLinux.close(number)
                }
            }
            CLinux.close(listener)
        }.detach()
    }

    // Wakes accept(2), after which its thread closes the socket.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}

struct TestFailure: Error { let text: String }

/// A listening socket and its port.
func listen(_ address: String, port: UInt16, backlog: Int32) throws -> (Int32, UInt16) {
    let isV6 = address.contains(":")
    let number = socket(isV6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { throw TestFailure(text: "socket: \(clinux_errno())") }
    var on: Int32 = 1
    setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var raw = sockaddr_storage()
    let size = withUnsafeMutableBytes(of: &raw) { bytes -> Int in
        if isV6 {
            var v6 = sockaddr_in6()
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = port.bigEndian
            inet_pton(AF_INET6, address, &v6.sin6_addr)
            bytes.storeBytes(of: v6, as: sockaddr_in6.self)
            return MemoryLayout<sockaddr_in6>.size
        }
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        v4.sin_port = port.bigEndian
        inet_pton(AF_INET, address, &v4.sin_addr)
        bytes.storeBytes(of: v4, as: sockaddr_in.self)
        return MemoryLayout<sockaddr_in>.size
    }
    var length = socklen_t(size)
    let isBound = withUnsafeMutablePointer(to: &raw) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(number, $0, length) == 0
                && CLinux.listen(number, backlog) == 0
                && getsockname(number, $0, &length) == 0
        }
    }
    guard isBound else {
        let code = clinux_errno()
        close(number)
        throw TestFailure(text: "bind \(address):\(port): \(code)")
    }
    // The port stands at the same place in both families.
    let found = withUnsafeBytes(of: &raw) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    return (number, found)
}
