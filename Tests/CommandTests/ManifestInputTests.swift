internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Manifests as they come", .scratch)
struct ManifestInputTests {
    /// A file in which `@` stands for the origin, and what a run makes of it.
    struct File: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        /// The targets that are asked for, in any order.
        let targets: [String]
        let code: Int32
        /// The numbers of the lines that are reported.
        let bad: [Int]

        init(_ description: String, _ text: String, _ targets: [String], code: Int32 = 0, bad: [Int] = []) {
            self.init(description, Array(text.utf8), targets, code: code, bad: bad)
        }

        init(_ description: String, _ bytes: [UInt8], _ targets: [String], code: Int32 = 0, bad: [Int] = []) {
            testDescription = description
            self.bytes = bytes
            self.targets = targets
            self.code = code
            self.bad = bad
        }

        /// With the origin written in.
        func written(for origin: String) -> [UInt8] {
            bytes.flatMap { $0 == UInt8(ascii: "@") ? Array(origin.utf8) : [$0] }
        }
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    static let files = [
        File("a byte order mark", mark + Array("@/1\n".utf8), ["/1"]),
        File("a byte order mark and a blank line", mark + Array("\n@/1\n".utf8), ["/1"]),
        File("a byte order mark and a comment", mark + Array("# x\n@/1\n".utf8), ["/1"]),
        File("a byte order mark and CRLF", mark + Array("@/1\r\n@/2\r\n".utf8), ["/1", "/2"]),
        File("a byte order mark and nothing", mark, []),
        File("CRLF", "@/1\r\n\r\n# x\r\n@/2\r\n", ["/1", "/2"]),
        File("two carriage returns at the end", "@/1\r\r\n@/2\n", ["/1", "/2"]),
        File("no end of the last line", "@/1\n@/2", ["/1", "/2"]),
        File("no end of the only line", "@/1", ["/1"]),
        File("a carriage return at the very end", "@/1\n@/2\r", ["/1", "/2"]),
        File("blanks around", "@/1 \t \n  @/2\n\t@/3\t\n", ["/1", "/2", "/3"]),
        File("nothing", "", []),
        File("one line end", "\n", []),
        File("blanks and comments", "  \n\t\n# a\n   # b\n", []),
        File("a comment behind a URL", "@/1 # one\n@/2\t# two\n", ["/1", "/2"]),
        File("the same URL twice", "@/1\n@/1\n", ["/1"]),
        File(
            "gzip",
            // `printf '@/1\n@/2\n'` cannot be compressed beforehand: see `gzip(_:)`.
            "@/1\n@/2\n", ["/1", "/2"]),
        File("a blank in a URL", "@/a b\n@/2\n", ["/2"], code: 1, bad: [1]),
        File(
            "a request hidden in a URL", "@/a HTTP/1.1\rX: y\n@/2\n", ["/2"], code: 1, bad: [1]),
        File("a carriage return in a URL", "@/a\rb\n@/2\n", ["/2"], code: 1, bad: [1]),
        File("a NUL in a URL", "@/2\n@/a\0b\n", ["/2"], code: 1, bad: [2]),
        File("a DEL in a URL", "@/2\n@/a\u{7F}b\n", ["/2"], code: 1, bad: [2]),
        File("an escape in a URL", "@/2\n@/a\u{1B}[2Jb\n", ["/2"], code: 1, bad: [2]),
        File("a TAB in a URL", "@/a\tb\n@/2\n", ["/2"], code: 1, bad: [1]),
        File(
            "URLs without a scheme or with half of one",
            "@/1\n127.0.0.1:80/1\nwww.example/x\n//127.0.0.1/x\nhttp:/127.0.0.1/x\nhttp//127.0.0.1/x\n@/2\n",
            ["/1", "/2"], code: 1, bad: [2, 3, 4, 5, 6]),
        File(
            "hosts that are none",
            "@/1\nhttp://[1::2::3]/\nhttp://[::1%25lo]/\nhttp://::1/\nhttp://[::1/\nhttp://0x7f.1/\n"
                + "http://127.1/\nhttp://a%41/\nhttp:///x\n",
            ["/1"], code: 1, bad: [2, 3, 4, 5, 6, 7, 8, 9]),
        File(
            "ports that are none",
            "@/1\nhttp://h:0/\nhttp://h:65536/\nhttp://h:+80/\nhttp://h:8 0/\nhttp://h:-1/\n"
                + "http://h:99999999999999999999/\n",
            ["/1"], code: 1, bad: [2, 3, 4, 5, 6, 7]),
        File(
            "schemes that are not spoken", "@/1\nftp://h/x\nfile:///etc/passwd\nmagnet:?x\n", ["/1"], code: 1,
            bad: [2, 3, 4]),
        File(
            "a line of more than a mebibyte", "@/1\n@/" + String(repeating: "x", count: 1 << 20) + "\n@/2\n",
            ["/1", "/2"], code: 1, bad: [2]),
        File("checksums that are none", "@/1\n\tchecksum=md5=12\n@/2\n", ["/2"], code: 1, bad: [2]),
        File("an option that nobody knows", "@/1\n\tfrobnicate=yes\n", ["/1"]),
    ]

