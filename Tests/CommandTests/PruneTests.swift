internal import CLinux
internal import Posix
internal import Storage
internal import TestOrigin
internal import Testing

@Suite("Pruning", .scratch)
struct PruneTests {
    private let origin: TestOrigin
    private let urls: [String]

    init() throws {
        origin = try TestOrigin { exchange in
            switch exchange.request.path {
            case "/missing.bin": exchange.respond(404)
            case "/a.iso", "/b.iso":
                if exchange.repetition > 0 { return exchange.respond(503) }
                exchange.serve(Resource(seed: 3, size: 50_000), cutAfter: 20_000)
            default: exchange.serve(Resource(pattern(seed: 1, count: 1000)))
            }
        }
        let base = origin.url
        urls = (0..<20).map { "\(base)/\($0).bin" }
    }

    private func manifest(_ name: String, _ lines: some Sequence<String>) throws -> String {
        let path = scratch(name)
        try write(lines.map { $0 + "\n" }.joined(), to: path)
        return path
    }

    private func sync(_ manifests: [String], _ options: [String] = []) throws -> Child.Outcome {
        try Program.run(["sync"] + manifests + ["--cache", Program.cache] + options)
    }

    private func prune(_ words: [String] = ["--yes"]) throws -> Child.Outcome {
        try Program.run(["prune", "--cache", Program.cache] + words)
    }

    private func expectFiles(_ urls: some Collection<String>, _ comment: Comment? = nil) throws {
        #expect(Program.finished == (try cacheNames(of: Array(urls))).sorted(), comment)
        try Program.expectHonestLedger(comment)
    }

    @Test("what no manifest asks for any more goes, and what another asks for stays")
    func removes() throws {
        let a = try manifest("a.txt", urls[..<15])
        let b = try manifest("b.txt", urls[10...])
        #expect(try sync([a]).code == 0)
        #expect(try sync([b]).code == 0)
        #expect(try prune().code == 0)
        try expectFiles(urls)
        #expect(try sync([try manifest("a.txt", urls[1..<13])]).code == 0)
        let outcome = try prune()
        #expect(outcome.code == 0 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome)")
        try expectFiles(urls[1...])
        #expect(try CareStatus.ask().entries == 19)
        let notes = "\(Program.cache)/notes.txt"
        try write("mine", to: notes)
        #expect(try prune().code == 0)
        #expect(size(of: notes) == 4)
    }

    @Test("both manifests of one run are known, each with the keys that it shares")
    func shared() throws {
        let a = try manifest("a.txt", urls)
        let b = try manifest("b.txt", urls[5..<10])
        #expect(try sync([a, b]).code == 0)
        let outcome = try prune(["--yes", "--forget", a, "--max-delete", "100%"])
        #expect(outcome.code == 0, "\(outcome)")
        try expectFiles(urls[5..<10])
        #expect(try prune(["--yes", "--forget", a]).code == 1, "it is known no more")
    }

    @Test("off a terminal nothing goes without being told to")
    func dryRun() throws {
        #expect(try sync([try manifest("a.txt", urls)]).code == 0)
        #expect(try sync([try manifest("a.txt", urls.dropLast())]).code == 0)
        for words in [[], ["--dry-run"]] {
            let outcome = try prune(words)
            #expect(outcome.code == 0, "\(outcome)")
            #expect(outcome.output.contains(try cacheNames(of: [urls[19]])[0]), "\(outcome)")
            #expect(outcome.output.split(separator: "\n").count == 1, "\(outcome)")
            try expectFiles(urls)
        }
        #expect(try prune(["--yes", "--dry-run"]).code == 64)
    }

    @Test(
        "more than --max-delete is refused",
        arguments: [
            ([], 1), (["--max-delete", "3"], 1), (["--max-delete", "4"], 0), (["--max-delete", "19%"], 0),
            (["--max-delete", "15%"], 1), (["--max-delete", "0"], 1),
        ])
    func limit(_ words: [String], _ code: Int) throws {
        #expect(try sync([try manifest("a.txt", urls)]).code == 0)
        #expect(try sync([try manifest("a.txt", urls[4...])]).code == 0)
        let outcome = try prune(["--yes"] + words)
        #expect(outcome.code == Int32(code), "\(outcome)")
        #expect(outcome.errors.contains("--max-delete") == (code != 0), "\(outcome)")
        try expectFiles(code == 0 ? urls[4...] : urls[...])
    }

    @Test("a limit that is none is a mistake", arguments: ["x", "-1", "101%", "", "%", "1.5"])
    func badLimit(_ text: String) throws {
        #expect(try prune(["--yes", "--max-delete", text]).code == 64)
    }

    /// What makes a manifest no ground to remove anything on.
    enum Doubt: String, CaseIterable { case empty, badLine, cutOff, unknown, missing }

