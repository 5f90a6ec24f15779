import Testing

@testable internal import Wire

@Suite struct ContentRangeTests {
    static let accepted: [(text: String, part: ClosedRange<UInt64>?, total: UInt64?)] = [
        ("bytes 0-0/1", 0...0, 1), ("bytes 5-9/10", 5...9, 10), ("BYTES 5-9/10", 5...9, 10),
        ("bytes 5-9/*", 5...9, nil),
        ("bytes */10", nil, 10), ("bytes */0", nil, 0), ("bytes 00-09/010", 0...9, 10),
        (
            "bytes 0-9223372036854775806/9223372036854775807", 0...9_223_372_036_854_775_806,
            9_223_372_036_854_775_807
        ),
    ]

    @Test(arguments: accepted)
    func readsRanges(_ row: (text: String, part: ClosedRange<UInt64>?, total: UInt64?)) {
        #expect(ContentRange(parsing: row.text) == ContentRange(part: row.part, total: row.total))
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes */*", "bytes 5-4/10", "bytes 5-10/10", "bytes 0-0/0", "bytes 5-9",
        "bytes 5/10",
        "bytes -9/10", "bytes 5-/10", "bytes 5-9/", "bytes 5-9/10/11", "bytes 5-9-10/11", "bytes=5-9/10",
        "bytes: 5-9/10",
        "bytes 5 - 9/10", "bytes  5-9/10", "bytes 5-9/ 10", "bytes 5-9/10 ", " bytes 5-9/10", "items 5-9/10",
        "5-9/10",
        "bytes +5-9/10", "bytes 5-9/-1", "bytes 0x5-9/10", "bytes *-9/10", "bytes 5-*/10",
        "bytes 5-9/10, bytes 5-9/10",
        "bytes 0-9223372036854775807/*", "bytes 0-0/9223372036854775808", "bytes 0-18446744073709551615/*",
        "bytes 99999999999999999999-99999999999999999999/*", "bytes */99999999999999999999",
    ])
    func refusesOthers(_ text: String) {
        #expect(ContentRange(parsing: text) == nil)
    }
}

@Suite struct CacheControlTests {
    static let ages: [(text: String, maxAge: Int64?)] = [
        ("", nil), ("public", nil), ("max-age=60", 60), ("MAX-AGE=60", 60), ("public, max-age=60 ", 60),
        ("max-age=\"60\"", 60), ("max-age=0", 0), ("max-age=60, max-age=30, max-age=90", 30), ("max-age", 0),
        ("max-age=", 0), ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age=x", 0), ("max-age=\"", 0),
        ("max-age= 6 0", 0),
        ("max-age=2147483647", 2_147_483_647), ("max-age=2147483648", 2_147_483_648),
        ("max-age=2147483649", 2_147_483_648), ("max-age=99999999999999999999", 2_147_483_648),
        ("s-maxage=5", nil),
        ("x-max-age=5", nil), ("private=\"a, max-age=5\", max-age=7", 7), ("x=\"\\\", max-age=5\"", nil),
        ("private=\"a, max-age=5", nil), (",,max-age=5,,", 5),
    ]

    @Test(arguments: ages)
    func readsAges(_ row: (text: String, maxAge: Int64?)) {
        #expect(CacheControl(row.text).maxAge == row.maxAge)
    }

    static let flags: [(text: String, flags: [Bool])] = [
        ("", [false, false, false, false]), ("no-store", [true, false, false, false]),
        ("No-Cache", [false, true, false, false]), ("no-cache=\"set-cookie\"", [false, true, false, false]),
        ("immutable,max-age=1", [false, false, true, false]),
        ("a, must-revalidate", [false, false, false, true]),
        ("no-store, no-cache, immutable, must-revalidate", [true, true, true, true]),
        ("no-storex, xno-cache, x=\"immutable\", x=\"a, no-store\"", [false, false, false, false]),
    ]

    @Test(arguments: flags)
    func readsFlags(_ row: (text: String, flags: [Bool])) {
        let control = CacheControl(row.text)
        #expect([control.noStore, control.noCache, control.isImmutable, control.mustRevalidate] == row.flags)
    }
}

@Suite struct MediaTypeTests {
    static let rows: [(text: String?, expected: String?)] = [
        (nil, nil), ("", nil), ("text", nil), ("text/", nil), ("/html", nil), ("text/html", "text/html"),
        ("Text/HTML; Charset=utf-8", "text/html"), (" text/html ;x", "text/html"),
        ("text/html;", "text/html"),
        ("a/b/c", nil), ("text /html", nil), ("text/html, text/plain", nil),
        ("application/x-foo+bar", "application/x-foo+bar"),
    ]

    @Test(arguments: rows)
    func takesTypeAndSubtype(_ row: (text: String?, expected: String?)) {
        #expect(mediaType(row.text) == row.expected)
    }
}