    private func origin() throws -> TestOrigin {
        try TestOrigin { $0.respond(200, [], Array($0.request.target.utf8)) }
    }

    @Test("a manifest with", arguments: files)
    func manifest(_ file: File) throws {
        let origin = try origin()
        try write(file.written(for: origin.url), to: scratch("list"))
        if file.testDescription == "gzip" {
            let packed = Child.run("/bin/sh", ["-c", "gzip -c list > packed && mv packed list"])
            try #require(packed.code == 0, "\(packed)")
        }
        let outcome = try Program.run(["sync", scratch("list"), "--cache", Program.cache])
        #expect(outcome.code == file.code, "\(outcome)")
        #expect(outcome.output.isEmpty)
        #expect(origin.log.map(\.target).sorted() == file.targets)
        #expect(Program.finished == (try cacheNames(of: file.targets.map { origin.url + $0 })).sorted())
        for line in file.bad { #expect(outcome.errors.contains("list:\(line): "), "\(outcome)") }
        // Nothing of a line may steer the terminal of who reads the mail.
        #expect(outcome.errors.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 10 })
        // Each bad line is named once, in a sentence that one can read.
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == (file.code == 0 ? lines.count : file.bad.count + 1), "\(outcome)")
        #expect(lines.allSatisfy { $0.utf8.count < 1000 }, "\(outcome)")
    }

    @Test("with --strict nothing is asked for when any line is bad", arguments: files.filter { $0.code != 0 })
    func strict(_ file: File) throws {
        let origin = try origin()
        try write(file.written(for: origin.url), to: scratch("list"))
        let outcome = try Program.run(["sync", "--strict", scratch("list"), "--cache", Program.cache])
        #expect(outcome.code == 65, "\(outcome)")
        #expect(origin.log.isEmpty)
        #expect(Program.finished.isEmpty)
    }

    static let foreign: [(description: String, bytes: [UInt8], says: String)] = [
        ("UTF-16LE", [0xFF, 0xFE] + "http://h/\n".utf8.flatMap { [$0, 0] }, "UTF-16"),
        ("UTF-16BE", [0xFE, 0xFF] + "http://h/\n".utf8.flatMap { [0, $0] }, "UTF-16"),
        ("UTF-16LE without its mark", "http://h/\n".utf8.flatMap { [$0, 0] }, "UTF-16"),
        ("UTF-16BE without its mark", "http://h/\n".utf8.flatMap { [0, $0] }, "UTF-16"),
        ("a program", [0x7F] + Array("ELF".utf8) + pattern(seed: 5, count: 4096), "ELF"),
        ("a zip archive", Array("PK\u{3}\u{4}".utf8) + pattern(seed: 6, count: 4096), "zip"),
        ("zeros", [UInt8](repeating: 0, count: 4096), "binary"),
        ("a web page", Array("<!DOCTYPE html>\n<html>\n<p>404\n</html>\n".utf8), "list:1: "),
    ]

    @Test("a file that is no manifest", arguments: foreign)
    func noManifest(_ row: (description: String, bytes: [UInt8], says: String)) throws {
        try write(row.bytes, to: scratch("list"))
        let outcome = try Program.run(["sync", scratch("list"), "--cache", Program.cache])
        #expect(outcome.code == 65, "\(outcome)")
        #expect(outcome.errors.contains(row.says), "\(outcome)")
        #expect(outcome.errors.utf8.count < 2000)
    }

    @Test("two lines that contradict each other are both named, and neither is fetched")
    func contradiction() throws {
        let origin = try origin()
        let sum = String(repeating: "0", count: 31)
        let outcome = try Program.sync([
            "\(origin.url)/1\tchecksum=md5=\(sum)1", "\(origin.url)/2",
            "\(origin.url)/1\tchecksum=md5=\(sum)2",
        ])
        #expect(outcome.code == 1, "\(outcome)")
        #expect(outcome.errors.contains("manifest.txt:3: ") && outcome.errors.contains("manifest.txt:1"))
        #expect(origin.log.map(\.target) == ["/2"])
    }
}
