import CLinux
import Posix
import Testing
import Wire

@testable import Transport

/// The cause as a word, for tables.
func word(_ cause: TransportError.Cause) -> String {
    switch cause {
    case .timedOut: "timedOut"
    case .stopped: "stopped"
    case .system(let error):
        error.isRefused ? "refused" : error.isUnreachable ? "unreachable" : "errno \(error.code)"
    case .unknownHost: "unknownHost"
    case .noNameService: "noNameService"
    case .closed: "closed"
    case .unexpectedEOF: "unexpectedEOF"
    case .tls(let failure): "tls \(failure.kind)"
    case .malformed(let error): "malformed \(error)"
    case .badHost: "badHost"
    case .tooManyInterim: "tooManyInterim"
    case .refused(let refusal): "refused \(refusal.status)"
    }
}

/// Runs the body and returns the word of its failure, `none` when it has none.
func failure(_ body: () throws(TransportError) -> Void) -> String {
    do throws(TransportError) {
        try body()
        return "none"
    } catch {
        return word(error.cause)
    }
}

/// `#expect` cannot look into what is not copyable.
func expect(_ condition: Bool, at location: SourceLocation = #_sourceLocation) {
    #expect(condition, sourceLocation: location)
}

func soon(_ seconds: Double = 10) -> Instant { .now.advanced(bySeconds: seconds) }

func network(
    stop: Stop, resolver: Resolver = Resolver(), tls: TLSOptions = TLSOptions(),
    proxies: ProxyRules = ProxyRules(), connectTimeout: Double = 10
) -> Network {
    Network(resolver: resolver, tls: tls, proxies: proxies, connectTimeout: connectTimeout, stop: stop)
}

let plainRequest = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)

extension Connection {
    /// One exchange; the body read through a buffer of that size.
    mutating func get(buffer size: Int = 65536) throws(TransportError) -> (head: ResponseHead, body: [UInt8])
    {
        try send(plainRequest, until: soon())
        let head = try receiveHead(until: soon())
        return (head, try body(buffer: size))
    }

    mutating func body(buffer size: Int = 65536) throws(TransportError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { buffer.deallocate() }
        var body: [UInt8] = []
        while true {
            let count = try receiveBody(into: buffer, until: soon())
            if count == 0 { return body }
            body.append(contentsOf: buffer[..<count])
        }
    }
}

func open(_ server: ScriptedServer, stop: Stop) throws -> Connection {
    try Connection.open(
        to: Origin(scheme: .http, host: "127.0.0.1", port: server.port), using: network(stop: stop))
}

