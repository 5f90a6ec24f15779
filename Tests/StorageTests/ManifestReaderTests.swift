import Storage
import Testing
import Wire

/// Lines, and what is made of them.
struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let text: [UInt8]
    var entries: [String] = []
    var problems: [String] = []
    var testDescription: String { name }

    init(_ name: String, _ text: String, entries: [String] = [], problems: [String] = []) {
        self.init(name, Array(text.utf8), entries: entries, problems: problems)
    }

    init(_ name: String, _ text: [UInt8], entries: [String] = [], problems: [String] = []) {
        self.name = name
        self.text = text
        self.entries = entries
        self.problems = problems
    }
}

@Suite struct ManifestReaderTests {
    static let a = "http://h.test/a"
    static let b = "https://h.test/b"

    static let rows: [Row] = [
        Row("nothing", ""),
        Row("one line end", "\n"),
        Row("blanks and comments only", "  \n\t\n# http://h.test/no\n   # x\n\r\n"),
        Row("two lines", "\(a)\n\(b)\n", entries: [a, b]),
        Row("last line without end", "\(a)\n\(b)", entries: [a, b]),
        Row("blanks behind", "\(a) \t \n", entries: [a]),
        Row("CRLF", "\(a)\r\n\(b)\r\n", entries: [a, b]),
        Row("CR CR LF", "\(a)\r\r\n\(b)", entries: [a, b]),
        Row("byte order mark", [0xEF, 0xBB, 0xBF] + Array("\(a)\n".utf8), entries: [a]),
        Row("byte order mark alone", [0xEF, 0xBB, 0xBF]),
        Row("byte order mark and blank line", [0xEF, 0xBB, 0xBF, 0x0A] + Array(a.utf8), entries: [a]),
        Row("byte order mark and comment", [0xEF, 0xBB, 0xBF] + Array("# c\n\(a)".utf8), entries: [a]),
        Row("comment behind", "\(a) # the first\n\(b)\t# the\tsecond\n", entries: [a, b]),
        Row("fragment is no comment", "\(a)#part\n", entries: [a + "#part"]),
        Row("scheme in capitals", "HTTP://h.test/a\n", entries: ["HTTP://h.test/a"]),
        Row("bytes beyond ASCII", Array("\(a)/".utf8) + [0xC3, 0xA9, 0x0A], entries: [a + "/é"]),
        Row("bytes that are no UTF-8", Array("\(a)/".utf8) + [0xE9, 0x0A], entries: [a + "/\u{FFFD}"]),
        Row("the same twice is two readings", "\(a)\n\(a)\n", entries: [a, a]),

        Row("blank in the URL", "\(a) b\n\(b)\n", entries: [b], problems: ["1 badLine"]),
        Row("request smuggled by a CR", "\(a) HTTP/1.1\rX: y\n\(b)\n", entries: [b], problems: ["1 badLine"]),
        Row("CR within", "http://h.test/x\ry\n\(b)\n", entries: [b], problems: ["1 badLine"]),
        Row("NUL within", "http://h.test/x\0y\n\(b)\n", entries: [b], problems: ["1 badLine"]),
        Row("DEL within", "http://h.test/x\u{7F}y\n\(b)\n", entries: [b], problems: ["1 badLine"]),
        Row("TAB and rest", "http://h.test/x\ty\n\(b)\n", entries: [b], problems: ["1 badLine"]),
        Row(
            "no scheme",
            "127.0.0.1:8080/1\n\(a)\nwww.test/x\n//h.test/x\nhttp:/h.test/x\nhttp//h.test/x\n\(b)\n",
            entries: [a, b], problems: ["1 badLine", "3 badLine", "4 badLine", "5 badLine", "6 badLine"]),
        Row("a shell line", "\(a)\nsudo dpkg -i x.deb\n\(b)\n", entries: [a, b], problems: ["2 badLine"]),
        Row("a lock file's mark", "@EXPLICIT\n\(a)\n", entries: [a], problems: ["1 badLine"]),
        Row("another scheme", "ftp://h.test/a\n\(b)\n", entries: [b], problems: ["1 refusedEntry"]),
        Row("no host", "http:///a\n\(b)\n", entries: [b], problems: ["1 badLine"]),
        Row("a host that is none", "http://[1::2::3]/\n\(b)\n", entries: [b], problems: ["1 badLine"]),
        Row(
            "options of a bad line", "www.test/x\n size=1\n nonsense\n\(b)\n", entries: [b],
            problems: ["1 badLine"]),
        Row(
            "options of a refused entry", "ftp://h.test/a\n size=x\n\(b)\n", entries: [b],
            problems: ["1 refusedEntry"]),
        Row("indented URL", "\(a)\n  \(b)\n", entries: [a, b], problems: ["2 warning"]),
        Row(
            "indented URL at the start", "# x\n\t\t   \(a)\nftp://h.test/f", entries: [a],
            problems: ["2 warning", "3 refusedEntry"]),
        Row("option first", " size=1\n\(a)\n", entries: [a], problems: ["1 badLine"]),
        Row("option not indented", "\(a)\nsize=1\n\(b)", entries: [a, b], problems: ["2 badLine"]),
        Row("neither option nor URL", "\(a)\n what is this\n\(b)", entries: [a, b], problems: ["2 badLine"]),
        Row(
            "options after blank lines", "\(a)\n\n# c\n  size=x\n\(b)", entries: [b], problems: ["4 badLine"]),
        Row(
            "aria2's options",
            "\(a)\n dir=/x\n split=5\n max-connection-per-server=2\n referer=http://x.test/\n",
            entries: [a]),
        Row(
            "unknown options warn once each", "\(a)\n foo=1\n bar=2\n\(b)\n foo=3\n", entries: [a, b],
            problems: ["2 warning", "3 warning"]),
    ]

