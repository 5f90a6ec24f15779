internal import Posix
internal import Synchronization
internal import TestOrigin
internal import Testing

private let size = 60_000
private let held = 20_000
private let body = pattern(seed: 81, count: size)
private let resumed = "bytes=\(held)-"

private let stalls: [Misbehaviour] = [
    Misbehaviour(
        "in mid-body once", 0, body, ranges: [nil, resumed],
        options: ["--stall-timeout", "0.3"],
        { exchange in
            if exchange.repetition > 0 { return exchange.serve(Resource(body)) }
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: size)
            exchange.send(Array(body[..<held]))
            exchange.stall()
        }),
    Misbehaviour(
        "in mid-body for good", 75, nil, ranges: [nil, resumed], kept: Array(body[..<held]),
        options: ["--stall-timeout", "0.3"],
        { exchange in
            if exchange.repetition > 0 {
                exchange.sendHead(
                    206, [("ETag", "\"v1\""), ("Content-Range", "bytes \(held)-\(size - 1)/\(size)")],
                    length: size - held)
                return exchange.stall()
            }
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: size)
            exchange.send(Array(body[..<held]))
            exchange.stall()
        }),
    Misbehaviour(
        "but for a byte now and then", 75, nil, options: ["--stall-timeout", "0.3"],
        { exchange in
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: size)
            exchange.dribble(Array(body[..<2000]), pause: 0.02)
        }),
    Misbehaviour(
        "in the head", 75, nil, options: ["--head-timeout", "0.3"],
        { exchange in
            exchange.send("HTTP/1.1 200 OK\r\n")
            exchange.stall()
        }),
    Misbehaviour(
        "in the head but for a byte now and then", 75, nil, options: ["--head-timeout", "0.3"],
        { exchange in
            exchange.dribble(
                Array("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 2000))".utf8), pause: 0.02)
        }),
    Misbehaviour(
        "in the body of an answer that is not wanted", 1, nil, options: ["--head-timeout", "0.3"],
        { exchange in
            exchange.sendHead(404, [], length: 100)
            exchange.stall()
        }),
    Misbehaviour(
        "never, though it is slow", 0, body, ranges: [nil], options: ["--stall-timeout", "2"],
        { exchange in
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: size)
            exchange.dribble(body, piece: 2000, pause: 0.1)
        }),
    Misbehaviour(
        "longer than the run may take", 75, nil, ranges: [nil], kept: Array(body[..<held]),
        options: ["--max-time", "1"],
        { exchange in
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: size)
            exchange.send(Array(body[..<held]))
            exchange.stall()
        }),
]

/// Retry-After values that are none (RFC 9110 10.2.3).
private let noDelays = ["-1", "", "soon", "1.5", "+1", "1 2", "Tue, 99 Foo 2024 10:00:00 GMT"]
/// Values that are far beyond any patience.
private let longDelays = [
    "9223372037", "9223372036854775807", "99999999999999999999", "999999",
    "Fri, 31 Dec 9999 23:59:59 GMT",
]

@Suite("Patience", .scratch)
struct PatienceTests {
    @Test("a server that stalls", arguments: stalls)
    func stalling(_ case: Misbehaviour) throws { try `case`.verify(retries: 0) }

