internal import CLinux
internal import Posix
internal import Storage
internal import TestOrigin
internal import Testing
internal import Wire

private let size = 2_000_000
private let held = 700_000

@Suite("Endings", .scratch)
struct EndingTests {
    private func partialSize() -> Int {
        Program.partials.compactMap { size(of: "\(Program.cache)/.syncagent/partial/\($0)") }.max() ?? 0
    }

    @Test(
        "a signal, or several, saves and ends the run, though the server is silent",
        arguments: [[SIGINT], [SIGTERM], [SIGHUP], [SIGINT, SIGINT], [SIGINT, SIGTERM, SIGHUP]])
    func signals(_ signals: [Int32]) throws {
        let resource = Resource(seed: 95, size: size)
        let origin = try TestOrigin { exchange in
            if exchange.repetition > 0 { return exchange.serve(resource) }
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: size)
            exchange.send(resource, 0..<held)
            exchange.stall()
        }
        let url = "\(origin.url)/a.bin"
        let child = try Program.startSync([url])
        let came = eventually { () -> Bool? in
            if partialSize() == held { return true }
            return child.isRunning ? nil : false
        }
        #expect(came == true)
        for signal in signals { child.kill(signal) }
        let outcome = child.wait(seconds: 20)
        #expect(outcome.code == 75, "\(outcome)")
        #expect(Program.finished.isEmpty)
        let second = try Program.sync([url])
        #expect(second.code == 0, "\(second)")
        #expect(origin.log.last?.request.field("range") == "bytes=\(held)-")
        #expect(origin.log.last?.request.field("if-range") == "\"v1\"")
        let isSame =
            try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))")
            == pattern(seed: 95, count: size)
        #expect(isSame)
    }

    @Test("a signal ends a run that has not even connected, or waits to ask again", arguments: [true, false])
    func early(isWaiting: Bool) throws {
        let origin = try TestOrigin { exchange in
            isWaiting ? exchange.respond(503, [("Retry-After", "50")]) : exchange.stall()
        }
        let child = try Program.startSync(["\(origin.url)/a.bin"])
        #expect(origin.wait { log in log.count == 1 && log[0].isFinished == isWaiting })
        child.kill(SIGTERM)
        let outcome = child.wait(seconds: 20)
        #expect(outcome.code == 75, "\(outcome)")
    }

    @Test("a run that is stopped in a long manifest has asked for no more than it may at a time")
    func longManifest() throws {
        let origin = try TestOrigin { $0.stall() }
        let lines = (0..<100_000).map { "\(origin.url)/\($0)" }
        let child = try Program.startSync(lines, ["--jobs", "3", "--per-host", "3"])
        #expect(origin.wait { $0.count == 3 })
        // All workers are busy; what more may come in a moment would be one too many.
        let status = try Program.run(["status", "--json", "--cache", Program.cache])
        #expect(status.code == 0, "\(status)")
        child.kill(SIGTERM)
        let outcome = child.wait(seconds: 30)
        #expect(outcome.code == 75, "\(outcome)")
        #expect(origin.log.count == 3)
        #expect(outcome.errors.split(separator: "\n").count <= 21)
    }

    @Test("a long manifest of files that are fresh asks nothing and says nothing")
    func longAndFresh() throws {
        let origin = try TestOrigin { $0.respond(404) }
        let urls = (0..<5000).map { "\(origin.url)/\($0)" }
        do {
            let cache = try CacheFolder.open(path: Program.cache, create: true)
            var rows: [EntryRow] = []
            for url in urls {
                let key = Key(md5Of: url)
                try write("", to: "\(Program.cache)/\(key.hex)")
                let status = try #require(try cache.status(of: key.hex))
                rows.append(
                    EntryRow(
                        key: key, url: url, fileExtension: "",
                        copy: CopyRow(
                            size: 0, modified: status.modified, inode: status.inode, validators: Validators(),
                            digest: Checksum(algorithm: .xxh3, bytes: Array(repeating: 0, count: 16)),
                            received: wallSeconds())))
            }
            var writer = try LedgerWriter.open(in: cache.state)
            let saved = rows
            try writer.transaction(durable: false) { (ledger: inout LedgerTransaction) throws(LedgerError) in
                for row in saved { try ledger.save(row) }
            }
            try writer.close()
        }
        let outcome = try Program.sync(urls, ["--max-age", "1d"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output.isEmpty && outcome.errors.isEmpty)
        #expect(origin.log.isEmpty)
    }

    @Test("memory does not grow with the file")
    func memory() throws {
        let large = 96 << 20
        let resource = Resource(seed: 96, size: large)
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: large)
            exchange.send(resource, 0..<(large - 1))
            gate.wait(until: .now.advanced(bySeconds: 60))
            exchange.send(resource, (large - 1)..<large)
        }
        let child = try Program.startSync(["\(origin.url)/large.iso"])
        let came = eventually { () -> Bool? in
            if partialSize() == large - 1 { return true }
            return child.isRunning ? nil : false
        }
        #expect(came == true)
        let peak = try peakKibibytes(of: child)
        #expect(peak > 0 && peak < 64 << 10, "\(peak) KiB")
        gate.open()
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
    }

    /// The largest resident size so far: VmHWM of proc_pid_status(5).
    private func peakKibibytes(of child: Child) throws -> Int {
        let number = clinux_openat(AT_FDCWD, "/proc/\(child.process)/status", O_RDONLY | O_CLOEXEC, 0)
        try #require(number >= 0)
        let file = Descriptor(owning: number, subject: "status")
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 8)
        defer { buffer.deallocate() }
        let count = try file.read(into: buffer)
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    @Test("nothing but text goes to a file or a pipe", arguments: [200, 404, 503])
    func plainText(_ status: Int) throws {
        let origin = try TestOrigin { $0.respond(status, [], Array($0.request.target.utf8)) }
        let urls = (0..<60).map { "\(origin.url)/\($0)" }
        let outcome = try Program.sync(urls, ["--retries", "0"])
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.isEmpty == (status == 200))
        #expect(outcome.errors.utf8.allSatisfy { $0 >= 0x20 || $0 == 10 })
        #expect(outcome.errors.split(separator: "\n").count <= 21)
    }

    @Test("on a terminal the total stays and the bytes only grow, whatever breaks")
    func terminal() throws {
        let body = pattern(seed: 97, count: 100_000)
        let origin = try TestOrigin { exchange in
            exchange.rate = 60_000
            exchange.serve(Resource(body), cutAfter: exchange.repetition < 3 ? 30_000 : nil)
        }
        let manifest = try Program.manifest(["\(origin.url)/a.bin"])
        let command = "\(Program.folder)/syncagent sync \(manifest) --cache \(Program.cache)"
        let outcome = Child.run(
            "/usr/bin/script", ["-qec", command, "/dev/null"],
            environment: Program.environment.merging(["TERM": "xterm"]) { $1 })
        #expect(outcome.code == 0, "\(outcome)")
        let shares = outcome.output.split(separator: "\r").flatMap { $0.split(separator: "\n") }
            .compactMap { line -> Double? in
                guard let sign = line.firstIndex(of: "%"), line.contains("a.bin") else { return nil }
                #expect(line.contains("97.7 KiB"), "\(line)")
                let digits = line[..<sign].reversed().drop { $0 == " " }
                    .prefix { $0.isNumber || $0 == "." }
                return Double(String(digits.reversed()))
            }
        #expect(shares.count > 3, "\(outcome)")
        #expect(shares == shares.sorted(), "\(shares)")
        #expect(shares.allSatisfy { $0 <= 100 })
    }
}
