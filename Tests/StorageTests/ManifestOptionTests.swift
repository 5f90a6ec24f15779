import Storage
import Testing
import Wire

@Suite struct ManifestOptionTests {
    static let md5 = String(repeating: "ab", count: 16)
    static let sha256 = String(repeating: "cd", count: 32)

    /// An entry with one option, written below the URL and behind a TAB.
    private func entry(_ option: String, _ comment: Comment? = nil) throws -> Entry {
        let below = try #require(try entries("http://h.test/a\n  \(option)\n").first, comment)
        let behind = try #require(try entries("http://h.test/a\t\(option) \n").first, comment)
        #expect(below.fingerprint == behind.fingerprint)
        #expect(below.size == behind.size)
        #expect(below.out == behind.out)
        #expect(below.checksums == behind.checksums)
        #expect(below.key == behind.key)
        return below
    }

    @Test func valuesAreRead() throws {
        #expect(try entry("out=dir/file name.txt").out == "dir/file name.txt")
        #expect(try entry("out = x ").out == "x")
        #expect(try entry("out=e\u{301}/\u{301}").out == "e\u{301}/\u{301}")
        #expect(try entry("OUT=a..b/..c").out == "a..b/..c")
        #expect(try entry("size=0").size == 0)
        #expect(try entry("size=18446744073709551615").size == .max)
        #expect(try entry("checksum=md5=\(Self.md5)").checksums.map(\.description) == ["md5=\(Self.md5)"])
        #expect(try entry("checksum=sha256-\(String(repeating: "A", count: 43))=").checksums.count == 1)
        #expect(try entry("max-age=3600").maxAge == .seconds(3600))
        #expect(try entry("max-age=server").maxAge == .server)
        #expect(try entry("max-age=99999999999999999999999").maxAge == .seconds(3_155_760_000))
        #expect(try entry("immutable").isImmutable)
        #expect(try entry("immutable=true").isImmutable)
        #expect(try !entry("immutable=false").isImmutable)
        #expect(try entry("priority=-5").priority == -5)
        #expect(try entry("id=stable name").key == Key(md5Of: "stable name"))
        let header = try entry("header=X-Token:  a: b ").headers
        #expect(header.map(\.name) == ["X-Token"])
        #expect(header.map(\.value) == ["a: b"])
    }

