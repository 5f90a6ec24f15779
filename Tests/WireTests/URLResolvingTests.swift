import Testing

@testable internal import Wire

@Suite struct URLResolvingTests {
    /// RFC 3986 5.4.1 and 5.4.2, for the base `http://a/b/c/d;p?q`.
    static let rfc: [(reference: String, expected: String)] = [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
        ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
    ]
    static let others: [(reference: String, expected: String)] = [
        ("https://B.example:8443/x/../y?z", "https://b.example:8443/y?z"),
        ("http://b/./x", "http://b/x"),
        ("  /g \r\n", "http://a/g"),
        ("/a b/\u{E9}?\u{E9} ", "http://a/a%20b/%C3%A9?%C3%A9"),
        ("/%2e%2e/g", "http://a/%2e%2e/g"),
        ("\\\\evil/x", "http://a/b/c/%5C%5Cevil/x"),
        ("./x:y", "http://a/b/c/x:y"),
        ("/..", "http://a/"),
        ("//u@g:81/../x", "http://u@g:81/x"),
        ("/a//../b", "http://a/a/b"),
        ("?", "http://a/b/c/d;p?"),
        ("/g?", "http://a/g?"),
    ]

    static func whole(_ url: HTTPURL) -> String {
        let userinfo = url.userinfo.map { $0 + "@" } ?? ""
        let fragment = url.fragment.map { "#" + $0 } ?? ""
        return "\(url.origin.scheme)://\(userinfo)\(url.origin.authority)\(url.target)\(fragment)"
    }

    @Test(arguments: rfc + others)
    func followsReferences(_ row: (reference: String, expected: String)) throws {
        let base = try HTTPURL(parsing: "http://a/b/c/d;p?q")
        #expect(Self.whole(try base.resolving(row.reference)) == row.expected)
    }

    static let refused: [(reference: String, error: URLError)] = [
        ("ftp://b/x", .unsupportedScheme("ftp")), ("mailto:x", .unsupportedScheme("mailto")),
        ("javascript:x", .unsupportedScheme("javascript")), ("http:g", .noAuthority),
        ("http:///x", .emptyHost),
        ("///x", .emptyHost), ("/x\r\nSet-Cookie: y", .controlCharacter), ("//a b/", .blankInHost),
        ("//g\\h/", .backslashInHost), ("//h:99999/", .malformedPort),
    ]

    @Test(arguments: refused)
    func refusesReferences(_ row: (reference: String, error: URLError)) throws {
        let base = try HTTPURL(parsing: "http://a/b/c/d;p?q")
        #expect(throws: row.error) { try base.resolving(row.reference) }
    }

    @Test func keepsUserinfoOnlyWithoutAnotherAuthority() throws {
        let base = try HTTPURL(parsing: "http://u:p@a/b")
        #expect(try base.resolving("/c").userinfo == "u:p")
        #expect(try base.resolving("c").userinfo == "u:p")
        #expect(try base.resolving("//a/c").userinfo == nil)
        #expect(try base.resolving("http://a/c").userinfo == nil)
        #expect(try base.resolving("http://v:q@b/c").userinfo == "v:q")
    }

    @Test func keepsTheFragmentUnlessTheReferenceHasOne() throws {
        let base = try HTTPURL(parsing: "http://a/b#old")
        for reference in ["/c", "//d/c", "http://d/c", "?x", ""] {
            #expect(try base.resolving(reference).fragment == "old")
        }
        #expect(try base.resolving("/c#new").fragment == "new")
        #expect(try base.resolving("http://d/c#").fragment?.isEmpty == true)
    }

    @Test func resolvesManySegmentsInLinearTime() throws {
        let base = try HTTPURL(parsing: "http://a/")
        let deep = String(repeating: "/x", count: 50_000) + String(repeating: "/..", count: 49_999)
        #expect(try base.resolving(deep).path == "/x/")
    }
}
