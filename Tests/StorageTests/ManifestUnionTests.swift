import Storage
import Testing
import Wire

@Suite struct ManifestUnionTests {
    static let one = String(repeating: "1", count: 32)
    static let two = String(repeating: "2", count: 32)
    static let sha = String(repeating: "3", count: 64)

    private func united(
        _ text: String, seen: inout SeenKeys
    ) throws -> (entries: [Entry], problems: [ManifestProblem]) {
        var problems: [ManifestProblem] = []
        let read = try drain(reader(Array(text.utf8)), &problems)
        let entries = unite(read, seen: &seen) { problems.append($0) }
        return (entries, problems)
    }

    @Test func theSameURLIsOneEntryInItsFirstPlace() throws {
        var seen = SeenKeys()
        let found = try united("http://h.test/a\nhttp://h.test/b\nhttp://h.test/a\n", seen: &seen)
        #expect(found.entries.map(\.written) == ["http://h.test/a", "http://h.test/b"])
        #expect(found.entries.first?.place.line == 1)
        #expect(found.problems.isEmpty)
        #expect(seen.count == 2)
    }

    @Test func whatTheLinesSayIsUnited() throws {
        var seen = SeenKeys()
        let found = try united(
            """
            http://h.test/a\thttp://m.test/1
             checksum=md5=\(Self.one)
             header=A: 1
             out=first
            http://h.test/a\thttp://m.test/2\thttp://m.test/1
             checksum=md5=\(Self.one)
             checksum=sha-256=\(Self.sha)
             header=a: 2
             header=B: 3
             out=second
             size=7
             max-age=9
             immutable
             priority=2
            """, seen: &seen)
        let entry = try #require(found.entries.first)
        #expect(found.entries.count == 1)
        #expect(entry.mirrors.map(\.path) == ["/1", "/2"])
        #expect(entry.checksums.map(\.algorithm) == [.md5, .sha256])
        #expect(entry.headers.map(\.value) == ["1", "3"])
        #expect(entry.out == "first")
        #expect(entry.size == 7)
        #expect(entry.maxAge == .seconds(9))
        #expect(entry.isImmutable)
        #expect(entry.priority == 2)
    }

    @Test func oneIdIsOneEntryWithTheOtherURLAsMirror() throws {
        var seen = SeenKeys()
        let found = try united("http://h.test/a?s=1\n id=x\nhttp://h.test/a?s=2\n id=x\n", seen: &seen)
        #expect(found.entries.map(\.key) == [Key(md5Of: "x")])
        #expect(found.entries.first?.mirrors.map(\.query) == ["s=2"])
    }

    @Test(arguments: [
        ("checksum=md5=\(one)", "checksum=md5=\(two)", "md5 checksum"), ("size=1", "size=2", "size"),
    ])
    func contradictionsNameBothLinesAndFetchNeither(first: String, second: String, word: String) throws {
        var seen = SeenKeys()
        let text =
            "http://h.test/a\n \(first)\nhttp://h.test/b\nhttp://h.test/a\n \(second)\nhttp://h.test/a\n"
        let found = try united(text, seen: &seen)
        #expect(found.entries.map(\.written) == ["http://h.test/b"])
        let problem = try #require(found.problems.first)
        #expect(found.problems.count == 1)
        #expect(problem.kind == .refusedEntry)
        #expect(problem.key == Key(md5Of: "http://h.test/a"))
        #expect(problem.place.line == 4)
        #expect(problem.message.contains("another \(word) than in m.txt:1"))
        // Nor does a later batch.
        #expect(try united("http://h.test/a\n", seen: &seen).entries.isEmpty)
    }

    @Test func anEarlierBatchHasIt() throws {
        var seen = SeenKeys()
        _ = try united("#\n#\nhttp://h.test/a\n checksum=md5=\(Self.one)\nhttp://h.test/b\n", seen: &seen)
        let again = try united("http://h.test/a\n checksum=md5=\(Self.one)\nhttp://h.test/b\n", seen: &seen)
        #expect(again.entries.isEmpty && again.problems.isEmpty)
        let bare = try united("http://h.test/a\n", seen: &seen)
        #expect(bare.entries.isEmpty && bare.problems.isEmpty)
        let mixed = try united(
            "http://h.test/c\nhttp://h.test/a\nhttp://h.test/d\nhttp://h.test/c\n", seen: &seen)
        #expect(mixed.entries.map(\.written) == ["http://h.test/c", "http://h.test/d"])
        let other = try united("http://h.test/a\n checksum=md5=\(Self.two)\n", seen: &seen)
        #expect(other.entries.isEmpty)
        #expect(other.problems.map(\.kind) == [.refusedEntry])
        #expect(other.problems.first?.message.contains("m.txt:3") == true)
        let late = try united("http://h.test/b\n checksum=md5=\(Self.two)\n", seen: &seen)
        #expect(late.entries.isEmpty)
        #expect(late.problems.map(\.kind) == [.warning])
    }

    @Test func aBatchRemembersAllItsChecksums() throws {
        var seen = SeenKeys()
        _ = try united("http://h.test/a\nhttp://h.test/a\n checksum=md5=\(Self.one)\n", seen: &seen)
        #expect(try united("http://h.test/a\n checksum=md5=\(Self.one)\n", seen: &seen).problems.isEmpty)
        let other = try united("http://h.test/a\n checksum=md5=\(Self.two)\n", seen: &seen)
        #expect(other.problems.map(\.kind) == [.refusedEntry])
    }

    @Test func theFingerprintOfAUnionForgetsTheOrder() throws {
        let lines = ["http://h.test/a\n size=1\n", "http://h.test/a\thttp://m.test/\n"]
        var prints: Set<UInt64> = []
        for text in [lines[0] + lines[1], lines[1] + lines[0]] {
            var seen = SeenKeys()
            prints.formUnion(try united(text, seen: &seen).entries.map(\.fingerprint))
        }
        #expect(prints.count == 1)
        var seen = SeenKeys()
        let twice = try united(lines[0] + lines[0], seen: &seen).entries.map(\.fingerprint)
        #expect(try twice == entries(lines[0]).map(\.fingerprint))
    }

    @Test func manyKeysAreAllFoundAgain() throws {
        var seen = SeenKeys()
        let count = 50_000
        let text = (0..<count).map { "http://h.test/\($0)\n" }.joined()
        #expect(try united(text, seen: &seen).entries.count == count)
        #expect(seen.count == count)
        #expect(try united(text, seen: &seen).entries.isEmpty)
        #expect((0..<count).allSatisfy { seen.contains(Key(md5Of: "http://h.test/\($0)")) })
        #expect(!(count..<2 * count).contains { seen.contains(Key(md5Of: "http://h.test/\($0)")) })
    }
}