    @Test(arguments: rows, Arrival.all) func lines(row: Row, arrival: Arrival) {
        let expected = Outcome(entries: row.entries, problems: row.problems)
        #expect(outcome(row.text, arrival) == expected)
        #expect(outcome(row.text, arrival, limit: 1) == expected, "one entry at a time")
        if !row.text.isEmpty {
            let trailing = Array("\n# more\n\n".utf8)
            #expect(outcome(row.text + trailing, arrival) == expected, "with trailing bytes")
        }
    }

    @Test func keyIsOfTheURLAsWritten() throws {
        let found = try entries("  # c\nHTTP://H.test/%7ea?q=1#f \t\n")
        #expect(found.map(\.key) == [Key(md5Of: "HTTP://H.test/%7ea?q=1#f")])
        #expect(found.first?.url.origin.host == "h.test")
        #expect(found.first?.place == Place(manifest: "m.txt", line: 2))
    }

    @Test(arguments: [
        ("http://h.test/a.tar.gz", ".gz"), ("http://h.test/a.b/c", ""), ("http://h.test/.hidden", ""),
        ("http://h.test/a?x=b.png", ""), ("http://h.test/a.p%6Eg", ""), ("http://h.test/a.JPG#b.c", ".JPG"),
    ])
    func extensionComesFromThePath(url: String, expected: String) throws {
        let entry = try #require(try entries(url).first)
        #expect(entry.fileExtension == expected)
        #expect(entry.fileName == Key(md5Of: url).hex + expected)
    }

    @Test func batchesAreNoGreaterThanAsked() throws {
        let text = (0..<10).map { "http://h.test/\($0)\n size=\($0)\n" }.joined()
        var reader = reader(Array(text.utf8))
        var sizes: [Int] = []
        var all: [Entry] = []
        while let batch = try reader.next(limit: 4, problems: { Issue.record("\($0)") }) {
            sizes.append(batch.count)
            all += batch
        }
        #expect(sizes == [4, 4, 2])
        #expect(all.map(\.size) == (0..<10).map { UInt64($0) })
        let (count, more) = (
            reader.entriesRead, try reader.next(limit: 4, problems: { Issue.record("\($0)") })
        )
        #expect(count == 10)
        #expect(more?.count == nil)
    }

    @Test func everythingIsCounted() throws {
        let text = "http://h.test/a\nbad\nftp://h.test/b\nhttp://h.test/c\n size=x\nhttp://h.test/d\n foo=1\n"
        var reader = reader(Array(text.utf8))
        while try reader.next(limit: 1, problems: { _ in }) != nil {}
        let counts = [reader.entriesRead, reader.badLines, reader.refusedEntries]
        #expect(counts == [2, 2, 1])
    }

    @Test func problemsNamePlaceAndNextStep() throws {
        let found = try problems("www.test/x\nhttp://h.test/a b\nftp://u:p@h.test/a\n")
        #expect(
            found.map(\.description) == [
                "m.txt:1: no scheme: write https:// or http:// before it",
                "m.txt:2: a blank in the URL: write %20",
                "m.txt:3: the scheme ftp is not http or https",
            ])
        #expect(found.map(\.key) == [nil, nil, Key(md5Of: "ftp://u:p@h.test/a")])
    }

    @Test(arguments: Arrival.all.dropLast(2)) func lineLengthIsBounded(arrival: Arrival) {
        let start = "http://h.test/"
        let fits = start + String(repeating: "x", count: (1 << 20) - start.utf8.count)
        let text = "\(fits)\n\(fits)y\n\(Self.b)\n\(fits)yz"
        let found = outcome(Array(text.utf8), arrival)
        #expect(found.entries == [fits, Self.b])
        #expect(found.problems == ["2 badLine", "4 badLine"])
    }

    @Test func aLineWithoutEndIsSkippedInBoundedMemory() throws {
        var left = 64
        var reader = ManifestReader(name: "m.txt") { (buffer) throws(ManifestError) in
            #expect(buffer.count <= 1 << 21)
            if left == 0 { return 0 }
            left -= 1
            buffer.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "x"))
            return buffer.count
        }
        var found: [ManifestProblem] = []
        let entries = try reader.next(limit: 1, problems: { found.append($0) })
        #expect(entries?.count == nil)
        #expect(found.map(\.kind) == [.badLine])
    }

    @Test func aLongManifestIsReadInOrder() throws {
        let count = 100_000
        let text = (0..<count).map { "https://h.test/path/to/file-\($0).bin\n" }.joined()
        var reader = reader(Array(text.utf8), Arrival(size: 4099))
        var next = 0
        while let batch = try reader.next(limit: 500, problems: { Issue.record("\($0)") }) {
            for entry in batch {
                if entry.place.line != next + 1 || entry.written != "https://h.test/path/to/file-\(next).bin"
                {
                    Issue.record("\(entry.written) in line \(entry.place.line)")
                    return
                }
                next += 1
            }
        }
        #expect(next == count)
    }
}
