internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

@Suite("What a run may take", .scratch)
struct ShapingTests {
    private func serve(_ size: Int) throws -> TestOrigin {
        try TestOrigin { $0.serve(Resource(seed: 1, size: size)) }
    }

    @Test("--limit-rate holds for all transfers together, and a stop ends the wait")
    func rate() throws {
        let origin = try serve(200_000)
        let began = Instant.now
        let outcome = try Program.sync(
            (0..<3).map { "\(origin.url)/\($0).bin" }, ["--limit-rate", "300k"])
        #expect(outcome.description == "exit 0\n")
        // 600,000 bytes at 307,200 a second, less the burst and the last reads.
        #expect(Instant.now.seconds(since: began) >= 1.4)

        let large = try serve(50_000_000)
        let child = try Program.startSync(["\(large.url)/l.bin"], ["--limit-rate", "00:00,1k"])
        #expect(eventually { Program.partials.isEmpty ? nil : true } == true)
        child.kill(SIGTERM)
        let stopped = child.wait(seconds: 30)
        #expect(stopped.code == 75, "\(stopped)")
    }

    @Test("--max-bytes is never exceeded, and further runs go on")
    func bytes() throws {
        let origin = try serve(300_000)
        let lines = (0..<4).map { "\(origin.url)/\($0).bin" }
        let options = ["--max-bytes", "500000", "--jobs", "2"]
        let first = try Program.sync(lines, options + ["--textfile", scratch("a.prom")])
        #expect(first.code == 75, "\(first)")
        #expect(
            first.errors.contains("the run may receive 500000 bytes (--max-bytes), and they are spent"),
            "\(first)")
        let metrics = String(decoding: try contents(of: scratch("a.prom")) ?? [], as: UTF8.self)
        let line = try #require(
            metrics.split(separator: "\n").first { $0.hasPrefix("syncagent_downloaded_bytes_total ") })
        let received = try #require(Int(line.split(separator: " ")[1]))
        #expect((1...500_000).contains(received))
        #expect(try Program.sync(lines, options).code == 75)
        var code: Int32?
        for _ in 0..<3 where code != 0 { code = try Program.sync(lines, options).code }
        #expect(code == 0)
        #expect(Program.finished.count == 4)
        // What is current costs nothing, and a run that needs no more than it may is whole.
        #expect(try Program.sync(lines, ["--max-bytes", "0"]).code == 0)
        #expect(try Program.sync(lines + ["\(origin.url)/x.bin"], ["--max-bytes", "300000"]).code == 0)
        #expect(try Program.sync(lines + ["\(origin.url)/y.bin"], ["--max-bytes", "299999"]).code == 75)
    }

    @Test("--order=smallest goes by the manifest's size, then by what is known, unknown ones last")
    func order() throws {
        let origin = try TestOrigin { exchange in
            let size = Int(exchange.request.path.dropFirst().prefix { $0.isNumber }) ?? 0
            exchange.serve(Resource(seed: 1, size: size))
        }
        let lines = [
            "\(origin.url)/300.a", "\(origin.url)/200.b\tsize=200", "\(origin.url)/100.c\tsize=100",
            "\(origin.url)/400.d\tsize=400\tpriority=1",
        ]
        let options = ["--order", "smallest", "--jobs", "1"]
        #expect(try Program.sync(lines, options).code == 0)
        #expect(origin.log.map(\.target) == ["/400.d", "/100.c", "/200.b", "/300.a"])
        #expect(try Program.sync(["\(origin.url)/300.a", "\(origin.url)/100.c"], options).code == 0)
        #expect(origin.log.suffix(2).map(\.target) == ["/100.c", "/300.a"])
    }
}
