internal import Posix
internal import Storage
internal import TestOrigin
internal import Testing
internal import Wire

private let size = 90_000
private let held = 30_000
private let old = pattern(seed: 31, count: size)
private let new = pattern(seed: 32, count: size)
private let short = pattern(seed: 33, count: 20_000)
private let rest = Array(old[held...])
private let resumed = "bytes=\(held)-"
private let v1 = ("ETag", "\"v1\"")
private let html = ("Content-Type", "text/html")

private func range(_ text: String) -> (String, String) { ("Content-Range", text) }

/// The first answer breaks off after `held` bytes; the later ones are the case's own, counted from 1.
private func afterCut(
    fields: [(String, String)] = [v1], _ handler: @escaping @Sendable (inout Exchange, Int) -> Void
) -> @Sendable (inout Exchange) -> Void {
    { exchange in
        if exchange.repetition > 0 { return handler(&exchange, exchange.repetition) }
        exchange.serve(Resource(old, etag: nil).with(fields), cutAfter: held)
    }
}

/// A chunked answer that breaks off after so many bytes, so that nobody knows the whole size.
private func chunkedCut(_ exchange: inout Exchange, after count: Int, _ fields: [(String, String)] = [v1]) {
    exchange.sendHead(200, fields + [("Transfer-Encoding", "chunked")], length: nil)
    exchange.send("\(String(count, radix: 16))\r\n")
    exchange.send(Array(old[..<count]) + Array("\r\n".utf8))
    exchange.cut()
}

extension Resource {
    fileprivate func with(_ fields: [(String, String)]) -> Resource {
        var resource = self
        resource.fields = fields
        return resource
    }
}

/// Content-Range fields that belong to no 206 for the rest of the file (RFC 9110 14.4).
private let wrongRanges = [
    "bytes \(held)-\(size + 9999)/\(size)", "bytes \(held)-\(held - 1)/\(size)",
    "bytes \(held)-\(size - 1)/\(size - 1)", "bytes \(held)-", "bytes \(held)-\(size - 1)", "items 0-1/2",
    "bytes */\(size)", "bytes \(held)-18446744073709551615/18446744073709551616",
    "bytes 18446744073709551616-18446744073709551617/*", "bytes -1-\(size - 1)/\(size)",
    "bytes \(held + 1)-\(size - 1)/\(size)", "bytes \(held - 4)-\(size - 1)/\(size)", "",
]

