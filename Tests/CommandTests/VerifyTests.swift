internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Verifying", .scratch)
struct VerifyTests {
    private func verify(_ words: [String] = [], seconds: Double = 60) throws -> Child.Outcome {
        try Program.run(["verify", "--cache", Program.cache] + words, seconds: seconds)
    }

    /// What can become of a file on a disk.
    enum Damage: String, CaseIterable {
        case otherByte, shorter, longer, missing, link, fifo

        func make(_ path: String) throws {
            switch self {
            case .otherByte:
                var bytes = try #require(try contents(of: path))
                bytes[bytes.count / 2] ^= 0x40
                try put(bytes, path)
            case .shorter: try put(Array(try #require(try contents(of: path)).dropLast()), path)
            case .longer: try put(try #require(try contents(of: path)) + [1], path)
            case .missing: try #require(unlink(path) == 0)
            case .link:
                try #require(unlink(path) == 0)
                try write("not ours", to: path + "-elsewhere")
                try #require(symlink(path + "-elsewhere", path) == 0)
            case .fifo:
                try #require(unlink(path) == 0)
                try #require(mkfifo(path, 0o600) == 0)
            }
        }

        private func put(_ bytes: [UInt8], _ path: String) throws {
            try #require(chmod(path, 0o644) == 0)
            try write(bytes, to: path)
        }
    }

    @Test("files that are what was put there are read, and nothing is said")
    func sound() throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let outcome = try verify()
        #expect(outcome.code == 0 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome)")
        try mirror.expectWhole()
        // A file that was only touched, or copied back, is sound and is not fetched again.
        let path = "\(Program.cache)/\(mirror.names[2])"
        #expect(Child.run("/bin/sh", ["-c", "cp \(path) \(path)-2 && mv \(path)-2 \(path)"]).code == 0)
        #expect(try verify().code == 0)
        let count = mirror.origin.log.count
        #expect(try Program.sync(mirror.urls, ["--max-age", "1d"]).code == 0)
        #expect(mirror.origin.log.count == count)
    }

    @Test("damage is named, leaves the cache, and the next run fetches the file", arguments: Damage.allCases)
    func damaged(_ damage: Damage) throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let path = "\(Program.cache)/\(mirror.names[3])"
        try damage.make(path)
        let outcome = try verify()
        #expect(outcome.code == 1, "\(outcome)")
        #expect(outcome.errors.contains(path) && outcome.errors.contains(mirror.urls[3]), "\(outcome)")
        #expect(size(of: path) == nil)
        try Program.expectHonestLedger()
        #expect(try CareStatus.ask([mirror.urls[3]]).urls?.map(\.state) == ["pending"])
        #expect(try verify().code == 0, "it is told once")
        let count = mirror.origin.log.count
        #expect(try Program.sync(mirror.urls, ["--max-age", "1d"]).code == 0)
        #expect(mirror.origin.log.count == count + 1)
        if damage == .link { #expect(unlink(path + "-elsewhere") == 0) }
        try mirror.expectWhole()
    }

    @Test("damage is kept aside when that is wanted")
    func kept() throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let name = mirror.names[3]
        try Damage.shorter.make("\(Program.cache)/\(name)")
        #expect(try verify(["--keep-damaged"]).code == 1)
        #expect(size(of: "\(Program.cache)/.syncagent/damaged/\(name)") == SmallMirror.sizes[3] - 1)
        #expect(size(of: "\(Program.cache)/\(name)") == nil)
    }

    @Test("a folder under a file's name is no reason to lose it")
    func folder() throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let path = "\(Program.cache)/\(mirror.names[3])"
        try #require(unlink(path) == 0)
        try write("mine", to: path + "/note.txt")
        #expect(try verify().code == 1)
        #expect(try contents(of: path + "/note.txt") == Array("mine".utf8))
    }

