import Testing

@testable internal import Wire

@Suite struct HTTPURLTests {
    static let accepted: [(text: String, host: String, port: UInt16, target: String)] = [
        ("http://example.org", "example.org", 80, "/"),
        ("https://example.org", "example.org", 443, "/"),
        ("HTTPS://EXAMPLE.Org/A", "example.org", 443, "/A"),
        ("http://example.org?q", "example.org", 80, "/?q"),
        ("http://example.org#f", "example.org", 80, "/"),
        ("http://example.org/?", "example.org", 80, "/?"),
        ("http://example.org:/a", "example.org", 80, "/a"),
        ("http://example.org:00080/a", "example.org", 80, "/a"),
        ("http://example.org:1/a", "example.org", 1, "/a"),
        ("http://example.org:65535/a", "example.org", 65535, "/a"),
        ("http://a_b-c.example.org./", "a_b-c.example.org.", 80, "/"),
        ("http://127.0.0.1:8080/a", "127.0.0.1", 8080, "/a"),
        ("http://255.255.255.255/", "255.255.255.255", 80, "/"),
        ("http://1.2.3.4.example/", "1.2.3.4.example", 80, "/"),
        ("http://0x7f.example/", "0x7f.example", 80, "/"),
        ("http://x0x7f/", "x0x7f", 80, "/"),
        ("http://[::1]:8080/a", "[::1]", 8080, "/a"),
        ("http://[2001:DB8::A]", "[2001:db8::a]", 80, "/"),
        ("http://user:p@ss@example.org/a", "example.org", 80, "/a"),
        ("http://user@example.org:81", "example.org", 81, "/"),
        ("http://b\u{FC}cher.example/a", "b\u{FC}cher.example", 80, "/a"),
        ("http://h/a/./b/../c", "h", 80, "/a/./b/../c"),
        ("http://h//a//b", "h", 80, "//a//b"),
        ("http://h/%41%7e%e9", "h", 80, "/%41%7e%e9"),
        ("http://h/a b", "h", 80, "/a%20b"),
        ("http://h/100%", "h", 80, "/100%25"),
        ("http://h/%4", "h", 80, "/%254"),
        ("http://h/%4g%zz", "h", 80, "/%254g%25zz"),
        ("http://h/%%41", "h", 80, "/%25%41"),
        ("http://h/\u{E9}", "h", 80, "/%C3%A9"),
        ("http://h/\u{1F600}?\u{E9}", "h", 80, "/%F0%9F%98%80?%C3%A9"),
        ("http://h/\"<>\\^`{|}[]", "h", 80, "/%22%3C%3E%5C%5E%60%7B%7C%7D%5B%5D"),
        ("http://h/-._~!$&'()*+,;=:@", "h", 80, "/-._~!$&'()*+,;=:@"),
        ("http://h/a?b/c?d[]= e#f", "h", 80, "/a?b/c?d%5B%5D=%20e"),
        ("http://h/a?b#c?d", "h", 80, "/a?b"),
        ("http://h?/@x:1", "h", 80, "/?/@x:1"),
    ]

    @Test(arguments: accepted)
    func splitsAndEncodes(_ row: (text: String, host: String, port: UInt16, target: String)) throws {
        let url = try HTTPURL(parsing: row.text)
        #expect(url.origin.host == row.host)
        #expect(url.origin.port == row.port)
        #expect(url.target == row.target)
    }