private let ranges: [Misbehaviour] =
    wrongRanges.map { text in
        Misbehaviour(
            "a 206 of '\(text)'", 0, old, ranges: [nil, resumed, nil],
            afterCut { exchange, repetition in
                if repetition > 1 { return exchange.serve(Resource(old)) }
                exchange.respond(206, [v1, range(text)], rest)
            })
    } + [
        Misbehaviour(
            "every answer is a 206 of the whole", 0, old, ranges: [nil, resumed, nil],
            { exchange in
                exchange.sendHead(206, [v1, range("bytes 0-\(size - 1)/\(size)")], length: size)
                exchange.send(exchange.repetition == 0 ? Array(old[..<held]) : old)
                if exchange.repetition == 0 { exchange.cut() }
            }),
        Misbehaviour(
            "a wrong 206, then nothing: what was held stays", 75, nil, ranges: [nil, resumed, nil],
            kept: Array(old[..<held]),
            afterCut { exchange, repetition in
                if repetition > 1 { return exchange.respond(503) }
                exchange.respond(206, [v1, range("bytes 50000-\(size - 1)/\(size)")], Array(old[50_000...]))
            }),
        Misbehaviour(
            "each break moves the start of the next range", 0, old,
            ranges: [nil, resumed, "bytes=60000-"],
            { exchange in
                exchange.serve(Resource(old), cutAfter: exchange.repetition < 2 ? held : nil)
            }),
        Misbehaviour(
            "every connection is cut after a part, and no try is spent on it", 0, old,
            { $0.serve(Resource(old), cutAfter: 9000) }),
        Misbehaviour(
            "a 503 leaves what is held to the next run", 75, old, then: [0], ranges: [nil, resumed, resumed],
            afterCut { exchange, repetition in
                repetition == 1 ? exchange.respond(503) : exchange.serve(Resource(old))
            }),
        Misbehaviour(
            "a whole answer that breaks off earlier leaves what is held", 75, nil,
            ranges: [nil, resumed, resumed], ifRanges: [nil, "\"v1\"", nil], kept: Array(old[..<held]),
            afterCut { exchange, _ in
                exchange.sendHead(200, [v1], length: size)
                exchange.send(Array(old[..<9000]))
                exchange.cut()
            }),
        Misbehaviour(
            "a whole answer that is longer than what is held takes its place", 75, nil,
            ranges: [nil, nil, nil], kept: Array(old[..<50_000]),
            afterCut(fields: []) { exchange, repetition in
                if repetition > 1 { return exchange.respond(503) }
                exchange.sendHead(200, [], length: size)
                exchange.send(Array(old[..<50_000]))
                exchange.cut()
            }),
        Misbehaviour(
            "a shorter file after a stall leaves no tail of the longer one", 0, short,
            ranges: [nil, nil], options: ["--stall-timeout", "0.3"],
            { exchange in
                if exchange.repetition == 0 {
                    exchange.sendHead(200, [("Transfer-Encoding", "chunked")], length: nil)
                    exchange.send("11170\r\n")
                    exchange.send(Array(old[..<70_000]))
                    return exchange.stall()
                }
                exchange.sendHead(200, [("Transfer-Encoding", "chunked")], length: nil)
                exchange.send("4e20\r\n")
                exchange.send(short)
                exchange.send("\r\n0\r\n\r\n")
            }),
    ]

private let refusedRanges: [Misbehaviour] = [
    Misbehaviour(
        "no length, and an html page", 0, old, ranges: [nil, resumed, nil],
        afterCut { exchange, repetition in
            if repetition > 1 { return exchange.serve(Resource(old)) }
            exchange.respond(416, [html], Array("<html>416</html>".utf8))
        }),
    Misbehaviour(
        "the length that is held, though another total was told", 0, old, ranges: [nil, resumed, nil],
        afterCut { exchange, repetition in
            if repetition > 1 { return exchange.serve(Resource(old)) }
            exchange.respond(416, [range("bytes */\(held)")])
        }),
    Misbehaviour(
        "a file that has become smaller", 0, short, ranges: [nil, resumed, nil],
        afterCut { exchange, repetition in
            if repetition > 1 { return exchange.serve(Resource(short, etag: "\"v2\"")) }
            exchange.respond(416, [range("bytes */20000")])
        }),
    Misbehaviour(
        "to every request", 1, nil, ranges: [nil, resumed, nil], kept: Array(old[..<held]),
        afterCut { exchange, _ in exchange.respond(416) }),
    Misbehaviour(
        "all bytes were there already: a 304 proves it", 0, old,
        ranges: [nil, "bytes=\(size)-", nil],
        { exchange in
            if exchange.repetition == 0 { return chunkedCut(&exchange, after: size) }
            exchange.serve(Resource(old))
        }),
    Misbehaviour(
        "all bytes were there already, but of another version", 0, new,
        ranges: [nil, "bytes=\(size)-", nil],
        { exchange in
            if exchange.repetition == 0 { return chunkedCut(&exchange, after: size) }
            if exchange.repetition == 1 { return exchange.respond(416, [range("bytes */\(size)")]) }
            exchange.serve(Resource(new, etag: "\"v2\""))
        }),
    Misbehaviour(
        "without a length when all bytes were there: it proves nothing", 0, old,
        ranges: [nil, "bytes=\(size)-", nil],
        { exchange in
            if exchange.repetition == 0 { return chunkedCut(&exchange, after: size) }
            exchange.repetition == 1 ? exchange.respond(416) : exchange.serve(Resource(old))
        }),
]

