internal import Posix
internal import TestOrigin
internal import Testing

private let size = 60_000
private let held = 20_000
private let good = pattern(seed: 61, count: size)
private let rest = Array(good[held...])
private let resumed = "bytes=\(held)-"
private let v1 = ("ETag", "\"v1\"")
private let html = ("Content-Type", "text/html")
private let total = ("Content-Range", "bytes \(held)-\(size - 1)/\(size)")

/// The rest, but from four bytes too early: only its bytes are wrong.
private let shifted = Array(good[(held - 4)..<(size - 4)])

/// The first answer breaks off after `held` bytes; the later ones are the case's own, counted from 1.
private func afterCut(
    _ handler: @escaping @Sendable (inout Exchange, Int) -> Void
) -> @Sendable (inout Exchange) -> Void {
    { exchange in
        exchange.repetition == 0
            ? exchange.serve(Resource(good), cutAfter: held) : handler(&exchange, exchange.repetition)
    }
}

/// A page that is exactly as long as what is missing.
private let page = Array(
    ("<html>" + String(repeating: "x", count: rest.count - 6)).utf8)

private let bodies: [Misbehaviour] =
    [403, 404, 410].map { status in
        Misbehaviour(
            "a page with \(status), then the next run", 1, good, then: [0], ranges: [nil, resumed, resumed],
            afterCut { exchange, repetition in
                repetition == 1 ? exchange.respond(status, [html], page) : exchange.serve(Resource(good))
            })
    }
    + [408, 429, 500, 502, 503, 504, 202].map { status in
        Misbehaviour(
            "a page with \(status), then the next run", 75, good, then: [0], ranges: [nil, resumed, resumed],
            afterCut { exchange, repetition in
                repetition == 1 ? exchange.respond(status, [html], page) : exchange.serve(Resource(good))
            })
    } + [
        Misbehaviour(
            "a page that is a whole answer", 75, good, then: [0], ranges: [nil, resumed, resumed],
            afterCut { exchange, repetition in
                repetition == 1 ? exchange.respond(200, [html], page) : exchange.serve(Resource(good))
            })
    ]

@Suite("Integrity", .scratch)
struct IntegrityTests {
    @Test("only answers that bring the file go to disk:", arguments: bodies)
    func strangeBodies(_ case: Misbehaviour) throws { try `case`.verify(retries: 0) }

    @Test("a body that ends early is gone on with in the same run", arguments: [false, true])
    func shortBody(isReset: Bool) throws {
        let origin = try TestOrigin { exchange in
            // Each connection carries a fifth.
            exchange.serve(Resource(good), cutAfter: size / 5, reset: isReset)
        }
        let outcome = try Program.sync(["\(origin.url)/a.bin"], ["--retries", "0"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))") == good)
        #expect(origin.log.count { $0.request.field("range") == nil } == 1)
    }

    /// Who says what the file's digest is.
    enum Judge: CaseIterable, Sendable { case manifest, reprDigest, oldDigest, nobody }

    private func base64(_ bytes: [UInt8]) throws -> String {
        try write(bytes, to: scratch("digest.bin"))
        let outcome = Child.run(
            "/bin/sh", ["-c", "openssl dgst -sha256 -binary digest.bin | base64"],
            environment: ["PATH": "/usr/bin:/bin"])
        try #require(outcome.code == 0, "\(outcome)")
        return outcome.output.trimming()
    }

