import Storage
import Testing
import Wire

/// What a manifest's bytes may be wrapped in, and what they must not be.
@Suite struct ManifestFormTests {
    static let text = Array("http://h.test/a\n size=1\nhttps://h.test/b\n".utf8)
    static let expected = Outcome(entries: ["http://h.test/a", "https://h.test/b"])

    @Test(arguments: Arrival.all) func gzipIsReadAsItComes(arrival: Arrival) {
        #expect(outcome(gzip(Self.text), arrival) == Self.expected)
    }

    @Test(arguments: Arrival.all) func membersFollowEachOther(arrival: Arrival) {
        let parts = gzip(Self.text.prefix(20)) + gzip([]) + gzip(Self.text.dropFirst(20))
        #expect(outcome(parts, arrival) == Self.expected)
        #expect(outcome(parts + [0, 0, 0, 0], arrival) == Self.expected, "padded with zeros")
    }

    @Test(arguments: Arrival.all) func anEmptyMemberIsAnEmptyManifest(arrival: Arrival) {
        #expect(outcome(gzip([]), arrival) == Outcome())
    }

    @Test(arguments: Arrival.all) func aMarkWithinGzipIsSkipped(arrival: Arrival) {
        #expect(outcome(gzip([0xEF, 0xBB, 0xBF] + Self.text), arrival) == Self.expected)
    }

    @Test func gzipCutAnywhereIsUnusable() {
        let whole = gzip(Self.text)
        for length in 3..<whole.count {
            let found = outcome(Array(whole.prefix(length)))
            guard case .unusable("m.txt", let why) = found.failure else {
                Issue.record("cut to \(length) of \(whole.count): \(found)")
                continue
            }
            #expect(why.contains("too early"))
        }
    }

    @Test func damagedGzipIsUnusable() {
        let whole = gzip(Self.text)
        for index in [3, whole.count - 8, whole.count - 1] {
            var damaged = whole
            damaged[index] ^= 0xE0
            guard case .unusable(_, let why) = outcome(damaged).failure else {
                Issue.record("byte \(index)")
                continue
            }
            #expect(why.contains("damaged"))
        }
        guard case .unusable = outcome(whole + Array("rest".utf8)).failure else {
            Issue.record("bytes behind the last member")
            return
        }
    }