private let date = "Tue, 05 Mar 2024 10:00:00 GMT"
private let nextDay = "Wed, 06 Mar 2024 10:00:00 GMT"

private let versions: [Misbehaviour] = [
    Misbehaviour(
        "the same length, another tag, and If-Range honoured", 0, new, ranges: [nil, resumed],
        ifRanges: [nil, "\"v1\""],
        afterCut { exchange, _ in exchange.serve(Resource(new, etag: "\"v2\"")) }),
    Misbehaviour(
        "no mark at all, and a Range would get the other file's rest", 0, new, ranges: [nil, nil],
        afterCut(fields: []) { exchange, _ in exchange.serve(Resource(new, etag: nil)) }),
    Misbehaviour(
        "a date that is a day old is strong", 0, old, ranges: [nil, resumed], ifRanges: [nil, date],
        afterCut(fields: [("Last-Modified", date), ("Date", nextDay)]) { exchange, _ in
            exchange.serve(Resource(old, etag: nil, lastModified: date))
        }),
    Misbehaviour(
        "a date of the same second is weak", 0, new, ranges: [nil, nil],
        afterCut(fields: [("Last-Modified", date), ("Date", date)]) { exchange, _ in
            exchange.serve(Resource(new, etag: nil, lastModified: date))
        }),
    Misbehaviour(
        "a date without a Date is weak", 0, new, ranges: [nil, nil],
        { exchange in
            if exchange.repetition > 0 {
                return exchange.serve(Resource(new, etag: nil, lastModified: date))
            }
            exchange.send("HTTP/1.1 200 OK\r\nLast-Modified: \(date)\r\nContent-Length: \(size)\r\n\r\n")
            exchange.send(Array(old[..<held]))
            exchange.cut()
        }),
    Misbehaviour(
        "a malformed tag bars the date too", 0, new, ranges: [nil, nil],
        afterCut(fields: [("ETag", "v1"), ("Last-Modified", date), ("Date", nextDay)]) { exchange, _ in
            exchange.serve(Resource(new, etag: "v1", lastModified: date))
        }),
    Misbehaviour(
        "If-Range is not understood: Range goes alone and the 206 names the version", 0, old,
        ranges: [nil, resumed, resumed], ifRanges: [nil, "\"v1\"", nil],
        afterCut { exchange, _ in
            if exchange.request.field("if-range") == nil { return exchange.serve(Resource(old)) }
            exchange.sendHead(200, [v1], length: size)
            exchange.send(Array(old[..<10_000]))
            exchange.cut()
        }),
    Misbehaviour(
        "Range alone, and a 206 that names no version", 0, old,
        ranges: [nil, resumed, resumed, nil], ifRanges: [nil, "\"v1\"", nil, nil],
        afterCut { exchange, repetition in
            if repetition == 1 { return exchange.respond(200, [v1], old) }
            exchange.serve(Resource(old, etag: nil))
        }),
    Misbehaviour(
        "Range alone, and a 206 of another version", 0, new,
        ranges: [nil, resumed, resumed, nil], ifRanges: [nil, "\"v1\"", nil, nil],
        afterCut { exchange, repetition in
            if repetition == 1 { return exchange.respond(200, [v1], old) }
            exchange.serve(Resource(new, etag: "\"v2\""))
        }),
    Misbehaviour(
        "coded at first, and a rest that is not", 0, new,
        ranges: [nil, resumed, nil], options: ["--accept-coded"],
        afterCut(fields: [v1, ("Content-Encoding", "gzip")]) { exchange, repetition in
            exchange.serve(repetition == 1 ? Resource(old) : Resource(new))
        }),
]

@Suite("Resumption", .scratch)
struct ResumptionTests {
    @Test("what a 206 or a 200 to Range may be", arguments: ranges)
    func answers(_ case: Misbehaviour) throws { try `case`.verify(retries: 0) }

    @Test("a 416", arguments: refusedRanges)
    func refused(_ case: Misbehaviour) throws { try `case`.verify(retries: 0) }

