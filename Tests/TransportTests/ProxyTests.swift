import CLinux
import Posix
import Testing
import Wire

@testable import Transport

private func rules(_ server: ScriptedServer, userinfo: String = "", except: String = "") throws -> ProxyRules
{
    let proxy = try Proxy(parsing: "http://\(userinfo)127.0.0.1:\(server.port)")
    return ProxyRules(http: proxy, https: proxy, exceptions: ProxyExceptions(parsing: except))
}

private let origin = Origin(scheme: .https, host: "good.test", port: 443)

@Suite struct ProxyTests {
    @Test func theRouteFollowsTheRules() throws {
        let server = try ScriptedServer { _ in }
        let rules = try rules(server, except: "direct.test")
        let network = network(stop: try Stop(), proxies: rules)
        let route = { (scheme: Scheme, host: String) in
            network.route(to: Origin(scheme: scheme, host: host, port: scheme.defaultPort))
        }
        let proxy = try #require(rules.http)
        #expect(route(.http, "a.test") == .forwarded(proxy))
        #expect(route(.https, "a.test") == .tunnelled(proxy))
        #expect(route(.http, "direct.test") == .direct)
        #expect(route(.https, "a.direct.test") == .direct)
    }

    @Test func anOriginOverHTTPIsAskedAtTheProxy() throws {
        let requests = Monitor<[String]>([])
        let server = try ScriptedServer { peer in
            while let request = peer.request() {
                requests.withLock { $0.append(request) }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        // The name of the origin is the proxy's to look up.
        let resolver = Resolver { _ in .unknown }
        let network = network(stop: try Stop(), resolver: resolver, proxies: try rules(server))
        let target = Origin(scheme: .http, host: "nowhere.test", port: 80)
        let result = failure { () throws(TransportError) in
            var connection = try Connection.open(to: target, using: network)
            #expect(try connection.get().body == Array("ok".utf8))
            expect(connection.isReusable())
            #expect(try connection.get().body == Array("ok".utf8))
            expect(connection.route == network.route(to: target))
            expect(connection.origin == target)
        }
        #expect(result == "none")
        #expect(requests.withLock { $0.count } == 2)
        #expect(server.connections == 1)
    }

    @Test(
        "a tunnel leads to the origin, and its credentials stay outside",
        arguments: [
            ("", "HTTP/1.1 200 Connection established\r\n\r\n"), ("u:pw@", "HTTP/1.0 200 ok\r\n\r\n"),
            ("u:pw@", "HTTP/1.1 204 \r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
            ("", "HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 103 Wait\r\nA: b\r\n\r\nHTTP/1.1 299 ok\n\n"),
        ])
    func tunnel(userinfo: String, answer: String) throws {
        let context = try ServerContext(Certificates.shared.get().good)
        let requests = Monitor<[String]>([])
        let server = try ScriptedServer { peer in
            guard let head = peer.request() else { return }
            requests.withLock { $0.append(head) }
            peer.drip(answer)
            guard let tls = TLSPeer(peer, context) else { return }
            while let request = tls.request() {
                requests.withLock { $0.append(request) }
                tls.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let network = try tlsNetwork(try Stop(), proxies: try rules(server, userinfo: userinfo))
        let result = failure { () throws(TransportError) in
            var connection = try Connection.open(to: origin, using: network)
            #expect(try connection.get().body == Array("ok".utf8))
            expect(connection.isReusable())
            #expect(try connection.get().body == Array("ok".utf8))
            expect(connection.tlsVersion == "TLSv1.3")
        }
        #expect(result == "none")
        let authorization = userinfo.isEmpty ? "" : "Proxy-Authorization: Basic dTpwdw==\r\n"
        let plain = String(decoding: plainRequest, as: UTF8.self)
        #expect(
            requests.withLock { $0 } == [
                "CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\(authorization)\r\n", plain, plain,
            ])
    }

    @Test func theCertificateMustBeTheOriginsNotTheProxys() throws {
        let context = try ServerContext(Certificates.shared.get().good)
        let server = try ScriptedServer { peer in
            guard peer.request() != nil else { return }
            peer.send("HTTP/1.1 200 ok\r\n\r\n")
            _ = TLSPeer(peer, context)
        }
        let network = try tlsNetwork(try Stop(), proxies: try rules(server))
        let result = failure { () throws(TransportError) in
            _ = try Connection.open(to: Origin(scheme: .https, host: "bad.test", port: 443), using: network)
        }
        #expect(result == "tls wrongName")
    }

    struct Refusal: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let answer: String
        let expected: String
        init(_ description: String, _ answer: String, _ expected: String) {
            (testDescription, self.answer, self.expected) = (description, answer, expected)
        }
    }

    @Test(arguments: [
        Refusal("407", "HTTP/1.1 407 Who\r\nContent-Length: 99\r\n\r\n", "refused 407"),
        Refusal("403 with a body without end", "HTTP/1.1 403 No\r\n\r\n" + filler, "refused 403"),
        Refusal("502", "HTTP/1.1 502 Bad\r\nTransfer-Encoding: chunked\r\n\r\n", "refused 502"),
        Refusal("a redirect", "HTTP/1.1 302 There\r\nLocation: http://x/\r\n\r\n", "refused 302"),
        Refusal("nothing", "", "closed"), Refusal("half a head", "HTTP/1.1 200 ok\r\nA", "closed"),
        Refusal("something else", "SSH-2.0-x\r\n", "malformed \(MessageError.notHTTP)"),
        Refusal("101", "HTTP/1.1 101 Switch\r\n\r\n", "malformed \(MessageError.notHTTP)"),
        Refusal(
            "a head without end", "HTTP/1.1 200 ok\r\nA: " + filler, "malformed \(MessageError.headTooLarge)"),
        Refusal(
            "interim answers without end", String(repeating: "HTTP/1.1 100 c\r\n\r\n", count: 99),
            "tooManyInterim"),
        Refusal(
            "bytes behind the head", "HTTP/1.1 200 ok\r\n\r\nHello",
            "malformed \(MessageError.bytesBeforeTunnel)"),
        Refusal("plain HTTP in the tunnel", "HTTP/1.1 200 ok\r\n\r\n", "closed"),
    ])
    func whatIsNoTunnelIsToldAsTheProxys(refusal: Refusal) throws {
        let server = try ScriptedServer { peer in
            guard peer.request() != nil else { return }
            peer.send(refusal.answer)
            peer.finish()
        }
        let network = try tlsNetwork(try Stop(), proxies: try rules(server, userinfo: "u:hunter2@"))
        do throws(TransportError) {
            _ = try Connection.open(to: origin, using: network, until: soon())
            Issue.record("a tunnel")
        } catch {
            #expect(word(error.cause) == refusal.expected)
            #expect(error.operation == (refusal.testDescription.hasPrefix("plain") ? .handshake : .proxy))
            #expect(error.subject.contains("proxy 127.0.0.1:\(server.port)"))
            #expect(!"\(error)".contains("hunter2"))
        }
    }

    /// More than any bound on a head.
    private static let filler = String(repeating: "x", count: 1 << 20)

    @Test(arguments: [true, false]) func aProxyThatTakesForEverMeetsTheDeadline(drips: Bool) throws {
        let server = try ScriptedServer { peer in
            guard peer.request() != nil else { return }
            if drips {
                peer.send("HTTP/1.1 200 ok\r\nA: ")
                // The client leaves at its deadline, which ends the sending.
                for _ in 0..<1000 where peer.sendOne() { usleep(10_000) }
            }
            peer.waitForEnd()
        }
        let rules = try rules(server)
        let network = network(stop: try Stop(), proxies: rules, connectTimeout: 0.3)
        do throws(TransportError) {
            _ = try Connection.open(to: origin, using: network)
            Issue.record("a tunnel")
        } catch {
            #expect(word(error.cause) == "timedOut")
            #expect(error.operation == .proxy)
        }
    }

    @Test(arguments: [Scheme.http, .https]) func aProxyThatIsNotThereIsNamed(scheme: Scheme) throws {
        let (number, port) = try listen("127.0.0.1", port: 0, backlog: 1)
        CLinux.close(number)
        let proxy = try Proxy(parsing: "u:hunter2@127.0.0.1:\(port)")
        let network = network(stop: try Stop(), proxies: ProxyRules(http: proxy, https: proxy))
        do throws(TransportError) {
            _ = try Connection.open(to: Origin(scheme: scheme, host: "a.test", port: 80), using: network)
            Issue.record("a connection")
        } catch {
            #expect(word(error.cause) == "refused")
            #expect(error.operation == .connect)
            #expect(error.subject == "proxy 127.0.0.1:\(port)")
        }
    }
}
