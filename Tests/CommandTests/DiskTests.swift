internal import CLinux
internal import Posix
internal import Storage
internal import TestOrigin
internal import Testing

@Suite("A disk that refuses", .scratch)
struct DiskTests {
    /// A file system of its own in memory at the test's cache; it goes with the value.
    private final class Mount {
        private let path: String

        init(_ path: String, _ arguments: [String]) throws {
            self.path = path
            _ = mkdir(path, 0o755)
            let outcome = Child.run("/bin/mount", arguments + [path])
            try #require(outcome.code == 0, "\(outcome)")
        }

        convenience init(kibibytes: Int) throws {
            try self.init(Program.cache, ["-t", "tmpfs", "-o", "size=\(kibibytes)k", "none"])
        }

        func remount(_ options: String) throws {
            let outcome = Child.run("/bin/mount", ["-o", "remount,\(options)", path])
            try #require(outcome.code == 0, "\(outcome)")
        }

        deinit { _ = Child.run("/bin/umount", ["--lazy", path], folder: "/tmp") }
    }

    private static let mayMount: Bool = {
        let path = "/tmp/syncagent-mount-\(randomHex(bytes: 6))"
        guard mkdir(path, 0o700) == 0 else { return false }
        defer { rmdir(path) }
        let mount = Child.run("/bin/mount", ["-t", "tmpfs", "-o", "size=16k", "none", path], folder: "/tmp")
        guard mount.code == 0 else { return false }
        return Child.run("/bin/umount", [path], folder: "/tmp").code == 0
    }()

    private static let isRoot = getuid() == 0

    // MARK: Full

    /// How an origin says, or does not say, how much is coming.
    enum Length: CaseIterable { case told, untold }

    @Test(
        "a full disk ends the run with 74; what is there stays, and the rest comes once there is room",
        .enabled(if: mayMount), arguments: Length.allCases, [nil, "0"])
    func full(_ length: Length, _ reserve: String?) throws {
        let sizes = [9000, 30_000_000, 20_000, 5_000_000]
        let origin = try TestOrigin { exchange in
            let index = Int(exchange.request.path.dropFirst()) ?? 0
            let resource = Resource(seed: UInt64(index), size: sizes[index])
            if length == .told || exchange.repetition > 2 { return exchange.serve(resource) }
            exchange.sendHead(200, [("ETag", "\"v1\""), ("Transfer-Encoding", "chunked")], length: nil)
            for start in stride(from: 0, to: sizes[index], by: 50_000) where exchange.isOpen {
                let bytes = resource.bytes(from: start, count: min(50_000, sizes[index] - start))
                exchange.send(String(bytes.count, radix: 16) + "\r\n")
                exchange.send(bytes + Array("\r\n".utf8))
            }
            exchange.send("0\r\n\r\n")
        }
        let urls = sizes.indices.map { "\(origin.url)/\($0)" }
        let names = try cacheNames(of: urls)
        let mount = try Mount(kibibytes: 2048)
        let options = reserve.map { ["--reserve", $0] } ?? []
        for _ in 0..<2 {
            let known = origin.log.count
            let outcome = try Program.sync(urls, options, seconds: 120)
            #expect(outcome.code == 74, "\(outcome)")
            #expect(outcome.errors.split(separator: "\n").count <= 20, "\(outcome)")
            // Where the origin ignores Range a partial is asked for twice.
            #expect(origin.log.count - known <= 2 * urls.count, "nobody is asked again and again")
            for (index, name) in names.enumerated() {
                guard let bytes = try contents(of: "\(Program.cache)/\(name)") else { continue }
                let isRight = bytes == pattern(seed: UInt64(index), count: sizes[index])
                #expect(isRight, "\(name)")
            }
            let status = try Program.run(["status", "--cache", Program.cache])
            #expect(status.code == 0, "\(status)")
        }
        try mount.remount("size=65536k")
        let last = try Program.sync(urls, options, seconds: 120)
        #expect(last.code == 0, "\(last)")
        #expect(Program.finished == names.sorted())
        #expect(Program.partials.isEmpty)
    }

    @Test("no room for a ledger at all", .enabled(if: mayMount), arguments: [4, 24, 64, 120])
    func noRoomForLedger(_ kibibytes: Int) throws {
        let mirror = try SmallMirror()
        let mount = try Mount(kibibytes: kibibytes)
        let outcome = try Program.sync(mirror.urls)
        #expect(outcome.code == 74, "\(outcome)")
        #expect(outcome.errors.contains(Program.cache), "\(outcome)")
        try mirror.expectRight()
        try mount.remount("size=16384k")
        let last = try Program.sync(mirror.urls)
        #expect(last.code == 0, "\(last)")
        try mirror.expectWhole()
    }