    @Test func idLeavesTheExtension() throws {
        #expect(
            try entries("http://h.test/a.gz?sig=1\n id=a\n").first?.fileName == Key(md5Of: "a").hex + ".gz")
    }

    @Test func headersAndChecksumsRepeat() throws {
        let found = try entries(
            """
            http://h.test/a\tchecksum=md5=\(Self.md5)\theader=A: 1
             checksum=sha-256=\(Self.sha256)
             checksum=md5=\(Self.md5.uppercased())
             header=B: 2
            """)
        #expect(found.first?.checksums.map(\.algorithm) == [.md5, .sha256])
        #expect(found.first?.headers.map(\.name) == ["A", "B"])
    }

    static let refusing = [
        "checksum=", "checksum=md5=abc", "checksum=\(sha256)", "checksum=crc32=00000000", "size=", "size=-1",
        "size=1k", "size=18446744073709551616", "size= 1 2", "header=", "header=nothing", "header=: x",
        "header=A B: x", "header=Host: evil.test", "header=content-length: 1",
        "header=Transfer-Encoding: chunked",
        "header=RANGE: bytes=0-1", "header=If-Match: x", "header=if-anything: x",
        "header=Accept-Encoding: gzip",
        "header=Connection: close", "header=A: x\u{1}y", "header=A: x\ry", "header=A: x\0y", "id=",
    ]

    @Test(arguments: refusing) func theEntryGoesWithWhatDecidesItsBytes(option: String) throws {
        for text in ["http://h.test/a\n \(option)\n size=1\n", "http://h.test/a\t\(option)\tsize=1\n"] {
            let found = outcome(Array((text + "http://h.test/b\n").utf8))
            #expect(found.entries == ["http://h.test/b"])
            #expect(
                found.problems.count == 1 && found.problems.first?.hasSuffix("badLine") == true, "\(found)")
        }
    }

    @Test(arguments: [
        "out=", "out=/etc/passwd", "out=../x", "out=a/../b", "out=..", "out=a/", "out=.", "out=a/.",
        // With an accent behind it a slash is another letter, but not to the kernel.
        "out=/\u{301}etc", "out=../\u{301}x", "out=a/../\u{301}x", "out=a\u{301}/..",
        "out=\(String(repeating: "x", count: 256))", "priority=", "priority=high", "priority=1.5",
        "priority=99999999999999999999", "max-age=", "max-age=-1", "max-age=1d", "max-age=never",
        "immutable=",
        "immutable=yes",
    ])
    func theEntryStaysWithoutWhatDoesNot(option: String) throws {
        for text in ["http://h.test/a\n \(option)\n size=1\n", "http://h.test/a\t\(option)\tsize=1\n"] {
            var found: [ManifestProblem] = []
            let entry = try #require(try drain(reader(Array(text.utf8)), &found).first)
            #expect(found.map(\.kind) == [.badLine])
            #expect(entry.out == nil)
            #expect(entry.size == 1)
        }
    }

    @Test(arguments: [
        ("#" + md5, true), ("#md5=" + md5, true), ("#sha256=" + sha256, true), ("#" + md5.uppercased(), true),
        ("#part", false), ("#md5=abc", false), ("#sha256=" + md5, false), ("#" + sha256, false),
        ("#" + md5 + "0", false),
        ("#crc=" + md5, false), ("#", false),
    ])
    func fragmentsMayBeChecksums(fragment: String, isChecksum: Bool) throws {
        let entry = try #require(try entries("http://h.test/a\(fragment)").first)
        #expect(entry.checksums.count == (isChecksum ? 1 : 0))
        #expect(entry.key == Key(md5Of: "http://h.test/a\(fragment)"))
    }

    @Test(arguments: [
        " checksum=md5=\(md5)\n checksum=md5=00\(md5.dropFirst(2))\n",
        " size=1\n size=2\n",
    ])
    func anEntryMustNotContradictItself(options: String) throws {
        var found: [ManifestProblem] = []
        let text = "http://h.test/a\n\(options)http://h.test/b\n"
        #expect(try drain(reader(Array(text.utf8)), &found).map(\.written) == ["http://h.test/b"])
        #expect(found.map(\.kind) == [.refusedEntry])
        #expect(found.first?.message.contains("lines 2 and 3") == true)
        #expect(found.first?.key == Key(md5Of: "http://h.test/a"))
    }

    @Test func mirrorsAreKeptOnceAndInOrder() throws {
        let entry = try #require(
            try entries(
                "http://h.test/a\thttps://m.test/a\t\thttp://h.test/a\thttps://m.test/a # c\thttp://no.test/"
            )
            .first)
        #expect(entry.mirrors.map(\.origin.host) == ["m.test"])
    }

    @Test func aBadMirrorLeavesTheOthers() throws {
        var found: [ManifestProblem] = []
        let text = "http://h.test/a\tftp://m.test/a\thttp://[::1/\thttp://n.test/a\n"
        let read = try drain(reader(Array(text.utf8)), &found)
        #expect(read.first?.mirrors.map(\.origin.host) == ["n.test"])
        #expect(found.map(\.kind) == [.warning, .badLine])
    }

    @Test func directivesSetDefaultsForWhatFollows() throws {
        let found = try entries(
            """
            http://h.test/0
            #!syncagent max-age=60 immutable=true priority=3
             size=5
            http://h.test/1
             immutable=false
             max-age=server
            #!syncagentx max-age=1
            #!syncagent header=Authorization: Bearer a b=c
            # !syncagent priority=9
            http://h.test/2
             header=authorization: mine
            #!syncagent
            http://h.test/3
            """)
        #expect(found.map(\.maxAge) == [nil, .server, .seconds(60), .seconds(60)])
        #expect(found.map(\.isImmutable) == [false, false, true, true])
        #expect(found.map(\.priority) == [0, 3, 3, 3])
        #expect(found.map(\.size) == [5, nil, nil, nil])
        #expect(found.map { $0.headers.map(\.value) } == [[], [], ["mine"], ["Bearer a b=c"]])
    }

    @Test(arguments: [
        "size=1", "out=a", "id=x", "nothing", "max-age=x", "header=Host: a", "checksum=md5=\(md5)", "a b=c",
    ])
    func badDirectivesAreBadLines(text: String) throws {
        #expect(try problems("#!syncagent \(text)\nhttp://h.test/a").map(\.kind) == [.badLine])
    }

    @Test func unknownDirectivesWarn() throws {
        #expect(try problems("#!syncagent foo=1\nhttp://h.test/a").map(\.kind) == [.warning])
    }

    @Test func callersDefaultsComeFirst() throws {
        var defaults = ManifestDefaults()
        defaults.maxAge = .seconds(5)
        let found = try entries("http://h.test/a\nhttp://h.test/b\n max-age=1\n", defaults: defaults)
        #expect(found.map(\.maxAge) == [.seconds(5), .seconds(1)])
    }

    /// All differ from each other: URL, mirrors, options and defaults count.
    @Test func everyChangeOfALineChangesTheFingerprint() throws {
        let texts = [
            "http://h.test/a", "http://h.test/b", "http://h.test/a\thttp://m.test/a",
            "http://h.test/a\n size=1",
            "http://h.test/a\n size=2", "http://h.test/a\n split=2", "http://h.test/a\n header=A: b",
            "#!syncagent max-age=1\nhttp://h.test/a", "#!syncagent max-age=2\nhttp://h.test/a",
        ]
        let prints = try texts.map { try entries($0).first?.fingerprint }
        #expect(Set(prints).count == texts.count)
        for text in texts {
            // The place does not count.
            #expect(
                try entries("# c\n\nhttp://x.test/\n" + text).last?.fingerprint
                    == entries(text).first?.fingerprint)
        }
        // It is stored, so it must be the same for ever: XXH3-64 of the URL.
        #expect(try entries("http://h.test/a").first?.fingerprint == 16_181_837_988_957_090_218)
    }
}