    @Test func entriesBeforeTheDamageAreReturnedFirst() throws {
        var reader = reader(gzip(Self.text).dropLast(4) + [])
        let batch = try reader.next(limit: 10, problems: { Issue.record("\($0)") })
        #expect(batch?.map(\.written) == ["http://h.test/a"])
        for _ in 0..<2 {
            do {
                let more = try reader.next(limit: 10, problems: { Issue.record("\($0)") })
                Issue.record("\(String(describing: more?.count))")
            } catch {
                guard case .unusable = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
    }

    @Test func entriesBeforeTheDamageAreTheSameHoweverItComes() {
        let whole = gzip(Self.text)
        for index in whole.indices.dropFirst(3) {
            var damaged = whole
            damaged[index] ^= 0xE0
            let found = Arrival.all.map { outcome(damaged, $0) }
            #expect(found.allSatisfy { $0 == found[0] }, "byte \(index)")
        }
    }

    /// A fuzzer's: a member whose check value is another member's head.
    @Test(arguments: Arrival.all) func linesBeforeABadCheckValueAreRead(arrival: Arrival) throws {
        let text = "H4sIAAAAAAACA8soKSmw0tfS10/UT+JSKM6sSrU1AB+LCAAAAAAAyygpKbDS10/jT+ECAJ0Lkz0LAAAAAAA="
        let found = outcome(try #require(Base64.decode(Array(text.utf8))), arrival)
        #expect(found.problems == ["1 badLine"])
        #expect(found.failure != nil)
    }

    /// 50 KB of gzip that claim to be one line of a hundred million bytes.
    @Test func whatGzipClaimsTakesNoMemory() {
        var bomb = BitWriter()
        // A final block with fixed codes: a literal "x", then matches of length 258 at distance 1 (RFC 1951 3.2.6).
        bomb.write(1, 1)
        bomb.write(1, 2)
        bomb.writeCode(0x30 + 0x78, 8)
        for _ in 0..<400_000 {
            bomb.writeCode(0b1100_0101, 8)
            bomb.writeCode(0, 5)
        }
        bomb.writeCode(0, 7)
        var largest = 0
        var bytes = ([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + bomb.bytes)[...]
        var reader = ManifestReader(name: "m.txt") { (buffer) throws(ManifestError) in
            largest = max(largest, buffer.count)
            let piece = bytes.prefix(buffer.count)
            buffer.copyBytes(from: piece)
            bytes = bytes.dropFirst(piece.count)
            return piece.count
        }
        var found: [ManifestProblem] = []
        do {
            while try reader.next(limit: 1, problems: { found.append($0) }) != nil {}
            Issue.record("its checksum is missing")
        } catch {
            guard case .unusable = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(found.map(\.kind) == [.badLine])
        #expect(largest <= 1 << 16)
    }

    static let foreign: [(bytes: [UInt8], word: String)] = [
        ([0xFF, 0xFE] + "http://h.test/a\n".utf8.flatMap { [$0, 0] }, "UTF-16"),
        ([0xFE, 0xFF] + "http://h.test/a\n".utf8.flatMap { [0, $0] }, "UTF-16"),
        ("http://h.test/a\n".utf8.flatMap { [$0, 0] }, "UTF-16"),
        ("http://h.test/a\n".utf8.flatMap { [0, $0] }, "UTF-16"),
        ([0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0, 0, 0, 0, 0], "ELF"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0, 4], "xz"),
        ([0x28, 0xB5, 0x2F, 0xFD, 4, 0], "zstd"),
        (Array("BZh91AY&SY".utf8), "bzip2"),
        ([0x50, 0x4B, 3, 4, 0x14, 0, 0, 0], "zip"),
        (Array("%PDF-1.7\n".utf8), "PDF"),
        (Array("SQLite format 3\0".utf8), "SQLite"),
        (gzip(gzip(Array("http://h.test/a".utf8))), "gzip"),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D], "binary"),
        ([UInt8](repeating: 0, count: 4096), "binary"),
        (Array("name.txt\0\0\0\0\nhttp://h.test/a\n".utf8), "binary"),
        ([UInt8](repeating: 1, count: (1 << 20) + 1), "binary"),
    ]

    @Test(arguments: foreign, Arrival.all)
    func otherFormatsAreNamed(row: (bytes: [UInt8], word: String), arrival: Arrival) {
        // A MiB in small pieces say no more than in one.
        if row.bytes.count > 1 << 20, arrival.size < 1 << 20 { return }
        let found = outcome(row.bytes, arrival)
        guard case .unusable("m.txt", let why) = found.failure else {
            Issue.record("\(found)")
            return
        }
        #expect(why.contains(row.word))
        #expect(found.entries.isEmpty)
    }

    @Test func oneLineOfRubbishAmongURLsIsABadLine() {
        let found = outcome(Array("http://h.test/a\nab\0c\u{1}\nhttp://h.test/b\n".utf8))
        #expect(found == Outcome(entries: ["http://h.test/a", "http://h.test/b"], problems: ["2 badLine"]))
    }

    @Test(arguments: [
        "dir=/x\nmax-concurrent-downloads=5\n", "# my settings\n\nfoo=1\ncontinue=true\n", "dir=/x",
        String(repeating: "split=5\n", count: 1500) + "http://h.test/a\n",
    ])
    func anAria2ConfigurationIsNamed(text: String) {
        let found = outcome(Array(text.utf8))
        guard case .unusable(_, let why) = found.failure else {
            Issue.record("\(found)")
            return
        }
        #expect(why.contains("aria2 configuration"))
        #expect(found.problems.isEmpty)
    }

    @Test(arguments: [
        ("dir=/x\nhttp://h.test/a\n", ["http://h.test/a"], ["1 badLine"]),
        ("dir=/x\nhello\n", [], ["1 badLine", "2 badLine"]),
        ("dir=/x\nftp://h.test/a\n", [], ["1 badLine", "2 refusedEntry"]),
        ("foo=1\nbar=2\n", [], ["1 badLine", "2 badLine"]),
    ])
    func oneForgottenIndentIsNoConfiguration(text: String, entries: [String], problems: [String]) {
        let found = outcome(Array(text.utf8))
        #expect(found == Outcome(entries: entries, problems: problems))
    }
}

/// gzip with stored blocks (RFC 1951 3.2.4).
func gzip(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let bytes = Array(bytes)
    precondition(bytes.count <= 65_535)
    let length = UInt16(bytes.count)
    func little(_ number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
    var crc: UInt32 = .max
    for byte in bytes {
        crc ^= UInt32(byte)
        for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1]
    return head + little(length) + little(~length) + bytes + little(~crc) + little(UInt32(bytes.count))
}

/// Bits in deflate's order (RFC 1951 3.1.1).
struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var used = 8

    mutating func write(_ value: Int, _ count: Int) {
        for bit in 0..<count { append(value >> bit & 1) }
    }

    /// Huffman codes begin with their highest bit.
    mutating func writeCode(_ value: Int, _ count: Int) {
        for bit in (0..<count).reversed() { append(value >> bit & 1) }
    }

    private mutating func append(_ bit: Int) {
        if used == 8 {
            bytes.append(0)
            used = 0
        }
        bytes[bytes.count - 1] |= UInt8(bit << used)
        used += 1
    }
}
