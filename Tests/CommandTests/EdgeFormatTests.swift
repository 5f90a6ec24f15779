internal import Testing

@testable import syncagent

@Suite("Numbers as people read them")
struct EdgeFormatTests {
    @Test(
        "bytes take the largest binary unit, one decimal, and never show 1024.0",
        arguments: [
            (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1075, "1.0 KiB"), (1076, "1.1 KiB"),
            (1536, "1.5 KiB"), (1_048_524, "1023.9 KiB"), (1_048_525, "1.0 MiB"), (1_048_576, "1.0 MiB"),
            (1_073_741_823, "1.0 GiB"), (5 << 30, "5.0 GiB"), (1 << 40, "1.0 TiB"), (1 << 50, "1.0 PiB"),
            (1 << 60, "1.0 EiB"), (UInt64.max, "16.0 EiB"),
        ] as [(UInt64, String)])
    func bytes(count: UInt64, text: String) { #expect(Formats.bytes(count) == text) }

    @Test(
        "per cent is rounded down, so that 100.00 means complete",
        arguments: [
            (0, 0, "100.00 %"), (0, 1, "0.00 %"), (1, 3, "33.33 %"), (2, 3, "66.66 %"),
            (99_999, 100_000, "99.99 %"),
            (100_000, 100_000, "100.00 %"), (5, 4, "100.00 %"), (1, 1000, "0.10 %"), (1, 1001, "0.09 %"),
            (UInt64.max - 1, UInt64.max, "99.99 %"), (UInt64.max, UInt64.max, "100.00 %"),
        ] as [(UInt64, UInt64, String)])
    func percent(done: UInt64, total: UInt64, text: String) {
        #expect(Formats.percent(done, of: total) == text)
    }

    @Test(
        "a span shows its two largest units",
        arguments: [
            (-3, "0s"), (0, "0s"), (0.9, "0s"), (59.9, "59s"), (60, "1m 00s"), (192, "3m 12s"),
            (3599, "59m 59s"),
            (3600, "1h 00m"), (7500, "2h 05m"), (86_399, "23h 59m"), (86_400, "1d 00h"), (356_400, "4d 03h"),
            (1e300, "for ever"), (.infinity, "for ever"), (.nan, "for ever"),
        ] as [(Double, String)])
    func duration(seconds: Double, text: String) { #expect(Formats.duration(seconds) == text) }

    @Test(
        "a rate that is no speed is 0",
        arguments: [(0, "0 B/s"), (1536, "1.5 KiB/s"), (-1, "0 B/s"), (.nan, "0 B/s"), (.infinity, "0 B/s")]
            as [(Double, String)])
    func rate(value: Double, text: String) { #expect(Formats.rate(value) == text) }

    @Test(
        "times are RFC 3339 in UTC, whatever number the ledger holds",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"), (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"), (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_700_000_000, "2023-11-14T22:13:20Z"), (2_147_483_648, "2038-01-19T03:14:08Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), (-62_167_219_200, "0000-01-01T00:00:00Z"),
            (.min, "0000-01-01T00:00:00Z"), (.max, "9999-12-31T23:59:59Z"),
        ] as [(Int64, String)])
    func time(wall: Int64, text: String) { #expect(Formats.time(wall) == text) }

    @Test("one is singular") func counts() {
        #expect(counted(1, "entry", "entries") == "1 entry")
        #expect(counted(0, "entry", "entries") == "0 entries")
        #expect(counted(2, "entry", "entries") == "2 entries")
    }
}

@Suite("Text on a terminal")
struct EdgeDisplayTests {
    @Test(
        "what would steer the terminal is shown, not sent",
        arguments: [
            ("plain", "plain"), ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"), ("a\nb\r", "a\\u{a}b\\u{d}"),
            ("\u{7f}", "\\u{7f}"),
            ("\u{9b}31m", "\\u{9b}31m"), ("a\u{202e}txt.exe", "a\\u{202e}txt.exe"), ("grüße 日本", "grüße 日本"),
        ])
    func printable(text: String, shown: String) { #expect(DisplayText.printable(text) == shown) }

    @Test(
        "columns are counted as a terminal does",
        arguments: [
            ("", 0), ("abc", 3), ("日本", 4), ("e\u{301}", 1), ("한글", 4), ("…", 1), ("😀", 2), ("\u{200b}", 0),
        ])
    func width(text: String, columns: Int) { #expect(DisplayText.width(text) == columns) }

    @Test(
        "a text that is cut never exceeds its columns, at any width",
        arguments: [
            "https://example.org/very/long/path/to/a/file.tar.gz", "https://例え.jp/日本語のとても長い名前.zip", "ab", "日",
            "e\u{301}e\u{301}e\u{301}e\u{301}",
        ])
    func fitting(text: String) {
        for columns in 0...80 {
            let end = DisplayText.fitted(text, columns: columns)
            let middle = DisplayText.fittedInMiddle(text, columns: columns)
            #expect(DisplayText.width(end) <= columns, "\(end) in \(columns)")
            #expect(DisplayText.width(middle) <= columns, "\(middle) in \(columns)")
            if DisplayText.width(text) <= columns {
                #expect(end == text)
                #expect(middle == text)
            }
        }
    }

    @Test("a URL cut in its middle keeps host and file name") func middle() {
        let cut = DisplayText.fittedInMiddle(
            "https://example.org/very/long/path/to/a/file.tar.gz", columns: 31)
        #expect(DisplayText.width(cut) == 31)
        #expect(cut.hasPrefix("https://exa"))
        #expect(cut.hasSuffix("file.tar.gz"))
    }

    @Test("padding fills up on either side") func padding() {
        #expect(DisplayText.padded("日", columns: 4) == "日  ")
        #expect(DisplayText.aligned("ab", columns: 4) == "  ab")
        #expect(DisplayText.aligned("abcde", columns: 4) == "abcde")
    }
}