@Suite struct ConnectionTests {
    struct Answer: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: String
        let body: String
        let isReusable: Bool
        var testDescription: String { name }
        init(_ name: String, _ bytes: String, body: String, isReusable: Bool) {
            self.name = name
            self.bytes = bytes
            self.body = body
            self.isReusable = isReusable
        }
    }

    static let answers = [
        Answer(
            "length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello", isReusable: true),
        Answer("length 0", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", body: "", isReusable: true),
        Answer("304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", body: "", isReusable: true),
        Answer(
            "chunked",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n",
            body: "hello", isReusable: true),
        Answer(
            "close asked", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
            body: "hello",
            isReusable: false),
        Answer(
            "HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", body: "hello", isReusable: false),
        Answer(
            "interim",
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            body: "ok", isReusable: true),
        Answer(
            "surplus after a length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok+", body: "ok",
            isReusable: false),
        Answer(
            "surplus after chunks",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n+",
            body: "ok", isReusable: false),
        Answer("surplus after a 304", "HTTP/1.1 304 Not Modified\r\n\r\n+", body: "", isReusable: false),
    ]

    @Test("reads each framing, whole or dripped, through any buffer", arguments: answers)
    func framing(_ answer: Answer) throws {
        let stop = try Stop()
        for isDripped in [false, true] {
            for size in [1, 2, 3, 5, 65536] {
                let server = try ScriptedServer { peer in
                    while peer.request() != nil {
                        if isDripped { peer.drip(answer.bytes) } else { peer.send(answer.bytes) }
                    }
                }
                var connection = try open(server, stop: stop)
                let (_, body) = try connection.get(buffer: size)
                #expect(String(decoding: body, as: UTF8.self) == answer.body)
                // A surplus byte may still be on its way after a dripped message.
                if answer.isReusable || !isDripped { expect(connection.isReusable() == answer.isReusable) }
                if answer.isReusable {
                    expect(
                        String(decoding: try connection.get(buffer: size).body, as: UTF8.self) == answer.body)
                    expect(connection.isReused)
                    #expect(server.connections == 1)
                }
            }
        }
    }

    @Test("a body that ends with the connection")
    func untilClose() throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 200 OK\r\n\r\n")
            peer.send([UInt8](repeating: 7, count: 300_000))
            peer.finish()
        }
        var connection = try open(server, stop: stop)
        let (_, body) = try connection.get()
        #expect(body == [UInt8](repeating: 7, count: 300_000))
        expect(!connection.isReusable())
    }

    struct Break: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: String
        let isReset: Bool
        let failure: String
        var testDescription: String { name }
    }

    static let breaks = [
        Break(name: "no answer", bytes: "", isReset: false, failure: "closed"),
        Break(name: "no answer but a reset", bytes: "", isReset: true, failure: "closed"),
        Break(name: "head cut", bytes: "HTTP/1.1 200 OK\r\nA: b\r\n", isReset: false, failure: "closed"),
        Break(
            name: "length cut", bytes: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", isReset: false,
            failure: "closed"),
        Break(
            name: "length reset", bytes: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", isReset: true,
            failure: "closed"),
        Break(
            name: "last chunk missing",
            bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
            isReset: false, failure: "closed"),
        Break(
            name: "trailers cut",
            bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n",
            isReset: false, failure: "closed"),
        Break(name: "rest reset", bytes: "HTTP/1.1 200 OK\r\n\r\nhello", isReset: true, failure: "closed"),
        Break(name: "rest ended", bytes: "HTTP/1.1 200 OK\r\n\r\nhello", isReset: false, failure: "none"),
        Break(
            name: "not HTTP", bytes: "SSH-2.0-x\r\n\r\n", isReset: false,
            failure: "malformed the answer is no HTTP/1 message"),
        Break(
            name: "101", bytes: "HTTP/1.1 101 Switching Protocols\r\n\r\n", isReset: false,
            failure: "malformed the answer is no HTTP/1 message"),
        Break(
            name: "chunk size", bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            isReset: false,
            failure: "malformed a malformed chunk size"),
        Break(
            name: "20 interim answers",
            bytes: String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 20) + "HTTP/1.1 204 N\r\n\r\n",
            isReset: false, failure: "none"),
        Break(
            name: "21 interim answers",
            bytes: String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 21) + "HTTP/1.1 204 N\r\n\r\n",
            isReset: false, failure: "tooManyInterim"),
    ]

    @Test("names how a message broke", arguments: breaks)
    func broken(_ row: Break) throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            _ = peer.request()
            peer.send(row.bytes)
            if row.isReset { peer.reset() } else { peer.finish() }
        }
        var connection = try open(server, stop: stop)
        #expect(failure { () throws(TransportError) in _ = try connection.get() } == row.failure)
        if row.bytes.isEmpty { expect(!connection.hasAnswered) }
        if row.failure != "none" { expect(!connection.isReusable()) }
    }

    @Test("a reset after the whole body is no failure")
    func resetAfterBody() throws {
        let stop = try Stop()
        let gate = try Stop()
        let server = try ScriptedServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            _ = gate.wait(until: soon())
            peer.reset()
        }
        var connection = try open(server, stop: stop)
        try connection.send(plainRequest, until: soon())
        _ = try connection.receiveHead(until: soon())
        expect(String(decoding: try connection.body(), as: UTF8.self) == "hello")
        expect(connection.isReusable())
        gate.raise()
        // The server closes at once; how soon that is seen is the kernel's affair.
        let limit = soon()
        while connection.isReusable(), Instant.now < limit { usleep(1000) }
        expect(!connection.isReusable())
    }

    @Test("a kept connection that the server has closed has not answered")
    func closedWhileIdle() throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = peer.request()
        }
        var connection = try open(server, stop: stop)
        _ = try connection.get()
        expect(connection.isReusable())
        #expect(failure { () throws(TransportError) in _ = try connection.get() } == "closed")
        expect(connection.isReused)
        expect(!connection.hasAnswered)
    }

    @Test("an answer that came before the request was out is read")
    func earlyAnswer() throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            peer.send("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            shutdown(peer.number, Int32(SHUT_WR))
            _ = peer.request()
        }
        var connection = try open(server, stop: stop)
        let (head, _) = try connection.get()
        #expect(head.status == 408)
        expect(!connection.isReusable())
    }

    @Test("an answer is read though sending failed after it")
    func sendFails() throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            peer.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
        }
        var connection = try open(server, stop: stop)
        // The first one meets a closed socket and brings a reset back, after which sending fails.
        for _ in 0..<20 {
            try connection.send(plainRequest, until: soon())
            usleep(1000)
        }
        #expect(try connection.receiveHead(until: soon()).status == 408)
        expect(!connection.isReusable())
    }

    @Test("names why there is no connection")
    func unopened() throws {
        let stop = try Stop()
        let asked = Monitor<[String]>([])
        let resolver = Resolver { name in
            asked.withLock { $0.append(name) }
            return .unknown
        }
        for (host, expected, operation) in [
            // Nobody listens on this loopback address.
            ("127.0.0.9", "refused", TransportError.Operation.connect),
            ("nobody.test", "unknownHost", .resolve),
            ("bücher.test", "unknownHost", .resolve),
            ("a℀b.test", "badHost", .resolve),
        ] {
            do throws(TransportError) {
                let origin = Origin(scheme: .http, host: host, port: 9)
                _ = try Connection.open(to: origin, using: network(stop: stop, resolver: resolver))
                Issue.record("connected to \(host)")
            } catch {
                #expect(word(error.cause) == expected)
                #expect(error.operation == operation)
            }
        }
        #expect(asked.withLock { $0 } == ["nobody.test", "xn--bcher-kva.test"])
    }

    @Test("a silent server meets the deadline of the head")
    func headDeadline() throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            peer.send("HTTP/1.1 200 OK\r\n")
            peer.waitForEnd()
        }
        var connection = try open(server, stop: stop)
        try connection.send(plainRequest, until: soon())
        #expect(
            failure { () throws(TransportError) in _ = try connection.receiveHead(until: soon(0.05)) }
                == "timedOut")
        #expect(failure { () throws(TransportError) in _ = try connection.body() } == "closed")
    }

    @Test("a server that drips header fields does not outlast the deadline of the head")
    func drippedHead() throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 200 OK\r\n")
            let limit = soon()
            while Instant.now < limit {
                peer.send("A: b\r\n")
                var byte: UInt8 = 0
                if recv(peer.number, &byte, 1, Int32(MSG_DONTWAIT)) == 0 { return }
                usleep(1000)
            }
        }
        var connection = try open(server, stop: stop)
        try connection.send(plainRequest, until: soon())
        #expect(
            failure { () throws(TransportError) in _ = try connection.receiveHead(until: soon(0.1)) }
                == "timedOut")
    }

    @Test("a body that stalls meets its deadline, after what had come")
    func bodyDeadline() throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            _ = peer.request()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
            peer.waitForEnd()
        }
        var connection = try open(server, stop: stop)
        try connection.send(plainRequest, until: soon())
        _ = try connection.receiveHead(until: soon())
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
        defer { buffer.deallocate() }
        var received = 0
        while received < 5 { received += try connection.receiveBody(into: buffer, until: soon()) }
        #expect(
            failure { () throws(TransportError) in
                _ = try connection.receiveBody(into: buffer, until: soon(0.05))
            } == "timedOut")
        expect(connection.framing?.body == .length(10))
    }

    @Test("the stop ends a wait that has no deadline", arguments: [true, false])
    func stopped(inBody: Bool) throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            _ = peer.request()
            if inBody { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n") }
            stop.raise()
            peer.waitForEnd()
        }
        var connection = try open(server, stop: stop)
        try connection.send(plainRequest, until: .never)
        let result = failure { () throws(TransportError) in
            _ = try connection.receiveHead(until: .never)
            _ = try connection.body()
        }
        #expect(result == "stopped")
    }

    @Test(
        "a small rest is dropped so that the connection stays, a large one is not read",
        arguments: [
            ("HTTP/1.1 404 N\r\nContent-Length: 5\r\n\r\nhello", 5, true),
            ("HTTP/1.1 404 N\r\nContent-Length: 5\r\n\r\nhello", 4, false),
            ("HTTP/1.1 404 N\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 5, true),
            ("HTTP/1.1 404 N\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 4, false),
            ("HTTP/1.1 404 N\r\nContent-Length: 0\r\n\r\n", 0, true),
            ("HTTP/1.1 404 N\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", 5, false),
            ("HTTP/1.1 404 N\r\n\r\nhello", 5, false),
        ])
    func discard(bytes: String, limit: Int, isDropped: Bool) throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            _ = peer.request()
            peer.send(bytes)
            _ = peer.request()
        }
        var connection = try open(server, stop: stop)
        try connection.send(plainRequest, until: soon())
        _ = try connection.receiveHead(until: soon())
        expect(try connection.discardBody(limit: limit, until: soon()) == isDropped)
        if isDropped { expect(connection.isReusable()) }
    }

    @Test("a head may have 256 KiB and no more", arguments: [(0, "none"), (1, "malformed")])
    func largeHead(surplus: Int, expected: String) throws {
        let stop = try Stop()
        let server = try ScriptedServer { peer in
            _ = peer.request()
            let start = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: "
            let size = HeadScanner.maximumHeadSize - start.utf8.count - 4 + surplus
            peer.send(start + String(repeating: "a", count: size) + "\r\n\r\nok")
            peer.waitForEnd()
        }
        var connection = try open(server, stop: stop)
        let result = failure { () throws(TransportError) in
            let (_, body) = try connection.get()
            #expect(body == Array("ok".utf8))
        }
        #expect(result.hasPrefix(expected))
    }
}
