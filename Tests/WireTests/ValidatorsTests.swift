import Testing

@testable internal import Wire

@Suite struct ValidatorsTests {
    static let rows: [(fields: String, strong: StrongValidator?)] = [
        ("ETag: \"a\"", .etag("\"a\"")),
        ("ETag: \"\"", .etag("\"\"")),
        ("ETag: W/\"a\"", nil),
        ("ETag: a", nil),
        ("ETag: w/\"a\"", nil),
        ("ETag: \"a\"\nETag: \"b\"", nil),
        (
            "ETag: \"a\"\nLast-Modified: Sun, 06 Nov 1994 08:49:36 GMT\nDate: Sun, 06 Nov 1994 08:49:37 GMT",
            .etag("\"a\"")
        ),
        (
            "ETag: W/\"a\"\nLast-Modified: Sun, 06 Nov 1994 08:49:36 GMT\nDate: Sun, 06 Nov 1994 08:49:37 GMT",
            nil
        ),
        ("ETag: a\nLast-Modified: Sun, 06 Nov 1994 08:49:36 GMT\nDate: Sun, 06 Nov 1994 08:49:37 GMT", nil),
        ("ETag:\nLast-Modified: Sun, 06 Nov 1994 08:49:36 GMT\nDate: Sun, 06 Nov 1994 08:49:37 GMT", nil),
        (
            "Last-Modified: Sun, 06 Nov 1994 08:49:36 GMT\nDate: Sun, 06 Nov 1994 08:49:37 GMT",
            .lastModified("Sun, 06 Nov 1994 08:49:36 GMT")
        ),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\nDate: Sun, 06 Nov 1994 08:49:37 GMT", nil),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT\nDate: Sun, 06 Nov 1994 08:49:37 GMT", nil),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:36 GMT", nil),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:36 GMT\nDate: now", nil),
        ("Last-Modified: yesterday\nDate: Sun, 06 Nov 1994 08:49:37 GMT", nil),
        ("Date: Sun, 06 Nov 1994 08:49:37 GMT", nil),
        ("", nil),
    ]

    @Test(arguments: rows)
    func knowsWhatProvesThatBytesBelongTogether(_ row: (fields: String, strong: StrongValidator?)) throws {
        let text = row.fields.isEmpty ? "HTTP/1.1 200 OK" : "HTTP/1.1 200 OK\n" + row.fields
        let validators = Validators(head: try makeHead(text), now: 0)
        #expect(validators.strong == row.strong)
    }

    @Test func keepsValidatorsVerbatim() throws {
        let head = try makeHead(
            "HTTP/1.1 200 OK\nETag:  W/\"x y\" \nLast-Modified: whenever\nDate: Thu, 01 Jan 1970 00:00:09 GMT"
        )
        let validators = Validators(head: head, now: 0)
        #expect(validators.etag?.text == "W/\"x y\"")
        #expect(validators.etag?.kind == .malformed)
        #expect(validators.lastModified == "whenever")
        #expect(validators.date == nil, "beside an ETag nothing depends on it")
    }

    static let tags: [(text: String, kind: EntityTag.Kind)] = [
        ("\"a\"", .strong), ("\"\"", .strong), ("\"!#~\u{E9}\"", .strong), ("W/\"a\"", .weak),
        ("W/\"\"", .weak),
        ("a", .malformed), ("\"", .malformed), ("\"a", .malformed), ("a\"", .malformed),
        ("w/\"a\"", .malformed),
        ("W/a", .malformed), ("W/", .malformed), ("\"a\"b\"", .malformed), ("\"a b\"", .malformed),
        ("", .malformed),
        ("W/\u{301}\"a\"", .malformed), ("W\u{301}/\"a\"", .malformed), ("W/\"\u{301}\"", .weak),
        ("\"a\", \"b\"", .malformed), ("\"a\u{7F}\"", .malformed),
    ]

    @Test(arguments: tags)
    func tellsKindsOfEntityTags(_ row: (text: String, kind: EntityTag.Kind)) {
        #expect(EntityTag(row.text).kind == row.kind)
    }

    /// RFC 9110 8.8.3.2, and tags that are none.
    static let comparisons: [(one: String, other: String, strongly: Bool, weakly: Bool)] = [
        ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
        ("W/\"1\"", "\"1\"", false, true),
        ("\"1\"", "\"1\"", true, true), ("\"1\"", "\"2\"", false, false), ("x", "x", false, true),
        ("x", "\"x\"", false, false),
        // The same letter to a reader, other bytes to a server (a composed one, and one with its accent behind).
        ("\"\u{E9}\"", "\"e\u{301}\"", false, false), ("W/\"\u{E9}\"", "\"e\u{301}\"", false, false),
        ("\u{E9}", "e\u{301}", false, false), ("\"e\u{301}\"", "W/\"e\u{301}\"", false, true),
    ]

    @Test(arguments: comparisons)
    func comparesEntityTags(_ row: (one: String, other: String, strongly: Bool, weakly: Bool)) {
        let (one, other) = (EntityTag(row.one), EntityTag(row.other))
        #expect(one.stronglyEquals(other) == row.strongly)
        #expect(other.stronglyEquals(one) == row.strongly)
        #expect(one.weaklyEquals(other) == row.weakly)
        #expect(other.weaklyEquals(one) == row.weakly)
        let isSame = row.one.utf8.elementsEqual(row.other.utf8)
        #expect((one == other) == isSame)
        #expect(Set([one, other]).count == (isSame ? 1 : 2))
    }
}
