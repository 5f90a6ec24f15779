internal import CLinux
internal import Posix
internal import Storage
internal import TestOrigin
internal import Testing

@Suite("Killed in mid-body", .scratch)
struct KillTests {
    /// Bytes; the environment's SYNCAGENT_TEST_KILL_MIB makes it larger.
    private static let total: Int = {
        let setting = getenv("SYNCAGENT_TEST_KILL_MIB").flatMap { Int(String(cString: $0)) }
        return (setting ?? 64) << 20
    }()
    private static let kills = 5

    @Test("after each SIGKILL the next run goes on where the last one was", .timeLimit(.minutes(5)))
    func kills() throws {
        let nginx = try Nginx(settings: "limit_rate 8m;", listening: "sndbuf=64k")
        try write(pattern(seed: 1, count: Self.total), to: nginx.files + "/large.iso")
        let url = "\(nginx.url)/large.iso"
        let name = try #require(try cacheNames(of: [url]).first)

        for kill in 1...Self.kills {
            let child = try Program.startSync([url])
            let goal = Self.total / (Self.kills + 1) * kill
            let reached = eventually { () -> Bool? in
                if let size = partialSize(), size >= goal { return true }
                return child.isRunning ? nil : false
            }
            try #require(reached == true, "kill \(kill): \(child.wait(seconds: 0))")
            child.kill(SIGKILL)
            #expect(child.wait().code == 128 + SIGKILL)
            #expect(Program.finished.isEmpty, "nothing has the final name before it is complete")
            // nginx writes its line when it notices that the client is gone.
            let isLogged = try eventually { try nginx.log().count >= kill ? true : nil }
            #expect(isLogged == true)
        }
        let last = try Program.sync([url])
        #expect(last.code == 0, "\(last)")

        let cmp = Child.run("/usr/bin/cmp", [nginx.files + "/large.iso", "\(Program.cache)/\(name)"])
        #expect(cmp.code == 0, "\(cmp)")
        #expect(Program.partials.isEmpty)
        let log = try nginx.log()
        #expect(log.count == Self.kills + 1, "\(log)")
        #expect(log.first?.range == nil)
        #expect(
            log.dropFirst().allSatisfy { $0.status == 206 && $0.range != nil && $0.ifRange != nil }, "\(log)")
        let served = log.map(\.sent).reduce(0, +)
        #expect(served <= Self.total + Self.kills << 20, "\(log)")
    }

    private func partialSize() -> Int? {
        Program.partials.compactMap { size(of: "\(Program.cache)/.syncagent/partial/\($0)") }.max()
    }

    @Test("SIGTERM saves and ends with 75, and the next run resumes")
    func terminated() throws {
        let resource = Resource(seed: 2, size: 3_000_000)
        let origin = try TestOrigin { exchange in
            if exchange.repetition > 0 { return exchange.serve(resource) }
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: resource.size)
            exchange.send(Array(resource.bytes(from: 0, count: 2_000_000)))
            exchange.stall()
        }
        let child = try Program.startSync(["\(origin.url)/a.bin"])
        let came = eventually { () -> Bool? in
            if let size = partialSize(), size >= 2_000_000 { return true }
            return child.isRunning ? nil : false
        }
        #expect(came == true)
        child.kill(SIGTERM)
        let outcome = child.wait(seconds: 20)
        #expect(outcome.code == 75, "\(outcome)")
        var rows: [PartialRow] = []
        if var reader = try LedgerReader.open(cache: Program.cache) { rows = try reader.allPartials() }
        #expect(rows.map(\.durable) == [2_000_000], "a run that ends in order leaves nothing to a power cut")
        let second = try Program.sync(["\(origin.url)/a.bin"])
        #expect(second.code == 0, "\(second)")
        #expect(origin.log.last?.request.field("range") == "bytes=2000000-")
        #expect(origin.log.last?.request.field("if-range") == "\"v1\"")
        let name = try #require(Program.finished.first)
        #expect(try contents(of: "\(Program.cache)/\(name)") == pattern(seed: 2, count: 3_000_000))
    }
}