    static let refused: [(text: String, error: URLError)] = [
        ("", .noScheme),
        (" http://h/", .noScheme),
        ("example.org/a", .noScheme),
        ("example.org:8080/a", .noScheme),
        ("example.org:path", .noScheme),
        ("localhost:8080", .noScheme),
        ("/a", .noScheme),
        ("//h/a", .noScheme),
        ("://h", .noScheme),
        ("1http://h", .noScheme),
        ("http", .noScheme),
        ("ftp://h/a", .unsupportedScheme("ftp")),
        ("FTP://h/a", .unsupportedScheme("ftp")),
        ("file:///etc/passwd", .unsupportedScheme("file")),
        ("mailto:joe@example.org", .unsupportedScheme("mailto")),
        ("magnet:?xt=x", .unsupportedScheme("magnet")),
        ("httpx://h/", .unsupportedScheme("httpx")),
        ("http:h/a", .noAuthority),
        ("http:/h/a", .noAuthority),
        ("http:", .noAuthority),
        ("http://", .emptyHost),
        ("http:///a", .emptyHost),
        ("http://?a", .emptyHost),
        ("http://:80/", .emptyHost),
        ("http://user@/", .emptyHost),
        ("http://h/a\tb", .controlCharacter),
        ("http://h/a\u{0}b", .controlCharacter),
        ("http://h/a\u{7F}", .controlCharacter),
        ("http://h/?\r\nX: y", .controlCharacter),
        ("http://h/#\u{1B}[", .controlCharacter),
        ("http://h\n/", .controlCharacter),
        ("http://a b/", .blankInHost),
        ("http://a\\b/", .backslashInHost),
        ("http://h\\@evil/", .backslashInHost),
        ("http://h%2eexample/", .percentInHost),
        ("http://h%/", .percentInHost),
        ("http://a<b/", .characterInHost("<")),
        ("http://a|b/", .characterInHost("|")),
        ("http://a^b/", .characterInHost("^")),
        ("http://a{b}/", .characterInHost("{")),
        ("http://a\"b/", .characterInHost("\"")),
        ("http://a`b/", .characterInHost("`")),
        ("http://a,b/", .characterInHost(",")),
        ("http://*.example/", .characterInHost("*")),
        ("http://a]b/", .malformedIPv6),
        ("http://a[b/", .malformedIPv6),
        ("http://a..b/", .labelLength),
        ("http://.a/", .labelLength),
        ("http://./", .labelLength),
        ("http://a../", .labelLength),
        ("http://\(String(repeating: "a", count: 64)).example/", .labelLength),
        ("http://127.1/", .malformedIPv4),
        ("http://0x7f.1/", .malformedIPv4),
        ("http://0x7f000001/", .malformedIPv4),
        ("http://0x/", .malformedIPv4),
        ("http://2130706433/", .malformedIPv4),
        ("http://256.1.1.1/", .malformedIPv4),
        ("http://1.2.3.4.5/", .malformedIPv4),
        ("http://1.2.3/", .malformedIPv4),
        ("http://01.2.3.4/", .malformedIPv4),
        ("http://1.2.3.4./", .malformedIPv4),
        ("http://a.99999999999999999999/", .malformedIPv4),
        ("http://example.0X1f/", .malformedIPv4),
        ("http://[::1/", .malformedIPv6),
        ("http://[]/", .malformedIPv6),
        ("http://[::1]x/", .malformedIPv6),
        ("http://[fe80::1%25eth0]/", .zoneIdentifier),
        ("http://[fe80::1%eth0]/", .zoneIdentifier),
        ("http://[v1.x]/", .malformedIPv6),
        ("http://h:0/", .malformedPort),
        ("http://h:65536/", .malformedPort),
        ("http://h:99999999999999999999999/", .malformedPort),
        ("http://h:-1/", .malformedPort),
        ("http://h:8a/", .malformedPort),
        ("http://h: 80/", .malformedPort),
        ("http://a:b:80/", .malformedPort),
        ("http://[::1]:x/", .malformedPort),
        ("http://::1/", .emptyHost),
    ]

    @Test(arguments: refused)
    func refusesWithItsReason(_ row: (text: String, error: URLError)) {
        #expect(throws: row.error) { try HTTPURL(parsing: row.text) }
    }

    static let everyError: [URLError] = [
        .noScheme, .unsupportedScheme("ftp"), .noAuthority, .controlCharacter, .emptyHost, .blankInHost,
        .backslashInHost, .percentInHost, .characterInHost("<"), .hostNotUTF8, .labelLength, .malformedIPv4,
        .malformedIPv6, .zoneIdentifier, .malformedPort,
    ]

    @Test(arguments: everyError)
    func saysErrorsAsClauses(_ error: URLError) {
        let text = error.description
        #expect(text.count > 10 && text.first?.isUppercase == false || text.hasPrefix("IPv"))
        #expect(!text.hasSuffix("."))
    }

    static func parses(_ text: String) -> Bool {
        do throws(URLError) {
            _ = try HTTPURL(parsing: text)
            return true
        } catch {
            return false
        }
    }

