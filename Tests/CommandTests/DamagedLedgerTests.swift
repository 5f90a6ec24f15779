internal import CLinux
internal import Posix
internal import Storage
internal import TestOrigin
internal import Testing

/// The ledger is lost or spoilt while the files in the cache are fine.
@Suite("A damaged ledger", .scratch)
struct DamagedLedgerTests {
    private static var folder: String { Program.cache + "/.syncagent" }
    private static var ledger: String { folder + "/state.db" }

    /// What can happen to a ledger, and whether the next run must be told of it.
    enum Damage: String, CaseIterable, CustomTestStringConvertible {
        case missing, missingWithLog, empty, zeros, half, halfAfterCrash, noDatabase, foreign, foreignLog
        case head, pages, pagesAfterCrash

        var testDescription: String { rawValue }

        /// A ledger that is not there is no news.
        var isTold: Bool {
            switch self {
            case .missing, .missingWithLog: false
            // The first page of another ledger's log may come with all the others, and then nothing is wrong.
            case .foreignLog: false
            case .empty, .zeros, .half, .halfAfterCrash, .noDatabase, .foreign, .head, .pages,
                .pagesAfterCrash:
                true
            }
        }

        func inflict() throws {
            let whole = try #require(try contents(of: DamagedLedgerTests.ledger))
            func replace(_ bytes: [UInt8], crashed: Bool = false) throws {
                try write(bytes, to: DamagedLedgerTests.ledger)
                if crashed {
                    try write([UInt8](repeating: 0, count: 32), to: DamagedLedgerTests.ledger + "-wal")
                }
            }
            /// All pages behind the first, which tells what the file is.
            func spoiled() -> [UInt8] {
                whole.prefix(4096) + pattern(seed: 77, count: whole.count - 4096)
            }
            switch self {
            case .missing:
                for suffix in ["", "-wal", "-shm"] { unlink(DamagedLedgerTests.ledger + suffix) }
            case .missingWithLog:
                unlink(DamagedLedgerTests.ledger)
                try write(pattern(seed: 78, count: 9000), to: DamagedLedgerTests.ledger + "-wal")
            case .empty: try replace([])
            case .zeros: try replace([UInt8](repeating: 0, count: whole.count))
            case .half: try replace(Array(whole.prefix(whole.count / 2)))
            case .halfAfterCrash: try replace(Array(whole.prefix(whole.count / 2)), crashed: true)
            case .noDatabase: try replace(Array("this is a letter, not a ledger\n".utf8))
            case .foreign: try replace(try DamagedLedgerTests.otherDatabase().database)
            case .foreignLog:
                try write(try DamagedLedgerTests.otherDatabase().log, to: DamagedLedgerTests.ledger + "-wal")
            case .head: try replace(pattern(seed: 79, count: 100) + whole.dropFirst(100))
            case .pages: try replace(spoiled())
            case .pagesAfterCrash: try replace(spoiled(), crashed: true)
            }
        }
    }