@Suite struct DigestFieldTests {
    static let structured: [(text: String, digests: [String])] = [
        ("sha-256=:Zm9v:", ["sha-256 666f6f"]),
        ("sha-256=:Zm9v:, SHA-512=:Zg==:", ["sha-256 666f6f", "sha-512 66"]),
        ("sha-256=:Zm9v:;q=1,md5=:Zm8=: ", ["sha-256 666f6f", "md5 666f"]),
        ("sha-256=:Zm9v:, sha-256=:Zg==:", ["sha-256 66"]),
        ("x=\"a, sha-256=:Zm9v:\", md5=:Zg==:", ["md5 66"]),
        ("sha-256=::", ["sha-256 "]),
        ("", []), ("sha-256", []), ("sha-256=Zm9v", []), ("sha-256=:Zm9v", []), ("sha-256=:Zm9:", []),
        ("sha-256=:Zm9v:x", []), ("=:Zm9v:", []), ("sha 256=:Zm9v:", []), ("sha-256=:Zm 9v:", []), ("=", []),
        (":", []),
    ]
    static let old: [(text: String, digests: [String])] = [
        ("SHA-256=Zm9v", ["sha-256 666f6f"]), ("SHA-256=Zm9v,MD5=Zg==", ["sha-256 666f6f", "md5 66"]),
        ("crc32c=n03x6A==, md5=Zm8=", ["crc32c 9f4df1e8", "md5 666f"]), ("UNIXsum=30637", []),
        ("sha-256=:Zm9v:", []),
        ("", []), ("md5=", []), ("md5", []), ("=Zm9v", []),
    ]

    private static func hex(_ digests: [(algorithm: String, bytes: [UInt8])]) -> [String] {
        digests.map { digest in
            digest.algorithm + " "
                + digest.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    @Test(arguments: structured)
    func readsStructuredDigests(_ row: (text: String, digests: [String])) {
        #expect(Self.hex(parseDigestField(row.text)) == row.digests)
    }

    @Test(arguments: old)
    func readsOldDigests(_ row: (text: String, digests: [String])) {
        #expect(Self.hex(parseOldDigestField(row.text)) == row.digests)
    }

    @Test func boundsTheMembers() {
        let many = (0..<1000).map { "a\($0)=:Zg==:" }.joined(separator: ",")
        #expect(parseDigestField(many).count == 64)
    }
}

@Suite struct RequestTests {
    @Test func writesTheRequestWithHostFirst() throws {
        var buffer = Array("x".utf8)
        try appendRequest(
            to: &buffer, target: "/a?b", host: "h:81",
            fields: [("Range", "bytes=5-"), ("X-A", ""), ("If-Range", "\"\u{E9}\"")])
        let expected =
            "xGET /a?b HTTP/1.1\r\nHost: h:81\r\nRange: bytes=5-\r\nX-A: \r\nIf-Range: \"\u{E9}\"\r\n\r\n"
        #expect(String(decoding: buffer, as: UTF8.self) == expected)
    }

    @Test func writesOtherMethods() throws {
        var buffer: [UInt8] = []
        try appendRequest(to: &buffer, method: "CONNECT", target: "h:443", host: "h:443", fields: [])
        #expect(String(decoding: buffer, as: UTF8.self) == "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n")
    }

    struct Injection: Sendable {
        var method = "GET"
        var target = "/"
        var host = "h"
        var name = "A"
        var value = "b"
        let error: RequestError
    }
    static let injections: [Injection] = [
        Injection(method: "GET /x", error: .malformedMethod), Injection(method: "", error: .malformedMethod),
        Injection(target: "/ HTTP/1.1\r\nA: b", error: .malformedTarget),
        Injection(target: "/a b", error: .malformedTarget),
        Injection(target: "/a\n", error: .malformedTarget), Injection(target: "/\0", error: .malformedTarget),
        Injection(target: "/\u{E9}", error: .malformedTarget), Injection(target: "", error: .malformedTarget),
        Injection(host: "h\r\nA: b", error: .malformedHost), Injection(host: "", error: .malformedHost),
        Injection(name: "A\r\nB", error: .malformedField("A\r\nB")),
        Injection(name: "A:", error: .malformedField("A:")),
        Injection(name: "", error: .malformedField("")),
        Injection(value: "b\r\nC: d", error: .malformedField("A")),
        Injection(value: "b\rc", error: .malformedField("A")),
        Injection(value: "b\nc", error: .malformedField("A")),
        Injection(value: "b\0c", error: .malformedField("A")),
    ]

    @Test(arguments: injections)
    func writesNothingWhenALineEndWouldGetIn(_ row: Injection) {
        var buffer: [UInt8] = []
        #expect(throws: row.error) {
            try appendRequest(
                to: &buffer, method: row.method, target: row.target, host: row.host,
                fields: [("Z", "z"), (row.name, row.value)])
        }
        #expect(buffer.isEmpty)
    }
}