    @Test("a Retry-After that is none is no reason to give up, nor to ask for ever", arguments: noDelays)
    func noDelay(_ value: String) throws {
        let origin = try TestOrigin { exchange in
            exchange.repetition == 0
                ? exchange.respond(503, [("Retry-After", value)]) : exchange.serve(Resource(body))
        }
        let outcome = try Program.sync(["\(origin.url)/a.bin"], ["--retries", "1"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(origin.log.count == 2)
    }

    @Test("a long Retry-After is kept for later runs and holds up nobody else", arguments: longDelays)
    func longDelay(_ value: String) throws {
        let origin = try TestOrigin { $0.respond(429, [("Retry-After", value)], Array("wait".utf8)) }
        let other = try TestOrigin { $0.respond(200, [], Array("fine".utf8)) }
        let urls = ["\(origin.url)/a", "\(other.url)/b", "\(origin.url)/c", "\(other.url)/d"]
        let outcome = try Program.sync(urls, ["--jobs", "1"])
        #expect(outcome.code == 75, "\(outcome)")
        #expect(Program.finished.count == 2)
        #expect(origin.log.count == 1)
        let status = try Program.run(["status", "--json", "--cache", Program.cache, urls[0]])
        #expect(
            status.output.contains("\"not_before\" : \"") || status.output.contains("\"not_before\":\""),
            "\(status)")

        let second = try Program.sync(urls)
        #expect(second.code == 75, "\(second)")
        #expect(origin.log.count == 1)
        let third = try Program.sync(urls, ["--retry-failed", "--jobs", "1"])
        #expect(third.code == 75, "\(third)")
        #expect(origin.log.count == 2)
    }

    @Test("a short Retry-After holds for all entries of the origin, and costs no try")
    func sharedDelay() throws {
        let times = Mutex<[Instant]>([])
        let refusals = 3
        let origin = try TestOrigin { exchange in
            let place = times.withLock { times in
                times.append(.now)
                return times.count
            }
            place <= refusals
                ? exchange.respond(429, [("Retry-After", "1")], Array("wait".utf8))
                : exchange.respond(200, [], Array(exchange.request.target.utf8))
        }
        let urls = (0..<12).map { "\(origin.url)/\($0)" }
        let outcome = try Program.sync(urls, ["--jobs", "8", "--per-host", "1", "--retries", "0"])
        #expect(outcome.code == 0, "\(outcome)")
        for (index, name) in try cacheNames(of: urls).enumerated() {
            #expect(try contents(of: "\(Program.cache)/\(name)") == Array("/\(index)".utf8))
        }
        let asked = times.withLock { $0 }
        #expect(asked.count == urls.count + refusals)
        for place in 0..<refusals { #expect(asked[place + 1].seconds(since: asked[place]) > 0.9) }
    }

    @Test("a crowd that is refused stays within its tries")
    func crowd() throws {
        let origin = try TestOrigin { $0.respond(429, [], Array("wait".utf8)) }
        let urls = (0..<16).map { "\(origin.url)/\($0)" }
        let outcome = try Program.sync(urls, ["--jobs", "8", "--per-host", "8", "--retries", "1"])
        #expect(outcome.code == 75, "\(outcome)")
        #expect(origin.log.count == 32)
        #expect(Program.finished.isEmpty)
    }

    @Test("cuts that each bring something cost no try and no delay")
    func productiveCuts() throws {
        let origin = try TestOrigin { $0.serve(Resource(body), cutAfter: 1500) }
        let outcome = try Program.sync(["\(origin.url)/a.bin"], ["--retries", "0"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(origin.log.count == size / 1500)
        #expect(origin.log.dropFirst().allSatisfy { $0.status == 206 })
    }

    @Test("cuts that bring next to nothing are given up")
    func fruitlessCuts() throws {
        let origin = try TestOrigin { $0.serve(Resource(body), cutAfter: 100) }
        let outcome = try Program.sync(["\(origin.url)/a.bin"], ["--retries", "1"])
        #expect(outcome.code == 75, "\(outcome)")
        #expect(origin.log.count == 2)
    }

    @Test("a server that ignores ranges and cuts is left in time, and keeps what was the most")
    func ignoredRanges() throws {
        let origin = try TestOrigin { exchange in
            var resource = Resource(body)
            resource.takesRanges = false
            exchange.serve(resource, cutAfter: exchange.repetition == 0 ? held : held / 2)
        }
        let outcome = try Program.sync(["\(origin.url)/a.bin"], ["--retries", "1"])
        #expect(outcome.code == 75, "\(outcome)")
        #expect(origin.log.count <= 5)
        let partial = try #require(Program.partials.first)
        #expect(size(of: "\(Program.cache)/.syncagent/partial/\(partial)") == held)
    }
}
