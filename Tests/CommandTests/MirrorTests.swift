internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Mirroring over TLS", .scratch)
struct MirrorTests {
    /// 0 bytes to 64 MiB: mostly small, some around buffer sizes, few large.
    private static let sizes: [Int] = {
        var sizes = [0, 1, 2, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 262_144, 1_048_577]
        sizes += [64 << 20, 8 << 20, 3_000_000, 3_000_001]
        while sizes.count < 200 { sizes.append((sizes.count * 7919) % 40_000) }
        return sizes
    }()

    @Test(
        "a mirror is byte for byte, a second run asks only, a third fetches what changed",
        .timeLimit(.minutes(5)))
    func mirror() throws {
        let authority = try Authority()
        let nginx = try Nginx(authority: authority)
        let trust = ["--cacert", authority.certificate]
        let endings = [".txt", ".tar.gz", "", ".bin", "."]
        let files = Self.sizes.indices.map { "\($0 % 7)/file-\($0)\(endings[$0 % endings.count])" }
        for (index, size) in Self.sizes.enumerated() {
            try write(pattern(seed: UInt64(index), count: size), to: "\(nginx.files)/\(files[index])")
        }
        let urls = files.map { "\(nginx.url)/\($0)" }
        let names = try cacheNames(of: urls)

        let first = try Program.sync(urls, trust, seconds: 200)
        #expect(first.code == 0, "\(first)")
        #expect(first.output.isEmpty && first.errors.isEmpty, "a run in which all is well says nothing")
        #expect(Program.finished == names.sorted())
        #expect(Program.partials.isEmpty)
        try expectEqual(files, names, nginx)
        let served = try nginx.log()
        #expect(served.map(\.target).sorted() == files.map { "/" + $0 }.sorted())
        #expect(served.allSatisfy { $0.method == "GET" && $0.status == 200 && $0.range == nil })

        let second = try Program.sync(urls, trust)
        #expect(second.code == 0, "\(second)")
        let asked = try nginx.log().dropFirst(served.count)
        #expect(asked.count == files.count)
        #expect(asked.allSatisfy { $0.status == 304 })

        // Longer, so that the ETag differs even within the second of the first writing.
        try write(pattern(seed: 4711, count: 50_000), to: "\(nginx.files)/\(files[33])")
        let third = try Program.sync(urls, trust)
        #expect(third.code == 0, "\(third)")
        let changed = try nginx.log().dropFirst(served.count + asked.count).filter { $0.status != 304 }
        #expect(changed.map(\.target) == ["/" + files[33]])
        try expectEqual(files, names, nginx)
    }

    private func expectEqual(_ files: [String], _ names: [String], _ nginx: Nginx) throws {
        for (file, name) in zip(files, names) {
            let outcome = Child.run("/usr/bin/cmp", ["\(nginx.files)/\(file)", "\(Program.cache)/\(name)"])
            #expect(outcome.code == 0, "\(file): \(outcome)")
        }
    }

    @Test("a certificate of an unknown authority is refused and nothing is kept")
    func refusedCertificate() throws {
        let nginx = try Nginx(authority: try Authority())
        try write("hello", to: nginx.files + "/a.txt")
        let outcome = try Program.sync(["\(nginx.url)/a.txt"], ["--retries", "0"])
        #expect(outcome.code == 1, "\(outcome)")
        #expect(outcome.errors.hasPrefix("syncagent: "))
        #expect(Program.finished.isEmpty)
        #expect(try nginx.log().isEmpty)
    }
}