    @Test(
        "what is damaged is repaired from the manifests named, or from those that were mirrored",
        arguments: [true, false])
    func repair(_ isNamed: Bool) throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let count = mirror.origin.log.count
        try Damage.otherByte.make("\(Program.cache)/\(mirror.names[3])")
        try Damage.missing.make("\(Program.cache)/\(mirror.names[4])")
        let outcome = try verify(["--repair"] + (isNamed ? [try Program.manifest(mirror.urls)] : []))
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.errors.contains(mirror.urls[3]), "\(outcome)")
        try mirror.expectWhole()
        let asked = mirror.origin.log.dropFirst(count)
        #expect(asked.map(\.request.target).sorted() == ["/3.bin", "/4.bin"])
        #expect(asked.allSatisfy { $0.request.field("if-none-match") == nil && $0.status == 200 })
        #expect(try verify().code == 0)
    }

    @Test("what cannot be repaired is told")
    func noRepair() throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        try Damage.missing.make("\(Program.cache)/\(mirror.names[3])")
        #expect(unlink(scratch("manifest.txt")) == 0)
        let outcome = try verify(["--repair"])
        #expect(outcome.code == 1, "\(outcome)")
        #expect(outcome.errors.contains("nothing was repaired"), "\(outcome)")
        #expect(try verify([scratch("manifest.txt")]).code == 64)
    }

    @Test("short runs get round to all files, the longest unchecked first", .timeLimit(.minutes(2)))
    func inTurns() throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        for name in mirror.names { try Damage.missing.make("\(Program.cache)/\(name)") }
        // Each missing file takes no time at all; one that is read at this pace takes a second.
        #expect(try Program.sync(mirror.urls).code == 0)
        var found = 0
        try Damage.otherByte.make("\(Program.cache)/\(mirror.names[4])")
        for _ in 0..<6 where found == 0 {
            let outcome = try verify(["--limit-rate", "700k", "--max-time", "0.5"])
            #expect(outcome.code == 0 || outcome.code == 1, "\(outcome)")
            if outcome.errors.contains("have changed") { found += 1 }
            try Program.expectHonestLedger()
            let longer = try verify(["--limit-rate", "700k", "--max-time", "3"])
            if longer.errors.contains("have changed") { found += 1 }
        }
        #expect(found == 1)
    }

    @Test("the pace is kept, and the time", .timeLimit(.minutes(1)))
    func pace() throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let slow = Instant.now
        #expect(try verify(["--limit-rate", "512k"]).code == 0)
        #expect(Instant.now.seconds(since: slow) > 1, "774107 bytes at 524288 a second")
        // Nothing is due for an hour of its own clock; yet all is read each time it is asked for.
        let bounded = try verify(["--limit-rate", "1k", "--max-time", "1"], seconds: 30)
        #expect(bounded.code != nil, "it ended by itself")
    }

    @Test("a run and a verify never work on one cache together")
    func lock() throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let cache = try CacheFolderLock()
        let outcome = try verify()
        #expect(outcome.code == 75, "\(outcome)")
        cache.release()
        #expect(try verify().code == 0)
    }

    @Test("a cache that is not there has nothing to verify")
    func nothing() throws {
        let outcome = try verify()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(size(of: Program.cache) == nil)
    }

    @Test(
        "killed at any step it leaves a cache that the next run makes whole", .timeLimit(.minutes(5)),
        .enabled(if: Tracer.isThere), arguments: ["unlinkat", "renameat", "fdatasync", "fsync"])
    func killed(_ call: String) throws {
        let mirror = try SmallMirror()
        for number in 1...4 {
            let place: Comment = "\(call), call \(number)"
            #expect(try Program.sync(mirror.urls).code == 0, place)
            for name in mirror.names[2...] { try Damage.shorter.make("\(Program.cache)/\(name)") }
            let words = Tracer.words(call, inject: "signal=KILL:when=\(number)")
            let options = call == "renameat" ? ["--keep-damaged"] : []
            _ = try Program.start(under: words, ["verify", "--cache", Program.cache] + options).wait()
            // What is damaged still, the next verify finds; what was removed, the ledger does not claim.
            #expect(try verify().code != 74, place)
            try Program.expectHonestLedger(place)
            #expect(try Program.sync(mirror.urls).code == 0, place)
            try mirror.expectWhole(Program.cache, place)
        }
    }
}

/// Holds the lock of the test's cache, as a run does.
private final class CacheFolderLock {
    private var lock: FileLock?

    init() throws {
        lock = try Folder(opening: Program.cache + "/.syncagent").lock("lock")
    }

    func release() { lock = nil }
}
