import Posix
import Testing
import Wire

@testable import Transport

@Suite struct ResolverTests {
    private static let local = NameAnswer.addresses(
        [Address(literal: "127.0.0.1", port: 0)].compactMap { $0 })

    private func ask(_ resolver: Resolver, _ host: String, stop: Stop, deadline: Instant = soon()) -> String {
        do throws(TransportError) {
            let found = try resolver.addresses(host: host, port: 80, deadline: deadline, stop: stop)
            return found.map(\.description).joined(separator: " ")
        } catch {
            return word(error.cause)
        }
    }

    @Test(
        "literals ask nobody",
        arguments: [
            ("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80"), ("2001:DB8::2", "[2001:db8::2]:80"),
            ("::ffff:192.0.2.1", "[::ffff:192.0.2.1]:80"),
        ])
    func literals(host: String, expected: String) throws {
        let resolver = Resolver { _ in .noService("asked") }
        #expect(ask(resolver, host, stop: try Stop()) == expected)
    }

    @Test(
        "names that DNS cannot hold do not exist",
        arguments: [
            "", ".", "a..b", String(repeating: "a", count: 64) + ".test",
            String(repeating: "a.", count: 127) + "aa", "a\0b",
        ])
    func impossible(host: String) throws {
        let resolver = Resolver { _ in .noService("asked") }
        #expect(ask(resolver, host, stop: try Stop()) == "unknownHost")
    }

    @Test("the system's resolver knows localhost and no invalid name")
    func system() throws {
        let stop = try Stop()
        let resolver = Resolver()
        #expect(
            ["127.0.0.1:80", "[::1]:80"].contains { ask(resolver, "localhost", stop: stop).contains($0) })
        // Without a name service the machine cannot tell that the name does not exist (RFC 6761 6.4).
        #expect(["unknownHost", "noNameService"].contains(ask(resolver, "no.such.invalid", stop: stop)))
    }

    @Test(
        "what the name service says is what is reported",
        arguments: [
            (NameAnswer.unknown, "unknownHost"), (.noService("out"), "noNameService"),
            (local, "127.0.0.1:80"),
        ])
    func answers(answer: NameAnswer, expected: String) throws {
        let questions = Monitor(0)
        let resolver = Resolver { _ in
            questions.withLock { $0 += 1 }
            return answer
        }
        let stop = try Stop()
        #expect(ask(resolver, "a.test", stop: stop) == expected)
        #expect(ask(resolver, "A.TEST", stop: stop) == expected)
        #expect(questions.withLock { $0 } == 1)
        resolver.forget(host: "a.test")
        #expect(ask(resolver, "a.test", stop: stop) == expected)
        #expect(questions.withLock { $0 } == 2)
    }

    @Test("a look-up that hangs is left behind at the deadline and at the stop")
    func hanging() throws {
        let gate = try Stop()
        defer { gate.raise() }
        let resolver = Resolver { _ in
            _ = gate.wait(until: soon(60))
            return .unknown
        }
        let stop = try Stop()
        #expect(ask(resolver, "a.test", stop: stop, deadline: soon(0.05)) == "timedOut")
        stop.raise()
        #expect(ask(resolver, "a.test", stop: stop, deadline: .never) == "stopped")
    }

    @Test("one question a name, however many ask at once, and a bounded number at a time")
    func many() throws {
        let gate = try Stop()
        let state = Monitor((asked: [String](), running: 0, most: 0))
        let resolver = Resolver { name in
            state.withLock {
                $0.asked.append(name)
                $0.running += 1
                $0.most = max($0.most, $0.running)
            }
            _ = gate.wait(until: soon(60))
            state.withLock { $0.running -= 1 }
            return Self.local
        }
        let stop = try Stop()
        let names = (0..<Resolver.maximumThreads * 2).map { "host\($0).test" }
        let results = Monitor<[String]>([])
        var threads: [WorkerThread] = []
        for name in names + names {
            threads.append(
                try WorkerThread(name: "asker") { [self] in
                    let result = ask(resolver, name, stop: stop, deadline: soon(60))
                    results.withLock { $0.append(result) }
                })
        }
        let limit = soon(60)
        while state.withLock({ $0.running < Resolver.maximumThreads }), Instant.now < limit {
            _ = stop.wait(until: soon(0.001))
        }
        gate.raise()
        for thread in threads { thread.join() }
        #expect(results.withLock { $0 } == Array(repeating: "127.0.0.1:80", count: names.count * 2))
        #expect(state.withLock { $0.asked.sorted() } == names.sorted())
        #expect(state.withLock { $0.most } == Resolver.maximumThreads)
    }

    @Test("a name that nobody waits for any more is not asked for")
    func abandoned() throws {
        let gate = try Stop()
        let asked = Monitor<Set<String>>([])
        let resolver = Resolver { name in
            _ = asked.withLock { $0.insert(name) }
            _ = gate.wait(until: soon(60))
            return Self.local
        }
        let stop = try Stop()
        for place in 0..<Resolver.maximumThreads {
            #expect(ask(resolver, "busy\(place).test", stop: stop, deadline: .now) == "timedOut")
        }
        #expect(ask(resolver, "late.test", stop: stop, deadline: .now) == "timedOut")
        gate.raise()
        #expect(ask(resolver, "last.test", stop: stop) == "127.0.0.1:80")
        #expect(!asked.withLock { $0.contains("late.test") })
    }

    @Test(
        "families take turns, beginning with the first",
        arguments: [
            (["::1", "::2", "::3", "1.1.1.1", "1.1.1.2"], "::1 1.1.1.1 ::2 1.1.1.2 ::3"),
            (["1.1.1.1", "1.1.1.2", "::1"], "1.1.1.1 ::1 1.1.1.2"),
            (["1.1.1.1"], "1.1.1.1"),
            ([], ""),
        ])
    func turns(literals: [String], expected: String) {
        let addresses = literals.compactMap { Address(literal: $0, port: 1) }
        let order = expected.split(separator: " ").compactMap { Address(literal: String($0), port: 1) }
        #expect(interleaved(addresses) == order)
    }

    @Test(
        "hosts beyond ASCII",
        arguments: [
            ("example.org", "example.org"), ("UPPER_case.org", "UPPER_case.org"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("straße.de", "xn--strae-oqa.de"), ("BÜCHER.example", "xn--bcher-kva.example"),
            ("日本.jp", "xn--wgv71a.jp"),
            ("a℀b.org", "badHost"), ("ü" + String(repeating: "a", count: 70) + ".org", "badHost"),
            ("ü\u{202E}.org", "badHost"),
        ])
    func internationalized(host: String, expected: String) {
        do throws(TransportError) {
            #expect(try asciiHost(host) == expected)
        } catch {
            #expect(word(error.cause) == expected)
        }
    }
}
