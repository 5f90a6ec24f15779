import CLinux
import COpenSSL
import Posix
import Testing
import Wire

@testable import Transport

/// Certificates that all tests share, and a folder for what OpenSSL reads from files.
struct Certificates {
    let folder: String
    let authority: Identity
    let authorityFile: String
    let good: Identity

    static let shared = Result { try Certificates() }

    private init() throws {
        // OpenSSL writes with write(2), and a peer that is gone must not end the tests.
        clinux_ignore_signal(SIGPIPE)
        var template = Array("/tmp/transport-tests.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestFailure(text: "no folder") }
        folder = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "/tmp" }
        authority = try Identity.make(commonName: "test authority", isAuthority: true)
        authorityFile = folder + "/authority.pem"
        try authority.write(to: authorityFile)
        good = try Identity.make(
            commonName: "good", alternatives: "IP:127.0.0.1,DNS:good.test", issuer: authority)
    }
}

func tlsNetwork(_ stop: Stop, certificate: String? = nil, proxies: ProxyRules = ProxyRules()) throws
    -> Network
{
    let options = TLSOptions(
        authorities: try Certificates.shared.get().authorityFile, certificate: certificate)
    // Every name of the tests is this machine.
    let resolver = Resolver { _ in
        .addresses([Address(literal: "127.0.0.1", port: 0)].compactMap { $0 })
    }
    return network(stop: stop, resolver: resolver, tls: options, proxies: proxies)
}

private func secure(_ host: String, _ server: ScriptedServer) -> Origin {
    Origin(scheme: .https, host: host, port: server.port)
}

@Suite struct TLSTests {
    enum Certificate: Sendable {
        case good, expired, early, otherName, wildcard, onlyCommonName, selfSigned, unknownAuthority
    }

    private static func identity(_ certificate: Certificate) throws -> Identity {
        let shared = try Certificates.shared.get()
        let names = "IP:127.0.0.1,DNS:good.test"
        return switch certificate {
        case .good: shared.good
        case .expired:
            try .make(
                commonName: "a", alternatives: names, from: -7200, until: -3600, issuer: shared.authority)
        case .early:
            try .make(commonName: "a", alternatives: names, from: 3600, until: 7200, issuer: shared.authority)
        case .otherName:
            try .make(commonName: "a", alternatives: "IP:127.0.0.2,DNS:other.test", issuer: shared.authority)
        case .wildcard: try .make(commonName: "a", alternatives: "DNS:*.sub.test", issuer: shared.authority)
        case .onlyCommonName: try .make(commonName: "good.test", issuer: shared.authority)
        case .selfSigned: try .make(commonName: "a", alternatives: names)
        case .unknownAuthority:
            try .make(
                commonName: "a", alternatives: names, issuer: .make(commonName: "nobody", isAuthority: true))
        }
    }

    @Test(
        "trusts the right certificate only",
        arguments: [
            (Certificate.good, "127.0.0.1", "none"),
            (.good, "good.test", "none"),
            (.good, "good.test.", "none"),
            (.good, "bad.test", "tls wrongName"),
            (.expired, "127.0.0.1", "tls expired"),
            (.early, "127.0.0.1", "tls notYetValid"),
            (.otherName, "127.0.0.1", "tls wrongName"),
            (.otherName, "good.test", "tls wrongName"),
            (.wildcard, "good.sub.test", "none"),
            (.wildcard, "a.b.sub.test", "tls wrongName"),
            (.wildcard, "sub.test", "tls wrongName"),
            (.onlyCommonName, "good.test", "tls wrongName"),
            (.selfSigned, "good.test", "tls selfSigned"),
            (.unknownAuthority, "good.test", "tls unknownAuthority"),
        ])
    func trust(certificate: Certificate, host: String, expected: String) throws {
        let stop = try Stop()
        let context = try ServerContext(try Self.identity(certificate))
        let names = Monitor<[String?]>([])
        let server = try ScriptedServer { peer in
            guard let tls = TLSPeer(peer, context) else { return }
            names.withLock { $0.append(tls.serverName) }
            while tls.request() != nil { tls.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        }
        let network = try tlsNetwork(stop)
        let result = failure { () throws(TransportError) in
            var connection = try Connection.open(to: secure(host, server), using: network)
            #expect(try connection.get().body == Array("ok".utf8))
            #expect(try connection.get().body == Array("ok".utf8))
            expect(connection.isReused)
            expect(connection.isReusable())
            expect(connection.tlsVersion == "TLSv1.3")
            // An address is no server name (RFC 6066 3), nor is the dot at a name's end.
            #expect(
                names.withLock { $0 } == [
                    host == "127.0.0.1" ? nil : host.hasSuffix(".") ? String(host.dropLast()) : host
                ])
        }
        #expect(result == expected)
    }