    @Test(
        "a largest size of files", arguments: [10_000, 60_000, 300_000])
    func limitedSize(_ limit: Int) throws {
        let mirror = try SmallMirror()
        let outcome = try Program.sync(under: ["/usr/bin/prlimit", "--fsize=\(limit)"], mirror.urls)
        #expect(outcome.code == 74, "\(outcome)")
        try mirror.expectRight()
        // The ledger fits, and so do all but the largest: one stops no other.
        if limit == 300_000 { #expect(Program.finished == mirror.names.dropLast().sorted()) }
        let known = mirror.origin.log.count
        let last = try Program.sync(mirror.urls)
        #expect(last.code == 0, "\(last)")
        try mirror.expectWhole()
        if limit == 300_000 {
            let asked = mirror.origin.log.dropFirst(known).first { $0.target.hasPrefix("/4.") }
            #expect(asked?.request.field("range") != nil, "what came is kept")
        }
    }

    @Test("--reserve leaves room: what does not fit beside it waits, what fits comes", .enabled(if: mayMount))
    func reserve() throws {
        let mirror = try SmallMirror()
        let mount = try Mount(kibibytes: 4096)
        let nothing = try Program.sync(mirror.urls, ["--reserve", "1T", "--jobs", "1"])
        #expect(nothing.code == 74, "\(nothing)")
        #expect(mirror.origin.log.count == 2, "where nothing but an empty file fits nobody is asked in vain")
        let outcome = try Program.sync(mirror.urls, ["--reserve", "3500k"])
        #expect(outcome.code == 74, "\(outcome)")
        #expect(outcome.errors.contains("--reserve"), "the next step is named: \(outcome)")
        #expect(Program.finished == mirror.names.dropLast().sorted())
        let last = try Program.sync(mirror.urls, ["--reserve", "1M"])
        #expect(last.code == 0, "\(last)")
        try mirror.expectWhole()
        try mount.remount("size=8192k")
    }

    // MARK: Failing calls

    /// A call that changes the disk, and how it may fail.
    private static let faults: [(call: String, error: String)] = [
        ("pwrite64", "ENOSPC"), ("pwrite64", "EIO"), ("pwrite64", "EROFS"),
        ("fdatasync", "EIO"), ("fdatasync", "ENOSPC"), ("fsync", "EIO"), ("syncfs", "EIO"),
        ("renameat", "ENOSPC"), ("renameat", "EIO"), ("renameat", "EROFS"), ("ftruncate", "EIO"),
        ("fchmod", "EROFS"), ("mkdirat", "ENOSPC"), ("fallocate", "ENOSPC"), ("openat", "EIO"),
        ("unlinkat", "EIO"),
    ]

    @Test(
        "whatever call fails, the run ends with 74 or 73, and the next one has every byte",
        .enabled(if: Tracer.isThere), .timeLimit(.minutes(10)),
        arguments: faults.map { "\($0.call) \($0.error)" })
    func fault(_ fault: String) throws {
        let words = fault.split(separator: " ").map(String.init)
        let mirror = try SmallMirror()
        let log = scratch("calls")
        let undisturbed = try Program.sync(under: Tracer.words(logging: words[0], to: log), mirror.urls)
        try #require(undisturbed.code == 0, "\(undisturbed)")
        let calls = try Tracer.calls(in: log)
        let whole = Dictionary(grouping: calls, by: \.thread).values.map(\.count).max() ?? 0
        var failures = 0
        for number in Set((0..<6).map { 1 + $0 * whole / 6 }).sorted() where number <= whole {
            for persists in [true, false] {
                let place: Comment = "\(fault), from call \(number) of \(whole)\(persists ? " on" : " alone")"
                try #require(Child.run("/bin/rm", ["-rf", Program.cache]).code == 0)
                let outcome = try Program.sync(
                    under: Tracer.words(
                        words[0], inject: "error=\(words[1]):when=\(number)\(persists ? "+" : "")"),
                    mirror.urls)
                // A failure may come where none is felt, or before the program began.
                let isTold = outcome.code == 74 || outcome.code == 73
                #expect(isTold || outcome.code == 0 || words[0] == "openat", "\(place.rawValue): \(outcome)")
                if isTold {
                    failures += 1
                    #expect(outcome.errors.hasPrefix("syncagent: "), place)
                }
                if outcome.code == 0 { try mirror.expectRight(Program.cache, place) }
                try mirror.expectRight(Program.cache, place)
                let rerun = try Program.sync(mirror.urls)
                #expect(rerun.code == 0, "\(place.rawValue): \(rerun)\nafter \(outcome)")
                try mirror.expectWhole(Program.cache, place)
            }
        }
        if whole > 0 { #expect(failures > 0) }
    }

    // MARK: Read-only, foreign and removed

    @Test("a read-only file system is refused with 73", .enabled(if: mayMount))
    func readOnly() throws {
        let mirror = try SmallMirror()
        let mount = try Mount(kibibytes: 4096)
        #expect(try Program.sync(mirror.urls).code == 0)
        try mount.remount("ro")
        let outcome = try Program.sync(mirror.urls)
        #expect(outcome.code == 73, "\(outcome)")
        #expect(outcome.errors.contains("read-only"), "\(outcome)")
        try mirror.expectWhole()
        let status = try Program.run(["status", "--cache", Program.cache])
        #expect(status.code == 0, "\(status)")
        let path = try Program.run(["path", mirror.urls[0], "--cache", Program.cache])
        #expect(path.code == 0, "\(path)")
    }

    /// What this user may not write.
    enum Unwritable: String, CaseIterable, CustomTestStringConvertible {
        case cache, state, partials, ledger, lock
        var testDescription: String { rawValue }
        var path: String {
            let state = Program.cache + "/.syncagent"
            return switch self {
            case .cache: Program.cache
            case .state: state
            case .partials: state + "/partial"
            case .ledger: state + "/state.db"
            case .lock: state + "/lock"
            }
        }
    }

    @Test("what this user may not write is refused with 73, and named", arguments: Unwritable.allCases)
    func unwritable(_ unwritable: Unwritable) throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        // Others must get at the test's folder.
        #expect(chmod(ScratchFolder.path, 0o755) == 0)
        if Self.isRoot {
            try #require(Child.run("/bin/chown", ["-R", "65534:65534", Program.cache]).code == 0)
            try #require(chown(unwritable.path, 0, 0) == 0)
            // The ledger's folder stays open to them, unless it is the one.
            try #require(
                chmod(unwritable.path, unwritable == .ledger || unwritable == .lock ? 0o444 : 0o755) == 0)
        } else {
            try #require(
                chmod(unwritable.path, unwritable == .ledger || unwritable == .lock ? 0o444 : 0o555) == 0)
        }
        let words =
            Self.isRoot
            ? ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] : []
        let known = mirror.origin.log.count
        let outcome = try Program.sync(under: words, mirror.urls)
        #expect(outcome.code == 73, "\(outcome)")
        #expect(outcome.errors.contains(unwritable.path), "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome)")
        #expect(mirror.origin.log.count == known)
        try mirror.expectWhole()
        if !Self.isRoot {
            chmod(unwritable.path, unwritable == .ledger || unwritable == .lock ? 0o644 : 0o755)
        }
    }

    @Test(
        "unfinished files on another mount are refused with 73", .enabled(if: mayMount),
        arguments: [true, false])
    func divided(_ isSameFileSystem: Bool) throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let partials = Program.cache + "/.syncagent/partial"
        try write("", to: scratch("elsewhere/.keep"))
        let mount = try Mount(
            partials, isSameFileSystem ? ["--bind", scratch("elsewhere")] : ["-t", "tmpfs", "none"])
        let outcome = try Program.sync(mirror.urls)
        #expect(outcome.code == 73, "\(outcome)")
        #expect(outcome.errors.contains("\(partials): is on another file system"), "\(outcome)")
        _ = mount
    }

    @Test("a link in the place of the folder for unfinished files is refused with 73")
    func linked() throws {
        let mirror = try SmallMirror()
        #expect(try Program.sync(mirror.urls).code == 0)
        let partials = Program.cache + "/.syncagent/partial"
        try write("", to: scratch("elsewhere/.keep"))
        #expect(rmdir(partials) == 0)
        #expect(symlink(scratch("elsewhere"), partials) == 0)
        let outcome = try Program.sync(mirror.urls)
        #expect(outcome.code == 73, "\(outcome)")
        #expect(outcome.errors.contains(partials), "\(outcome)")
        #expect(names(in: scratch("elsewhere")) == [".keep"])
    }

    @Test(
        "a cache that is removed or moved while a run works",
        arguments: ["rm -rf \"$1\"", "mv \"$1\" \"$1.away\""])
    func removed(_ command: String) throws {
        let gate = Gate()
        let origin = try TestOrigin { exchange in
            exchange.sendHead(200, [("ETag", "\"v1\"")], length: 200_000)
            exchange.send([UInt8](repeating: 7, count: 100_000))
            gate.wait(until: .now.advanced(bySeconds: 60))
            exchange.send([UInt8](repeating: 7, count: 100_000))
        }
        let urls = ["\(origin.url)/a", "\(origin.url)/b"]
        let child = try Program.startSync(urls, ["--jobs", "1"])
        #expect(eventually { Program.partials.isEmpty ? nil : true } == true)
        #expect(Child.run("/bin/sh", ["-c", command, "sh", Program.cache]).code == 0)
        gate.open()
        let outcome = child.wait()
        #expect(outcome.code == 74, "\(outcome)")
        #expect(outcome.errors.contains("\(Program.cache) was removed or moved"), "\(outcome)")
        let next = try Program.sync(urls)
        #expect(next.code == 0, "\(next)")
        #expect(Program.finished.count == 2)
    }

    // MARK: Elsewhere

    @Test("--state puts the ledger into another folder, and every command finds it there")
    func state() throws {
        let mirror = try SmallMirror()
        let option = ["--state", scratch("local/ledger")]
        #expect(try Program.sync(mirror.urls, option).code == 0)
        try mirror.expectWhole()
        #expect(names(in: Program.cache + "/.syncagent") == ["lock", "partial"])
        #expect(names(in: scratch("local/ledger")).contains("state.db"))
        let known = mirror.origin.log.count
        #expect(try Program.sync(mirror.urls, option).code == 0)
        #expect(
            mirror.origin.log.dropFirst(known).allSatisfy { $0.request.field("if-none-match") != nil },
            "its copies are known")
        let cache = ["--cache", Program.cache]
        let status = try Program.run(["status", mirror.urls[1]] + cache + option)
        #expect(status.code == 0 && status.output.contains("current"), "\(status)")
        let path = try Program.run(["path", mirror.urls[1]] + cache + option)
        #expect(path.output == "\(Program.cache)/\(mirror.names[1])\n", "\(path)")
        let plan = try Program.run(["plan", try Program.manifest(mirror.urls)] + cache + option)
        #expect(plan.code == 0 && plan.output.contains("asked whether they changed"), "\(plan)")
        #expect(
            try Program.run(["path", mirror.urls[1]] + cache).code == 1,
            "the cache's own ledger knows nothing")
    }

    @Test(
        "a ledger on a file system of another machine is warned of, when the run fails",
        .enabled(if: Tracer.isThere), arguments: [("6969000000000000", "NFS"), ("424d53ff00000000", "SMB")])
    func network(_ magic: String, _ name: String) throws {
        let origin = try TestOrigin { $0.request.path == "/a" ? $0.respond(200, [], [1]) : $0.respond(404) }
        let words = Tracer.words("fstatfs", inject: "poke_exit=@arg2=\(magic)")
        let good = try Program.sync(under: words, ["\(origin.url)/a"])
        #expect(good.code == 0 && good.errors.isEmpty, "cron mails what is printed: \(good)")
        let bad = try Program.sync(under: words, ["\(origin.url)/b"])
        #expect(bad.code == 1)
        #expect(bad.errors.contains("is on \(name), where a ledger is not safe"), "\(bad)")
        #expect(bad.errors.contains("--state"), "\(bad)")
    }

    @Test(
        "file systems by their magic number",
        arguments: [
            (0xEF53, FileSystemKind.local), (0x5846_5342, .local), (0x9123_683E, .local),
            (0x0102_1994, .local),
            (0x794C_7630, .local), (0x6969, .network("NFS")), (0xFF53_4D42, .network("SMB")),
            (0xFE53_4D42, .network("SMB")), (0x0102_1997, .network("9p")), (0x6573_5546, .fuse),
            (0xFFFF_FFFF_FF53_4D42, .network("SMB")),
        ] as [(UInt64, FileSystemKind)])
    func kinds(_ magic: UInt64, _ kind: FileSystemKind) { #expect(FileSystemKind(magic: magic) == kind) }
}