    @Test("the bytes held are of one version:", arguments: versions)
    func version(_ case: Misbehaviour) throws { try `case`.verify(retries: 0) }

    @Test("nobody listens any more: what is held stays")
    func refusedConnection() throws {
        let origin = try TestOrigin { exchange in
            exchange.repetition == 0
                ? exchange.serve(Resource(old), cutAfter: held) : exchange.respond(503)
        }
        let url = "\(origin.url)/file.bin"
        #expect(try Program.sync([url], ["--retries", "0"]).code == 75)
        origin.stop()
        let outcome = try Program.sync([url], ["--retries", "0"])
        #expect(outcome.code == 75, "\(outcome)")
        let partial = try #require(Program.partials.first)
        let isSame =
            try contents(of: "\(Program.cache)/.syncagent/partial/\(partial)") == Array(old[..<held])
        #expect(isSame)
    }

    /// What the origin does about a partial that has all bytes already, and how many bytes it may send.
    struct Proof: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let etag: String
        let serves: Resource
        var settings = ""
        let statuses: [Int]
        let sent: Int
    }

    static let proofs = [
        Proof(
            testDescription: "a 304 proves it", etag: "\"v1\"", serves: Resource(short), statuses: [304],
            sent: 0),
        Proof(
            testDescription: "another version replaces it", etag: "\"v1\"",
            serves: Resource(new, etag: "\"v2\""), statuses: [200], sent: size),
        Proof(
            testDescription: "a weak tag proves nothing", etag: "W/\"v1\"",
            serves: Resource(short, etag: "W/\"v1\""), statuses: [200], sent: short.count),
        Proof(
            testDescription: "a checksum proves it without a question", etag: "\"v1\"",
            serves: Resource(short), settings: "right", statuses: [], sent: 0),
        Proof(
            testDescription: "a wrong checksum fetches it afresh", etag: "\"v1\"", serves: Resource(new),
            settings: "other", statuses: [200], sent: size),
    ]

    @Test("all bytes are there but were never published:", arguments: proofs)
    func wholePartial(_ proof: Proof) throws {
        let origin = try TestOrigin { $0.serve(proof.serves) }
        let url = "\(origin.url)/file.bin"
        try write(proof.settings == "other" ? new : short, to: scratch("whole"))
        let digest = Child.run("/usr/bin/md5sum", [scratch("whole")]).output.prefix(32)
        do {
            let key = Key(md5Of: url)
            let cache = try CacheFolder.open(path: Program.cache, create: true)
            let name = key.hex + ".0123abcd"
            try write(short, to: "\(Program.cache)/.syncagent/partial/\(name)")
            var writer = try LedgerWriter.open(in: cache.state)
            try writer.transaction(durable: false) { (ledger: inout LedgerTransaction) throws(LedgerError) in
                try ledger.save(EntryRow(key: key, url: url, fileExtension: ".bin"))
                try ledger.save(
                    PartialRow(
                        name: name, key: key, source: url,
                        validators: Validators(etag: EntityTag(proof.etag)), contentCoding: "",
                        mediaType: nil, total: UInt64(short.count), written: UInt64(short.count),
                        durable: UInt64(short.count), bootIdentifier: nil, mountIdentifier: nil, answers: 1))
            }
            try writer.close()
        }
        let line = url + (proof.settings.isEmpty ? "" : "\tchecksum=md5=\(digest)")
        let outcome = try Program.sync([line], ["--retries", "0"])
        #expect(outcome.code == 0, "\(outcome)")
        let log = origin.log
        #expect(log.map(\.status) == proof.statuses)
        #expect(log.allSatisfy { $0.request.field("range") == nil })
        #expect(log.map(\.sent).reduce(0, +) == proof.sent)
        let expected = proof.statuses == [200] ? proof.serves.bytes(from: 0, count: size) : short
        let isSame = try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))") == expected
        #expect(isSame)
        #expect(Program.partials.isEmpty)
    }

    @Test("after a smaller file took the place of a larger one the next run asks conditionally")
    func conditionalAfterRestart() throws {
        let origin = try TestOrigin { exchange in
            if exchange.repetition == 0 { return exchange.serve(Resource(old), cutAfter: held) }
            if exchange.repetition == 1 { return exchange.respond(416, [range("bytes */20000")]) }
            exchange.serve(Resource(short, etag: "\"v2\""))
        }
        let url = "\(origin.url)/file.bin"
        #expect(try Program.sync([url]).code == 0)
        #expect(try Program.sync([url]).code == 0)
        #expect(origin.log.map(\.status) == [200, 416, 200, 304])
        #expect(origin.log.last?.request.field("if-none-match") == "\"v2\"")
        #expect(origin.log.last?.request.field("range") == nil)
    }

    @Test("a copy is asked about by its tag, so that an older file in its place is seen")
    func rolledBack() throws {
        let origin = try TestOrigin { exchange in
            exchange.serve(
                exchange.repetition == 0
                    ? Resource(old, lastModified: nextDay)
                    : Resource(new, etag: "\"v0\"", lastModified: date))
        }
        let url = "\(origin.url)/file.bin"
        #expect(try Program.sync([url]).code == 0)
        #expect(try Program.sync([url]).code == 0)
        #expect(origin.log.last?.request.field("if-none-match") == "\"v1\"")
        let name = try #require(Program.finished.first)
        let isNew = try contents(of: "\(Program.cache)/\(name)") == new
        #expect(isNew)
    }

    @Test("a link that leads to another file later drops what was held of the first")
    func anotherTarget() throws {
        let origin = try TestOrigin { exchange in
            switch exchange.request.path {
            case "/latest.bin":
                exchange.respond(302, [("Location", exchange.repetition == 0 ? "/one.bin" : "/two.bin")])
            case "/one.bin": exchange.serve(Resource(old), cutAfter: held)
            default:
                if exchange.request.field("range") != nil {
                    return exchange.respond(416, [range("bytes */20000")])
                }
                exchange.serve(Resource(short, etag: "\"v2\""))
            }
        }
        let url = "\(origin.url)/latest.bin"
        // The first run is cut and follows the link to the second file at once.
        let outcome = try Program.sync([url], ["--retries", "1"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(origin.log.count { $0.target == "/two.bin" } <= 2)
        #expect(try contents(of: "\(Program.cache)/\(try #require(Program.finished.first))") == short)
        #expect(Program.partials.isEmpty)
    }

    @Test("the total stays the file's while its rest is fetched, and says why it started over")
    func told() throws {
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            if exchange.repetition == 0 { return exchange.serve(Resource(old), cutAfter: held) }
            if exchange.request.path == "/changed.bin" {
                return exchange.serve(Resource(new, etag: "\"v2\""))
            }
            exchange.sendHead(
                206, [v1, range("bytes \(held)-\(size - 1)/\(size)")], length: size - held)
            exchange.send(Array(old[held..<50_000]))
            gate.wait(until: .now.advanced(bySeconds: 60))
            exchange.send(Array(old[50_000...]))
        }
        let urls = ["\(origin.url)/resumed.bin", "\(origin.url)/changed.bin"]
        let child = try Program.startSync(urls)
        let seen = eventually { () -> Bool? in
            let json = status("--json")
            return json.contains("\"done\":50000") && json.contains("\"total\":\(size)") ? true : nil
        }
        #expect(seen == true, "\(status("--json"))")
        gate.open()
        #expect(child.wait().code == 0)
        let told = status("--json", urls[1])
        #expect(told.contains("\"restarts\":1"), "\(told)")
        #expect(told.contains("\(held) bytes given up"), "\(told)")
    }

    private func status(_ arguments: String...) -> String {
        do {
            return try Program.run(["status", "--cache", Program.cache] + arguments).output
                .filter { !$0.isWhitespace || $0 == " " }.replacing(" : ", with: ":")
        } catch {
            return "\(error)"
        }
    }
}
