import CLinux
import Posix
import Testing
import Wire

@testable import Transport

/// A name service that knows one list for every name.
private func resolver(_ literals: [String]) -> Resolver {
    let addresses = literals.compactMap { Address(literal: $0, port: 0) }
    return Resolver { _ in .addresses(addresses) }
}

/// A listening socket whose queue is full, so that the kernel answers no further SYN: a black hole on loopback.
private final class BlackHole: Sendable {
    let port: UInt16
    private let numbers: [Int32]

    init(_ address: String, port wanted: UInt16 = 0) throws {
        let (listener, port) = try listen(address, port: wanted, backlog: 0)
        self.port = port
        var numbers = [listener]
        // The queue takes one or two; what comes after stays undecided.
        if let target = Address(literal: address, port: port) {
            for _ in 0..<8 {
                let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
                numbers.append(number)
                var raw = sockaddr_in()
                raw.sin_family = sa_family_t(AF_INET)
                raw.sin_port = port.bigEndian
                withUnsafeMutableBytes(of: &raw.sin_addr) { $0.copyBytes(from: target.octets) }
                _ = withUnsafePointer(to: &raw) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(
                            number, $0,
                            socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
            }
        }
        self.numbers = numbers
    }

    deinit { for number in numbers { close(number) } }
}

@Suite struct DialerTests {
    private func connect(
        _ literals: [String], _ port: UInt16, timeout: Double = 10, until limit: Instant = .never
    ) throws -> String {
        let network = network(stop: try Stop(), resolver: resolver(literals), connectTimeout: timeout)
        do throws(TransportError) {
            let dialed = try dial(
                Origin(scheme: .http, host: "many.test", port: port), called: "many.test:\(port)",
                using: network, until: limit)
            return dialed.address.description
        } catch {
            #expect(error.operation == .connect)
            #expect(error.subject == "many.test:\(port)")
            return word(error.cause)
        }
    }

    @Test("a refused address leads to the next one at once")
    func refusedFirst() throws {
        let server = try ScriptedServer { $0.waitForEnd() }
        #expect(
            try connect(["127.0.0.2", "127.0.0.3", "127.0.0.1"], server.port) == "127.0.0.1:\(server.port)")
    }

    @Test("IPv6 is tried, and IPv4 when nobody listens there")
    func families() throws {
        let four = try ScriptedServer { $0.waitForEnd() }
        #expect(try connect(["::1", "127.0.0.1"], four.port) == "127.0.0.1:\(four.port)")
        let six: ScriptedServer
        do {
            six = try ScriptedServer("::1") { $0.waitForEnd() }
        } catch {
            // A machine without IPv6.
            return
        }
        // Not 127.0.0.1, where another test may have got the same port.
        #expect(try connect(["127.0.0.99", "::1"], six.port) == "[::1]:\(six.port)")
        #expect(try connect(["::1"], six.port) == "[::1]:\(six.port)")
    }

    @Test("a silent address does not hold up the next one")
    func silentFirst() throws {
        let server = try ScriptedServer { $0.waitForEnd() }
        let hole = try BlackHole("127.0.0.2", port: server.port)
        #expect(
            try connect(["127.0.0.2", "127.0.0.1"], hole.port, timeout: 60) == "127.0.0.1:\(server.port)")
    }

    @Test("each address has its time, and the failure that tells most is reported")
    func failures() throws {
        let hole = try BlackHole("127.0.0.2")
        #expect(try connect(["127.0.0.2"], hole.port, timeout: 0.1) == "timedOut")
        #expect(try connect(["127.0.0.2", "127.0.0.3"], hole.port, timeout: 0.1) == "refused")
        #expect(try connect(["127.0.0.3", "127.0.0.2"], hole.port, timeout: 0.1) == "refused")
        #expect(try connect(["127.0.0.2"], hole.port, timeout: 60, until: soon(0.05)) == "timedOut")
    }

    @Test("the stop ends it")
    func stopped() throws {
        let hole = try BlackHole("127.0.0.2")
        let stop = try Stop()
        stop.raise()
        let network = network(stop: stop, resolver: resolver(["127.0.0.2"]))
        let result = failure { () throws(TransportError) in
            _ = try dial(
                Origin(scheme: .http, host: "many.test", port: hole.port), called: "many.test",
                using: network, until: .never)
        }
        #expect(result == "stopped")
    }
}