    @Test(
        "refuses TLS 1.1 and takes 1.2",
        arguments: [
            (TLS1_1_VERSION, "tls protocolTooOld"), (TLS1_2_VERSION, "none"), (TLS1_3_VERSION, "none"),
        ])
    func version(newest: Int32, expected: String) throws {
        let stop = try Stop()
        let context = try ServerContext(
            Certificates.shared.get().good, rules: ServerRules(newestVersion: newest, securityLevel: 0))
        let server = try ScriptedServer { peer in
            guard let tls = TLSPeer(peer, context) else { return }
            _ = tls.request()
            tls.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = tls.request()
        }
        let network = try tlsNetwork(stop)
        let result = failure { () throws(TransportError) in
            var connection = try Connection.open(to: secure("127.0.0.1", server), using: network)
            #expect(try connection.get().body == Array("ok".utf8))
            expect(connection.isReusable())
        }
        #expect(result == expected)
    }

    @Test(
        "tells a plain server, one that closes and one that says nothing apart",
        arguments: [
            ("HTTP/1.1 400 Bad Request\r\n\r\n", "tls notTLS"), ("", "closed"),
        ])
    func noTLS(answer: String, expected: String) throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            peer.send(answer)
            peer.finish()
        }
        let network = try tlsNetwork(stop)
        #expect(
            failure { () throws(TransportError) in
                _ = try Connection.open(to: secure("127.0.0.1", server), using: network)
            } == expected)
    }

    @Test("a handshake that nobody answers meets the time of the address")
    func silentHandshake() throws {
        let stop = try Stop()
        let server = try ScriptedServer { $0.waitForEnd() }
        let network = Network(connectTimeout: 0.1, stop: stop)
        do throws(TransportError) {
            _ = try Connection.open(to: secure("127.0.0.1", server), using: network)
            Issue.record("it connected")
        } catch {
            #expect(error.operation == .handshake)
            #expect(word(error.cause) == "timedOut")
        }
    }

    struct Ending: CustomTestStringConvertible, Sendable {
        let head: String
        /// What follows the 100,000 bytes of the body.
        var tail = ""
        let isClean: Bool
        var isReset = false
        let expected: String
        var testDescription: String {
            "\(head.debugDescription), \(tail.debugDescription), \(isReset ? "reset" : isClean ? "closed" : "cut")"
        }
    }

    @Test(
        "close_notify matters only where the end is the message's end",
        arguments: [
            Ending(head: "HTTP/1.1 200 OK\r\n\r\n", isClean: true, expected: "none"),
            Ending(head: "HTTP/1.1 200 OK\r\n\r\n", isClean: false, expected: "unexpectedEOF"),
            Ending(
                head: "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", isClean: false, expected: "none"),
            Ending(
                head: "HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n", isClean: false, expected: "closed"),
            Ending(
                head: "HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n", isClean: true, expected: "closed"),
            Ending(
                head: "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", isClean: false, isReset: true,
                expected: "none"),
            Ending(
                head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n", tail: "\r\n0\r\n\r\n",
                isClean: false, expected: "none"),
            Ending(
                head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n", tail: "\r\n0\r\n\r\n",
                isClean: false, isReset: true, expected: "none"),
            Ending(
                head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n", tail: "\r\n",
                isClean: false, expected: "closed"),
            Ending(
                head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n", tail: "\r\n",
                isClean: true, expected: "closed"),
        ])
    func ending(_ row: Ending) throws {
        let stop = try Stop()
        let context = try ServerContext(Certificates.shared.get().good)
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try ScriptedServer { peer in
            guard let tls = TLSPeer(peer, context) else { return }
            _ = tls.request()
            tls.send(row.head)
            tls.send(body)
            if !row.tail.isEmpty { tls.send(row.tail) }
            if row.isClean { tls.farewell() }
            guard row.isReset else { return peer.finish() }
            // A reset drops what has not left yet, see socket(7), SO_LINGER.
            let limit = soon()
            var waiting: Int32 = 1
            while waiting > 0, Instant.now < limit, clinux_send_queue(peer.number, &waiting) == 0 {
                usleep(1000)
            }
            peer.reset()
        }
        var connection = try Connection.open(to: secure("127.0.0.1", server), using: try tlsNetwork(stop))
        var received: [UInt8] = []
        let result = failure { () throws(TransportError) in
            try connection.send(plainRequest, until: soon())
            _ = try connection.receiveHead(until: soon())
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 1)
            defer { buffer.deallocate() }
            while true {
                let count = try connection.receiveBody(into: buffer, until: soon())
                if count == 0 { break }
                received.append(contentsOf: buffer[..<count])
            }
        }
        #expect(result == row.expected)
        #expect(received == body)
        // How soon a reset is seen is the kernel's affair.
        let limit = soon()
        while connection.isReusable(), Instant.now < limit {
            _ = stop.wait(until: Instant.now.advanced(bySeconds: 0.01))
        }
        expect(!connection.isReusable())
    }

    @Test("a session is taken up again on the next connection", arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func resumption(version: Int32) throws {
        let stop = try Stop()
        let context = try ServerContext(
            Certificates.shared.get().good, rules: ServerRules(newestVersion: version))
        let resumed = Monitor<[Bool]>([])
        let server = try ScriptedServer { peer in
            guard let tls = TLSPeer(peer, context) else { return }
            resumed.withLock { $0.append(tls.isResumed) }
            _ = tls.request()
            tls.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = tls.request()
        }
        let network = try tlsNetwork(stop)
        for place in 0..<3 {
            var connection = try Connection.open(to: secure("good.test", server), using: network)
            #expect(try connection.get().body == Array("ok".utf8))
            expect(connection.isResumed == (place > 0))
        }
        #expect(resumed.withLock { $0 } == [false, true, true])
        // Another name has to prove itself, though the server is the same.
        let other = failure { () throws(TransportError) in
            _ = try Connection.open(to: secure("bad.test", server), using: network)
        }
        #expect(other == "tls wrongName")
    }

    @Test("a server that asks for a certificate gets ours", arguments: [true, false])
    func clientCertificate(isGiven: Bool) throws {
        let shared = try Certificates.shared.get()
        let stop = try Stop()
        let ours = try Identity.make(commonName: "us", issuer: shared.authority)
        let file = shared.folder + "/us.pem"
        if isGiven { try ours.write(to: file, withKey: true) }
        let context = try ServerContext(
            shared.good, rules: ServerRules(asksForCertificate: true), clients: shared.authority)
        let server = try ScriptedServer { peer in
            guard let tls = TLSPeer(peer, context) else { return }
            _ = tls.request()
            tls.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            peer.finish()
        }
        let network = try tlsNetwork(stop, certificate: isGiven ? file : nil)
        // In TLS 1.3 the refusal arrives after our side of the handshake is done.
        let result = failure { () throws(TransportError) in
            var connection = try Connection.open(to: secure("127.0.0.1", server), using: network)
            #expect(try connection.get().body == Array("ok".utf8))
        }
        #expect(isGiven ? result == "none" : result.hasPrefix("tls alert"))
    }

    @Test("a kept TLS connection that the server has closed is not reused")
    func closedWhileIdle() throws {
        let stop = try Stop()
        let gate = try Stop()
        let context = try ServerContext(Certificates.shared.get().good)
        let server = try ScriptedServer { peer in
            guard let tls = TLSPeer(peer, context) else { return }
            _ = tls.request()
            tls.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = gate.wait(until: soon())
            tls.farewell()
            peer.finish()
        }
        var connection = try Connection.open(to: secure("127.0.0.1", server), using: try tlsNetwork(stop))
        _ = try connection.get()
        expect(connection.isReusable())
        gate.raise()
        let limit = soon()
        while connection.isReusable(), Instant.now < limit { usleep(1000) }
        expect(!connection.isReusable())
    }

    @Test("surplus bytes inside TLS end the reuse")
    func surplus() throws {
        let stop = try Stop()
        let context = try ServerContext(Certificates.shared.get().good)
        let server = try ScriptedServer { peer in
            guard let tls = TLSPeer(peer, context) else { return }
            _ = tls.request()
            tls.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok+")
            _ = tls.request()
        }
        var connection = try Connection.open(to: secure("127.0.0.1", server), using: try tlsNetwork(stop))
        #expect(try connection.get().body == Array("ok".utf8))
        expect(!connection.isReusable())
    }

    @Test("the stop ends a handshake and a body", arguments: [true, false])
    func stopped(inHandshake: Bool) throws {
        let stop = try Stop()
        let context = try ServerContext(Certificates.shared.get().good)
        let server = try ScriptedServer { peer in
            if inHandshake {
                stop.raise()
                peer.waitForEnd()
                return
            }
            guard let tls = TLSPeer(peer, context) else { return }
            _ = tls.request()
            tls.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
            stop.raise()
            peer.waitForEnd()
        }
        let network = try tlsNetwork(stop)
        let result = failure { () throws(TransportError) in
            var connection = try Connection.open(to: secure("127.0.0.1", server), using: network)
            _ = try connection.get()
        }
        #expect(result == "stopped")
    }

    @Test("files that are missing or wrong are named at once")
    func setup() throws {
        let stop = try Stop()
        let shared = try Certificates.shared.get()
        for options in [
            TLSOptions(authorities: "/nonexistent"), TLSOptions(authorities: "/dev/null"),
            TLSOptions(certificate: "/nonexistent"), TLSOptions(certificate: shared.authorityFile),
        ] {
            let subject = options.authorities ?? options.certificate
            do throws(TLSSetupError) {
                _ = try Network(tls: options, stop: stop).tls()
                Issue.record("accepted \(subject ?? "")")
            } catch {
                #expect(error.subject == subject)
                #expect(!error.text.isEmpty)
            }
        }
    }

    @Test("sessions are kept for a bounded number of origins, the newest handed out once")
    func sessions() throws {
        let cache = SessionCache()
        func origin(_ place: Int) -> Origin { Origin(scheme: .https, host: "host\(place).test", port: 443) }
        func session() throws -> SessionCache.Session {
            guard let pointer = SSL_SESSION_new() else { throw TestFailure(text: "no session") }
            return SessionCache.Session(owning: pointer)
        }
        for _ in 0...SessionCache.maximumPerOrigin { cache.keep(try session(), for: origin(0)) }
        #expect(cache.count(for: origin(0)) == SessionCache.maximumPerOrigin)
        let newest = try session()
        cache.keep(newest, for: origin(0))
        #expect(cache.take(for: origin(0)) === newest)
        #expect(cache.take(for: origin(0)) !== newest)
        for place in 1..<SessionCache.maximumOrigins { cache.keep(try session(), for: origin(place)) }
        #expect(cache.count(for: origin(0)) > 0)
        cache.keep(try session(), for: origin(SessionCache.maximumOrigins))
        #expect(cache.count(for: origin(0)) == 0)
        #expect(cache.count(for: origin(1)) == 1)
        #expect(cache.take(for: origin(-1)) == nil)
    }
}
