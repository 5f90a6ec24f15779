internal import FoundationEssentials
internal import Posix
internal import TestOrigin
internal import Testing

/// The part of `status --json` that other programs rely on here.
private struct Status: Decodable {
    struct Partial: Decodable {
        let url: String
        let done: Int
        let total: Int?
    }
    let running: Bool
    let entries: Int
    let states: [String: Int]
    let partials: [Partial]

    init(_ outcome: Child.Outcome) throws {
        self = try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8))
    }
}

@Suite("Status", .scratch)
struct StatusTests {
    private func status(_ arguments: [String] = []) throws -> Child.Outcome {
        try Program.run(["status", "--cache", Program.cache] + arguments)
    }

    @Test("during a run the JSON is whole, states sum to entries, and done never exceeds total")
    func duringRun() throws {
        let resource = Resource(seed: 5, size: 400_000)
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            if exchange.request.path != "/half.bin" { return exchange.serve(resource) }
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: resource.size)
            exchange.send(resource, 0..<200_000)
            gate.wait(until: .now.advanced(bySeconds: 60))
            exchange.send(resource, 200_000..<resource.size)
        }
        let urls = ["one.bin", "half.bin", "two.bin"].map { "\(origin.url)/\($0)" }
        let child = try Program.startSync(urls)
        let seen = try eventually { () -> Status? in
            let outcome = try status(["--json"])
            #expect(outcome.code == 0, "\(outcome)")
            let status = try Status(outcome)
            #expect(status.states.values.reduce(0, +) == status.entries, "\(outcome)")
            for partial in status.partials {
                if let total = partial.total { #expect(partial.done <= total) }
            }
            let isHalf = status.partials.contains { $0.done == 200_000 && $0.total == 400_000 }
            return isHalf && status.states["current"] == 2 ? status : nil
        }
        #expect(seen?.running == true)
        #expect(seen?.entries == 3)
        #expect(seen?.partials.map(\.url) == ["\(origin.url)/half.bin"])
        gate.open()
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        let after = try Status(try status(["--json"]))
        #expect(after.running == false)
        #expect(after.states["current"] == 3)
        #expect(after.partials.isEmpty)
    }

    @Test("a cache that does not exist is no error and is not made", arguments: [[], ["--json"]])
    func missingCache(_ arguments: [String]) throws {
        let outcome = try status(arguments)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(size(of: Program.cache) == nil)
    }

    @Test("path prints where a complete file is, and nothing for any other")
    func path() throws {
        let origin = try TestOrigin { exchange in
            exchange.request.path == "/a.txt" ? exchange.respond(200, [], [1, 2]) : exchange.respond(404)
        }
        let urls = ["\(origin.url)/a.txt", "\(origin.url)/b.txt"]
        #expect(try Program.sync(urls).code == 1)
        let names = try cacheNames(of: urls)
        let complete = try Program.run(["path", urls[0], "--cache", Program.cache])
        #expect(complete.code == 0, "\(complete)")
        #expect(complete.output == "\(Program.cache)/\(names[0])\n")
        let missing = try Program.run(["path", urls[1], "--cache", Program.cache])
        #expect(missing.code == 1, "\(missing)")
        #expect(missing.output.isEmpty)
    }
}