    static let addresses: [(text: String, isAddress: Bool)] = [
        ("::", true), ("::1", true), ("1::", true), ("1:2:3:4:5:6:7:8", true), ("1:2:3:4:5:6:7::", true),
        ("::2:3:4:5:6:7:8", true), ("::ffff:1.2.3.4", true), ("1:2:3:4:5:6:1.2.3.4", true),
        ("1::1.2.3.4", true),
        ("FFFF::abcd", true), ("1:2:3::6:7:8", true),
        ("", false), (":", false), (":::", false), ("1", false), ("1:", false), (":1", false), ("1:2", false),
        ("1::2::3", false), ("1:::2", false), ("1:2:3:4:5:6:7:8:9", false), ("1:2:3:4:5:6:7:8::", false),
        ("::1:2:3:4:5:6:7:8", false), ("1:2:3:4:5:6:7", false), ("12345::", false), ("g::", false),
        ("1.2.3.4", false), ("::1.2.3", false), ("::1.2.3.256", false), ("::1.2.3.4:5", false),
        ("1:2:3:4:5:6:7:1.2.3.4", false), ("::01.2.3.4", false), ("1:2:3:4:5:6:7:8:", false), ("::1:", false),
    ]

    @Test(arguments: addresses)
    func tellsIPv6Addresses(_ row: (text: String, isAddress: Bool)) {
        #expect(withBytes(of: row.text) { Host.isIPv6($0) } == row.isAddress)
        #expect(Self.parses("http://[\(row.text)]/") == row.isAddress)
    }

    @Test func boundsTheNameAtTheLimit() throws {
        let label = String(repeating: "a", count: 63)
        let longest = "\(label).\(label).\(label).\(String(repeating: "a", count: 61))"
        #expect(longest.utf8.count == 253)
        #expect(try HTTPURL(parsing: "http://\(longest)/").origin.host == longest)
        #expect(try HTTPURL(parsing: "http://\(longest)./").origin.host == longest + ".")
        #expect(throws: URLError.labelLength) { try HTTPURL(parsing: "http://\(longest)a/") }
    }

    @Test func encodesBytesThatAreNoUTF8() throws {
        let bytes = Array("http://u\u{E9}@h/".utf8) + [0xE9, 0xFF] + Array("?".utf8) + [0xE9]
        let url = try bytes.withUnsafeBytes { try HTTPURL(parsing: $0) }
        #expect(url.target == "/%E9%FF?%E9")
        #expect(url.userinfo == "u%C3%A9")
    }

    @Test func refusesAHostThatIsNoUTF8() {
        let bytes = Array("http://".utf8) + [0x61, 0xE9] + Array("/".utf8)
        #expect(throws: URLError.hostNotUTF8) { try bytes.withUnsafeBytes { try HTTPURL(parsing: $0) } }
    }

    @Test func knowsWhichHostsNeedIDNA() throws {
        #expect(try HTTPURL(parsing: "http://b\u{FC}cher.example/").origin.needsIDNA)
        #expect(try !HTTPURL(parsing: "http://xn--bcher-kva.example/").origin.needsIDNA)
    }

    @Test func keepsFragmentAndEmptyParts() throws {
        let url = try HTTPURL(parsing: "http://@h/a?#a b")
        #expect(url.userinfo == nil)
        #expect(url.query?.isEmpty == true)
        #expect(url.fragment == "a%20b")
        #expect(try HTTPURL(parsing: "http://h/a").query == nil)
    }

    static let extensions: [(path: String, expected: String)] = [
        ("/a.gz", ".gz"), ("/a.tar.gz", ".gz"), ("/a.GZ", ".GZ"), ("/a", ""), ("/", ""), ("/a.b/c", ""),
        ("/.gz", ""), ("/a/.profile", ""), ("/..gz", ".gz"), ("/a.", ""), ("/a.b-c", ""), ("/a.%67z", ""),
        ("/a%2egz", ""), ("/a.gz/", ""), ("/a.gz?x=b.zip", ".gz"), ("/a?x=b.zip", ""), ("/a.gz#b.zip", ".gz"),
        ("/a.g z", ""), ("/a.\u{E9}", ""), ("/a.7z", ".7z"), ("/a;v=1.0", ".0"), ("", ""),
        ("/a.abcdefghijklmnop", ".abcdefghijklmnop"), ("/a.abcdefghijklmnopq", ""),
    ]

    @Test(arguments: extensions)
    func takesTheExtensionOfTheLastSegment(_ row: (path: String, expected: String)) throws {
        #expect(try HTTPURL(parsing: "http://example.org" + row.path).fileExtension == row.expected)
    }
}