    @Test("nothing goes when it is not known what is asked for", arguments: Doubt.allCases)
    func doubt(_ doubt: Doubt) throws {
        let path = try manifest("a.txt", urls)
        #expect(try sync([path]).code == 0)
        var named: [String] = []
        switch doubt {
        case .empty: #expect(try sync([try manifest("a.txt", ["# nothing"])]).code == 0)
        case .badLine: #expect(try sync([try manifest("a.txt", urls[1...] + ["no url at all"])]).code == 1)
        case .cutOff:
            // A manifest that comes through a FIFO whose writer does not end; the run is killed meanwhile.
            let fifo = scratch("pipe")
            try #require(mkfifo(fifo, 0o600) == 0)
            let child = try Program.start(["sync", fifo, "--cache", Program.cache])
            let number = clinux_openat(AT_FDCWD, fifo, O_RDWR | O_CLOEXEC, 0)
            try #require(number >= 0)
            let writer = Descriptor(owning: number, subject: fifo)
            let isKnown = try eventually { () -> Bool? in
                guard var reader = try LedgerReader.open(cache: Program.cache) else { return nil }
                return try reader.manifests().count == 2 ? true : nil
            }
            #expect(isKnown == true)
            child.kill(SIGKILL)
            _ = child.wait()
            _ = consume writer
        case .unknown:
            #expect(Child.run("/bin/sh", ["-c", "rm \(Program.cache)/.syncagent/state.db*"]).code == 0)
        case .missing: named = [scratch("nowhere.txt")]
        }
        let outcome = try prune(["--yes", "--max-delete", "100%"] + named)
        #expect(outcome.code == (doubt == .missing ? 66 : 1), "\(outcome)")
        #expect(Program.finished.count == 20)
        if doubt == .badLine {
            #expect(try prune(["--yes", path]).code == 1, "named, it is as bad")
            #expect(
                try prune(["--yes", try manifest("a.txt", urls[1...])]).code == 0, "named, it is read now")
            try expectFiles(urls[1...])
        }
        if doubt == .empty {
            #expect(try prune(["--yes", path]).code == 1)
            #expect(try prune(["--yes", "--forget", path, "--max-delete", "100%"]).code == 0)
            try expectFiles([])
        }
    }

    @Test("an unchanged manifest is not written again, whatever the order of its lines")
    func unchanged() throws {
        let path = try manifest("a.txt", urls)
        func list() throws -> (Int64?, Int?) {
            guard var reader = try LedgerReader.open(cache: Program.cache) else { return (nil, nil) }
            let row = try reader.manifests().first
            return (row?.list, row?.sum.count)
        }
        #expect(try sync([path]).code == 0)
        let first = try list()
        #expect(first.1 == 20)
        #expect(try sync([try manifest("a.txt", urls.reversed())]).code == 0)
        #expect(try list().0 == first.0)
        #expect(try sync([try manifest("a.txt", urls.dropLast())]).code == 0)
        #expect(try list().0 != first.0)
    }

    @Test("standard input is one manifest, of which the last stands")
    func standardInput() throws {
        func feed(_ lines: some Sequence<String>) throws -> Child.Outcome {
            try Program.run(
                ["sync", "-", "--cache", Program.cache], input: try manifest("input.txt", lines))
        }
        #expect(try feed(urls).code == 0)
        #expect(try feed(urls[1...]).code == 0)
        #expect(try prune().code == 0)
        try expectFiles(urls[1...])
    }

    @Test("with a grace a file goes only some time after a prune first found it unasked")
    func grace() throws {
        #expect(try sync([try manifest("a.txt", urls)]).code == 0)
        #expect(try sync([try manifest("a.txt", urls[1...])]).code == 0)
        #expect(try prune(["--yes", "--grace", "1"]).code == 0)
        try expectFiles(urls)
        // As if it had been found two days ago.
        let cache = try CacheFolder.open(path: Program.cache, create: false)
        let key = Key(md5Of: urls[0])
        func backdate() throws {
            var writer = try LedgerWriter.open(in: cache.state)
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.noteStaying(key)
                try ledger.noteLeaving(key, since: wallSeconds() - 2 * 86_400)
            }
            try writer.close()
        }
        try backdate()
        #expect(try sync([try manifest("a.txt", urls)]).code == 0)
        #expect(try prune(["--yes", "--grace", "1"]).code == 0)
        #expect(try sync([try manifest("a.txt", urls[1...])]).code == 0)
        #expect(try prune(["--yes", "--grace", "1"]).code == 0)
        try expectFiles(urls, "who was asked for again begins anew")
        try backdate()
        #expect(try prune(["--yes", "--grace", "1"]).code == 0)
        try expectFiles(urls[1...])
    }

    @Test("with --max-size only the longest unused go, and only what nobody asks for")
    func maxSize() throws {
        #expect(try sync([try manifest("a.txt", urls)]).code == 0)
        #expect(try sync([try manifest("a.txt", urls[3...])]).code == 0)
        let unused = try cacheNames(of: [urls[1]])[0]
        for name in Program.finished {
            let when = name == unused ? "@1000000000" : "@1900000000"
            #expect(Child.run("/usr/bin/touch", ["-a", "-d", when, "\(Program.cache)/\(name)"]).code == 0)
        }
        // What was received lately is not old; so say that all of it was received long ago.
        let cache = try CacheFolder.open(path: Program.cache, create: false)
        var writer = try LedgerWriter.open(in: cache.state)
        guard var reader = try LedgerReader.open(in: cache.state) else { return }
        var row = try #require(try reader.entry(for: Key(md5Of: urls[1])))
        row.copy?.received = 1_000_000_000
        let changed = row
        try writer.transaction(durable: false) { ledger throws(LedgerError) in try ledger.save(changed) }
        try writer.close()
        #expect(try prune(["--yes", "--max-size", "20000"]).code == 0)
        try expectFiles(urls)
        #expect(try prune(["--yes", "--max-size", "19000"]).code == 0)
        try expectFiles(urls[..<1] + urls[2...])
        #expect(try prune(["--yes", "--max-size", "1"]).code == 0)
        try expectFiles(urls[3...])
    }

    @Test("partials of what nobody asks for go, others stay")
    func partials() throws {
        let a = try manifest("a.txt", urls + ["\(origin.url)/a.iso"])
        let b = try manifest("b.txt", ["\(origin.url)/b.iso"])
        for path in [a, b] { #expect(try sync([path], ["--retries", "0"]).code == 75) }
        #expect(Program.partials.count == 2)
        #expect(try sync([try manifest("a.txt", urls)]).code == 0)
        #expect(try prune().code == 0)
        #expect(Program.partials.count == 1)
        let kept = try cacheNames(of: ["\(origin.url)/b.iso"])[0].prefix(32)
        #expect(Program.partials.first?.hasPrefix(kept) == true)
    }

    @Test("a file that a kill left without a row goes too, whatever else has a strange name stays")
    func orphans() throws {
        #expect(try sync([try manifest("a.txt", urls)]).code == 0)
        let orphan = "\(Program.cache)/0123456789abcdef0123456789abcdef.bin"
        let others = [
            "0123456789ABCDEF0123456789abcdef.bin", "a.bin", "0123456789abcdef0123456789abcdef.b-n",
        ]
        try write("x", to: orphan)
        for name in others { try write("x", to: "\(Program.cache)/\(name)") }
        try write("x", to: "\(Program.cache)/fedcba9876543210fedcba9876543210/inner")
        try #require(symlink("/etc/hostname", "\(Program.cache)/fedcba9876543210fedcba9876543211") == 0)
        #expect(try prune().code == 0)
        #expect(size(of: orphan) == nil)
        for name in others + ["fedcba9876543210fedcba9876543210/inner", "fedcba9876543210fedcba9876543211"] {
            #expect(size(of: "\(Program.cache)/\(name)") != nil, "\(name)")
        }
    }

    @Test("sync --prune removes after a good run, and only then")
    func afterSync() throws {
        #expect(try sync([try manifest("a.txt", urls)]).code == 0)
        let bad = try sync([try manifest("a.txt", urls[1...] + ["\(origin.url)/missing.bin"])], ["--prune"])
        #expect(bad.code == 1, "\(bad)")
        #expect(Program.finished.count == 20)
        let outcome = try sync([try manifest("a.txt", urls[2...])], ["--prune"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome)")
        #expect(!Program.finished.contains(try cacheNames(of: [urls[0]])[0]))
        try Program.expectHonestLedger()
        let much = try sync([try manifest("a.txt", urls[12...])], ["--prune"])
        #expect(much.code == 1, "\(much)")
        #expect(much.errors.contains("--max-delete"), "\(much)")
        #expect(try sync([scratch("a.txt")], ["--grace", "1"]).code == 64)
    }

    @Test(
        "killed at any step the ledger claims nothing that is not there, and the next prune ends the work",
        .timeLimit(.minutes(5)), .enabled(if: Tracer.isThere),
        arguments: ["unlinkat", "fdatasync", "fsync", "pwrite64"])
    func killed(_ call: String) throws {
        let (whole, part) = (try manifest("all.txt", urls), try manifest("part.txt", urls[8...]))
        for number in [1, 2, 3, 5, 8, 12] {
            let place: Comment = "\(call), call \(number)"
            let removal = Child.run("/bin/rm", ["-rf", Program.cache])
            try #require(removal.code == 0)
            #expect(try sync([whole]).code == 0, place)
            #expect(try sync([part]).code == 0, place)
            let words = [
                "prune", "--yes", "--forget", whole, "--max-delete", "100%", "--cache", Program.cache,
            ]
            let child = try Program.start(
                under: Tracer.words(call, inject: "signal=KILL:when=\(number)"), words)
            let code = child.wait().code
            #expect(code == 0 || code == 128 + SIGKILL, place)
            try Program.expectHonestLedger(place)
            let wanted = Set(try cacheNames(of: Array(urls[8...])))
            #expect(wanted.isSubset(of: Program.finished), place)
            // The first may have let the manifest go before it died.
            let again = try prune(["--yes", "--max-delete", "100%"])
            if Program.finished.count > 12 {
                #expect(
                    try prune(Array(words.dropFirst().dropLast(2))).code == 0, "\(place.rawValue): \(again)")
            }
            try expectFiles(urls[8...], place)
        }
    }
}