    /// Some program's database and its log, as a kill leaves them.
    private static func otherDatabase() throws -> (database: [UInt8], log: [UInt8]) {
        let path = scratch("other.db")
        try write([], to: path)
        let database = try Database(opening: path, .readWrite, patience: 1000)
        try database.execute("PRAGMA journal_mode = WAL; CREATE TABLE song (title TEXT)", "testing")
        try database.execute("PRAGMA wal_checkpoint; INSERT INTO song VALUES ('one')", "testing")
        let (main, log) = (try contents(of: path), try contents(of: path + "-wal"))
        return (try #require(main), try #require(log))
    }

    @Test(
        "is set aside, and the files are adopted by their checksums or fetched afresh",
        arguments: Damage.allCases
    )
    func rebuilt(_ damage: Damage) throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let inodes = try mirror.names.map(inode)
        try damage.inflict()
        let known = mirror.origin.log.count

        // The first two have a checksum in the manifest now.
        let sums = mirror.names.prefix(2).map { name in
            let sum = Child.run("/usr/bin/sha256sum", ["\(Program.cache)/\(name)"])
            return "checksum=sha-256=" + sum.output.prefix(64)
        }
        let lines = zip(mirror.urls, sums + ["", "", ""]).map { $1.isEmpty ? $0 : $0 + "\t" + $1 }
        let outcome = try Program.sync(lines)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.errors.isEmpty != damage.isTold || damage == .foreignLog, "\(outcome)")
        try mirror.expectWhole()
        if damage.isTold {
            #expect(outcome.errors.contains("the ledger was damaged"), "\(outcome)")
            #expect(names(in: Self.folder).contains { $0.hasPrefix("state.db.damaged-") })
            let requests = mirror.origin.log.dropFirst(known)
            #expect(requests.count == 3, "the adopted files are not asked for")
            #expect(requests.allSatisfy { $0.request.field("if-none-match") == nil })
            let after = try mirror.names.map(inode)
            #expect(after.prefix(2) == inodes.prefix(2), "adopted as they are")
            #expect(zip(after, inodes).dropFirst(2).allSatisfy { $0 != $1 }, "fetched and swapped")
        }
        let quiet = try Program.sync(lines)
        #expect(quiet.code == 0 && quiet.errors.isEmpty, "\(quiet)")
    }

    @Test("a file that the lost ledger knew stays while its origin fails", arguments: [true, false])
    func kept(_ isOffline: Bool) throws {
        let origin = try TestOrigin { exchange in
            if exchange.repetition == 0 { return exchange.serve(Resource(seed: 8, size: 5000)) }
            isOffline ? exchange.cut() : exchange.respond(404)
        }
        let url = "\(origin.url)/a.bin"
        #expect(try Program.sync([url]).code == 0)
        try Damage.zeros.inflict()
        let outcome = try Program.sync([url], ["--retries", "0"])
        #expect(outcome.code == (isOffline ? 75 : 1), "\(outcome)")
        let name = try #require(try cacheNames(of: [url]).first)
        #expect(try contents(of: "\(Program.cache)/\(name)") == pattern(seed: 8, count: 5000))
    }

    @Test(
        "damage that shows only in use ends the run with 74, and the next one makes a new ledger",
        // What the reader looks rows up in, and what only the writer touches.
        arguments: ["sqlite_autoindex_entry_1", "entry_state"])
    func foundInUse(_ table: String) throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(Array(mirror.urls.dropLast())).code == 0)
        let page: Int64
        do {
            let database = try Database(opening: Self.ledger, .readOnly, patience: 1000)
            page = try database.integer(
                "SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'", "testing")
        }
        var bytes = try #require(try contents(of: Self.ledger))
        let start = (Int(page) - 1) * 4096
        bytes.replaceSubrange(start..<start + 4096, with: pattern(seed: 81, count: 4096))
        try write(bytes, to: Self.ledger)

        let outcome = try Program.sync(mirror.urls)
        #expect(outcome.code == 74, "\(outcome)")
        #expect(outcome.errors.contains(Self.ledger), "\(outcome)")
        #expect(outcome.errors.contains("sets it aside"), "the next step is named: \(outcome)")
        try mirror.expectRight()
        let next = try Program.sync(mirror.urls)
        #expect(next.code == 0, "\(next)")
        #expect(next.errors.contains("the ledger was damaged"), "\(next)")
        try mirror.expectWhole()
        let last = try Program.sync(mirror.urls)
        #expect(last.code == 0 && last.errors.isEmpty, "\(last)")
    }

    /// What stands in the ledger's way, and how a run that can change nothing must end.
    enum Refusal: String, CaseIterable, CustomTestStringConvertible {
        case newer, folder, link, fifo
        var testDescription: String { rawValue }
    }

    @Test("what cannot be used is refused, and nothing is changed", arguments: Refusal.allCases)
    func refused(_ refusal: Refusal) throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        switch refusal {
        case .newer:
            let database = try Database(opening: Self.ledger, .readWrite, patience: 1000)
            try database.execute("PRAGMA user_version = 99", "testing")
            database.keepLogFiles()
        case .folder:
            unlink(Self.ledger)
            #expect(mkdir(Self.ledger, 0o700) == 0)
        case .link:
            try write("precious", to: scratch("precious"))
            unlink(Self.ledger)
            #expect(symlink(scratch("precious"), Self.ledger) == 0)
        case .fifo:
            unlink(Self.ledger)
            #expect(mkfifo(Self.ledger, 0o600) == 0)
        }
        try expectRefusal(73, mirror)
        if refusal == .link { #expect(try contents(of: scratch("precious")) == Array("precious".utf8)) }
    }

    @Test("one that another program writes is waited for, then left for the next run")
    func locked() throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        do {
            let database = try Database(opening: Self.ledger, .readWrite, patience: 1000)
            try database.execute("BEGIN IMMEDIATE", "testing")
            try expectRefusal(75, mirror)
        }
        #expect(try Program.sync(mirror.urls).code == 0)
    }

    private func expectRefusal(_ code: Int32, _ mirror: SmallMirror) throws {
        let before = try listing()
        let known = mirror.origin.log.count
        let outcome = try Program.sync(mirror.urls)
        #expect(outcome.code == code, "\(outcome)")
        #expect(outcome.errors.hasPrefix("syncagent: \(Self.ledger): "), "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome)")
        #expect(mirror.origin.log.count == known, "nobody is asked in vain")
        #expect(try listing() == before)
        try mirror.expectRight()
    }

    @Test("a write transaction of another program in mid-run is waited for")
    func lockedInUse() throws {
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            gate.wait(until: .now.advanced(bySeconds: 60))
            exchange.respond(200, [], [1])
        }
        let child = try Program.startSync(["\(origin.url)/a"])
        #expect(origin.wait { !$0.isEmpty })
        do {
            let database = try Database(opening: Self.ledger, .readWrite, patience: 10_000)
            try database.execute("BEGIN IMMEDIATE", "testing")
            gate.open()
            // It cannot be published as long as nothing can be recorded.
            let isEarly = eventually(seconds: 0.5) { () -> Bool? in Program.finished.isEmpty ? nil : true }
            #expect(isEarly == nil)
        }
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(Program.finished.count == 1)
    }

    /// How disk and rows can differ.
    enum Contradiction: String, CaseIterable, CustomTestStringConvertible {
        case fileGone, fileShorter, fileLonger, fileOther, fileTouched, linkThere, folderThere
        var testDescription: String { rawValue }
    }

    @Test("rows that the disk contradicts are not believed", arguments: Contradiction.allCases)
    func contradicted(_ contradiction: Contradiction) throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let path = "\(Program.cache)/\(mirror.names[3])"
        let whole = SmallMirror.body(3)
        let known = mirror.origin.log.count
        var isBelieved = false
        switch contradiction {
        case .fileGone: unlink(path)
        case .fileShorter: try replace(path, Array(whole.dropLast()))
        case .fileLonger: try replace(path, whole + [0])
        case .fileOther: try replace(path, pattern(seed: 80, count: whole.count))
        case .fileTouched:
            try replace(path, whole)
            isBelieved = true
        case .linkThere:
            unlink(path)
            try write("precious", to: scratch("precious"))
            #expect(symlink(scratch("precious"), path) == 0)
        case .folderThere:
            unlink(path)
            #expect(mkdir(path, 0o755) == 0)
        }
        let outcome = try Program.sync(mirror.urls)
        let asked = try #require(
            mirror.origin.log.dropFirst(known).first { $0.target.hasPrefix("/3.") })
        #expect((asked.request.field("if-none-match") != nil) == isBelieved)
        if contradiction == .folderThere {
            #expect(outcome.code == 1, "\(outcome)")
            #expect(outcome.errors.contains(path), "\(outcome)")
            let removal = rmdir(path)
            #expect(removal == 0)
            #expect(try Program.sync(mirror.urls, ["--retry-failed"]).code == 0)
        } else {
            #expect(outcome.code == 0, "\(outcome)")
        }
        if contradiction == .linkThere {
            #expect(try contents(of: scratch("precious")) == Array("precious".utf8))
        }
        try mirror.expectWhole()
    }

    /// How an unfinished file and its row can differ after a kill.
    enum PartialContradiction: String, CaseIterable, CustomTestStringConvertible {
        case gone, shorter, longer, empty, link, fifo, folder, otherName, strangers
        var testDescription: String { rawValue }
        /// Whether the row's bytes are there, so that the transfer goes on after them.
        var isResumed: Bool { self == .longer || self == .strangers }
    }

    @Test(
        "unfinished files that their rows contradict are not built upon",
        arguments: PartialContradiction.allCases)
    func contradictedPartial(_ contradiction: PartialContradiction) throws {
        let (total, sent) = (300_000, 100_000)
        let origin = try TestOrigin { exchange in
            if exchange.repetition > 0 { return exchange.serve(Resource(seed: 9, size: total)) }
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: total)
            exchange.send(pattern(seed: 9, count: sent))
            exchange.stall()
        }
        let url = "\(origin.url)/a.bin"
        let child = try Program.startSync([url])
        let isRecorded = try eventually { () -> Bool? in
            guard var reader = try LedgerReader.open(cache: Program.cache) else { return nil }
            return try reader.allPartials().contains { $0.written == sent } ? true : nil
        }
        #expect(isRecorded == true)
        child.kill(SIGKILL)
        _ = child.wait()
        let name = try #require(Program.partials.first)
        let path = "\(Self.folder)/partial/\(name)"
        let bytes = pattern(seed: 9, count: sent)
        switch contradiction {
        case .gone: unlink(path)
        case .shorter: try write(Array(bytes.dropLast(5000)), to: path)
        // What a kill between the write and its record leaves is not known to be right.
        case .longer: try write(bytes + [1, 2, 3], to: path)
        case .empty: try write([], to: path)
        case .link:
            unlink(path)
            try write(pattern(seed: 10, count: total), to: scratch("precious"))
            #expect(symlink(scratch("precious"), path) == 0)
        case .fifo:
            unlink(path)
            #expect(mkfifo(path, 0o600) == 0)
        case .folder:
            unlink(path)
            #expect(mkdir(path, 0o700) == 0)
        case .otherName: #expect(rename(path, path.dropLast(8) + "00000000") == 0)
        case .strangers:
            try write("x", to: "\(Self.folder)/partial/notes.txt")
            try write("x", to: "\(Self.folder)/partial/\(name.dropLast(8))ffffffff")
        }
        let outcome = try Program.sync([url])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(origin.log.last?.request.field("range") == (contradiction.isResumed ? "bytes=\(sent)-" : nil))
        let file = try #require(Program.finished.first)
        #expect(try contents(of: "\(Program.cache)/\(file)") == pattern(seed: 9, count: total))
        #expect(Program.partials == (contradiction == .folder ? [name] : []), "a folder is nobody's partial")
        if contradiction == .link {
            #expect(try contents(of: scratch("precious")) == pattern(seed: 10, count: total))
        }
    }

    @Test("status, path and plan change nothing of a ledger, whole or crashed", arguments: [false, true])
    func lookedAt(_ isCrashed: Bool) throws {
        let mirror = try SmallMirror()
        if isCrashed {
            let origin = try TestOrigin { exchange in
                if exchange.request.path == "/one" { return exchange.respond(200, [], [1]) }
                exchange.sendHead(200, [("ETag", "\"v1\"")], length: 5000)
                exchange.send([UInt8](repeating: 1, count: 3000))
                exchange.stall()
            }
            let child = try Program.startSync(["\(origin.url)/one", "\(origin.url)/two"])
            let isRecorded = eventually { () -> Bool? in
                Program.finished.isEmpty || Program.partials.isEmpty ? nil : true
            }
            #expect(isRecorded == true)
            child.kill(SIGKILL)
            _ = child.wait()
            let log = try #require(size(of: Self.ledger + "-wal"))
            #expect(log > 0)
        } else {
            #expect(try Program.sync(mirror.urls).code == 0)
        }
        let before = try listing()
        for arguments in [
            ["status"], ["status", "--json"], ["path", mirror.urls[0]],
            ["plan", try Program.manifest(mirror.urls)],
        ] {
            let outcome = try Program.run(arguments + ["--cache", Program.cache])
            #expect(outcome.code == 0 || arguments[0] == "path" && isCrashed, "\(arguments): \(outcome)")
            #expect(try listing() == before, "\(arguments)")
        }
        // A log that is missing is not made either.
        for suffix in ["-wal", "-shm"] { unlink(Self.ledger + suffix) }
        let without = try listing()
        #expect(try Program.run(["status", "--cache", Program.cache]).code == 0)
        #expect(try listing() == without)
        #expect(!names(in: Self.folder).contains("state.db-shm"))
    }

    /// Every name in the cache with its content; the shared memory file may come and change.
    private func listing() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for folder in ["", "/.syncagent", "/.syncagent/partial"] {
            for name in names(in: Program.cache + folder) where name != "state.db-shm" {
                let path = "\(Program.cache)\(folder)/\(name)"
                var raw = stat()
                #expect(lstat(path, &raw) == 0)
                let isFile = raw.st_mode & UInt32(S_IFMT) == UInt32(S_IFREG)
                found[path] = isFile ? try contents(of: path) : []
            }
        }
        return found
    }

    private func inode(_ name: String) throws -> UInt64 {
        var raw = stat()
        try #require(lstat("\(Program.cache)/\(name)", &raw) == 0)
        return UInt64(raw.st_ino)
    }

    /// Puts a new file in the place of one.
    private func replace(_ path: String, _ bytes: [UInt8]) throws {
        unlink(path)
        try write(bytes, to: path)
    }
}