    @Test(
        "a rest with the right head and the wrong bytes is found out by a digest", arguments: Judge.allCases)
    func shiftedRest(_ judge: Judge) throws {
        let sum = try base64(good)
        let fields: [(String, String)] =
            switch judge {
            case .reprDigest: [("Repr-Digest", "sha-256=:\(sum):")]
            case .oldDigest: [("Digest", "SHA-256=\(sum)")]
            case .manifest, .nobody: []
            }
        let origin = try TestOrigin { exchange in
            if exchange.request.field("range") != nil {
                return exchange.respond(206, [v1, total] + fields, shifted)
            }
            var resource = Resource(good)
            resource.fields = fields
            exchange.serve(resource, cutAfter: exchange.repetition == 0 ? held : nil)
        }
        let line =
            switch judge {
            case .manifest: "\(origin.url)/a.bin\tchecksum=sha256-\(sum)"
            case .reprDigest, .oldDigest, .nobody: "\(origin.url)/a.bin"
            }
        let outcome = try Program.sync([line], ["--retries", "0"])
        #expect(outcome.code == 0, "\(outcome)")
        let name = try #require(Program.finished.first)
        let isGood = try contents(of: "\(Program.cache)/\(name)") == good
        // Headers alone cannot show it.
        #expect(isGood == (judge != .nobody))
        let log = origin.log
        #expect(log.map { $0.request.field("range") } == [nil, resumed] + (judge == .nobody ? [] : [nil]))
        if judge != .nobody { #expect(log.last?.request.field("cache-control") == "no-cache") }
    }

    @Test("a byte that rotted in the partial is found out by the manifest's checksum")
    func rottenPartial() throws {
        let sum = try base64(good)
        let origin = try TestOrigin { exchange in
            switch exchange.repetition {
            case 0: exchange.serve(Resource(good), cutAfter: held)
            case 1: exchange.respond(503)
            default: exchange.serve(Resource(good))
            }
        }
        let line = "\(origin.url)/a.bin\tchecksum=sha256-\(sum)"
        #expect(try Program.sync([line], ["--retries", "0"]).code == 75)
        let path = "\(Program.cache)/.syncagent/partial/\(try #require(Program.partials.first))"
        var bytes = try #require(try contents(of: path))
        #expect(bytes.count == held)
        bytes[held / 2] ^= 0x10
        try write(bytes, to: path)
        let outcome = try Program.sync([line], ["--retries", "0"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(origin.log.map { $0.request.field("range") } == [nil, resumed, resumed, nil])
        #expect(try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))") == good)
    }

    @Test("a checksum that stays wrong names both values and keeps nothing")
    func wrong() throws {
        let origin = try TestOrigin { $0.serve(Resource(good)) }
        let wanted = String(repeating: "0", count: 64)
        let outcome = try Program.sync(
            ["\(origin.url)/a.bin\tchecksum=sha-256=\(wanted)"], ["--retries", "3"])
        #expect(outcome.code == 1, "\(outcome)")
        #expect(outcome.errors.contains(wanted))
        #expect(Program.finished.isEmpty)
        #expect(Program.partials.isEmpty)
        #expect(origin.log.count == 1)
    }

    @Test("a mirror has what the first URL has wrong")
    func mirror() throws {
        let sum = try base64(good)
        let origin = try TestOrigin { exchange in
            exchange.serve(Resource(exchange.request.path == "/bad.bin" ? page : good))
        }
        let line = "\(origin.url)/bad.bin\t\(origin.url)/good.bin\tchecksum=sha256-\(sum)"
        let outcome = try Program.sync([line], ["--retries", "0"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(Program.finished == (try cacheNames(of: ["\(origin.url)/bad.bin"])))
        #expect(try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))") == good)
    }

    @Test("a body in very many small chunks, eight at a time")
    func smallChunks() throws {
        let files = (0..<8).map { pattern(seed: UInt64(70 + $0), count: 30_000) }
        let origin = try TestOrigin { exchange in
            let file = files[Int(exchange.request.path.dropFirst()) ?? 0]
            exchange.sendHead(200, [("Transfer-Encoding", "chunked")], length: nil)
            var message: [UInt8] = []
            var offset = 0
            while offset < file.count {
                let count = min(1 + offset % 7, file.count - offset)
                message += Array("\(count)\r\n".utf8) + file[offset..<(offset + count)] + Array("\r\n".utf8)
                offset += count
            }
            exchange.send(message + Array("0\r\n\r\n".utf8))
        }
        let urls = (0..<8).map { "\(origin.url)/\($0)" }
        let outcome = try Program.sync(urls, ["--jobs", "8", "--per-host", "8"])
        #expect(outcome.code == 0, "\(outcome)")
        for (file, name) in zip(files, try cacheNames(of: urls)) {
            let isSame = try contents(of: "\(Program.cache)/\(name)") == file
            #expect(isSame)
        }
    }
}

extension String {
    fileprivate func trimming() -> String { String(prefix { !$0.isNewline }) }
}
