import Testing

@testable internal import Wire

@Suite struct MaskedURLTests {
    static let texts: [(written: String, masked: String)] = [
        ("http://h/a?b=c#d", "http://h/a?b=c#d"),
        ("http://user:pw@h/a", "http://***@h/a"),
        ("http://user@h/a", "http://***@h/a"),
        ("http://u:p@ss@h:81/a", "http://***@h:81/a"),
        ("http://h/a@b", "http://h/a@b"),
        ("http://h/a?x=u@b", "http://h/a?x=u@b"),
        ("http://h/?sig=abc", "http://h/?sig=***"),
        ("http://h/?a=1&Signature=abc&b=2", "http://h/?a=1&Signature=***&b=2"),
        ("http://h/?X-Amz-Signature=a&X-Amz-Date=1", "http://h/?X-Amz-Signature=***&X-Amz-Date=1"),
        ("http://h/?X-Amz-Credential=a", "http://h/?X-Amz-Credential=***"),
        ("http://h/?X-Amz-Security-Token=a", "http://h/?X-Amz-Security-Token=***"),
        (
            "http://h/?X-Goog-Signature=a&x-goog-credential=b",
            "http://h/?X-Goog-Signature=***&x-goog-credential=***"
        ),
        ("http://h/?AWSAccessKeyId=a&Expires=1", "http://h/?AWSAccessKeyId=***&Expires=1"),
        ("http://h/?Policy=a&Key-Pair-Id=b", "http://h/?Policy=***&Key-Pair-Id=***"),
        ("http://h/?sv=1&se=2&sp=r&sig=x%3D", "http://h/?sv=1&se=2&sp=r&sig=***"),
        ("http://h/?api%5Fkey=x", "http://h/?api%5Fkey=***"),
        ("http://h/?accessKey=x&account_key=y&monkey=z", "http://h/?accessKey=***&account_key=***&monkey=z"),
        ("http://h/?token=a=b;c?d&x=1", "http://h/?token=***&x=1"),
        ("http://h/?a;token=b", "http://h/?a;token=***"),
        ("http://h/?token", "http://h/?token"),
        ("http://h/?design=1&authors=2&keyword=3", "http://h/?design=1&authors=2&keyword=3"),
        ("http://h/#access_token=x&y=1", "http://h/#access_token=***&y=1"),
        ("http://h/?password=x#y", "http://h/?password=***#y"),
        ("http://user:pa/ss@h/a", "http://***@h/a"),
        ("http://user:p?x#y@h/a", "http://***@h/a"),
        ("http://user:pw@h:port/?token=x", "http://***@h:port/?token=***"),
        ("user:pw@h/a", "***@h/a"),
        ("//u:p@h", "//***@h"),
        ("ftp://u:p@h", "ftp://***@h"),
        ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
        ("user:pw@http://u:p@h", "***@http://***@h"),
        ("http://archive.test/2024/https://u:p@h/a@b", "http://archive.test/2024/https://***@h/a@b"),
        ("http://h/?a=ftp://u:p@h/&b=c", "http://h/?a=ftp://***@h/&b=c"),
        ("http://u:p@h/x://y:80/@z", "http://***@h/x://y:80/@z"),
        ("", ""), ("@", "***@"), ("?", "?"), ("://", "://"), ("=", "="), ("http://", "http://"),
    ]

    @Test(arguments: texts)
    func masksWrittenText(_ row: (written: String, masked: String)) {
        #expect(HTTPURL.maskedText(row.written) == row.masked)
        #expect(HTTPURL.maskedText(row.masked) == row.masked)
    }

    /// A fuzzer's, with the second credentials left in clear.
    @Test func masksWhatIsBehindAMaskedPart() {
        let found = "HT\u{14}\0\0e:rpa%e.3ass@EXA://Use:rpa%3ass@MPS:.org:8"
        #expect(HTTPURL.maskedText(found) == "***@EXA://***@MPS:.org:8")
    }

    @Test func masksInTimeThatGrowsWithTheText() {
        let long = String(repeating: "://a:b/", count: 20_000)
        #expect(HTTPURL.maskedText(long) == long)
        #expect(HTTPURL.maskedText(long + "@") == "://***@")
    }

    @Test(arguments: [
        ("a b", "a b"), ("u:p@h", "u:p@h"), ("(http://u:p@h)", "(http://***@h)"),
        ("http://\u{301}:p@h", "http://***@h"),
    ])
    func masksWordsThatHoldAURL(_ row: (written: String, masked: String)) {
        #expect(HTTPURL.maskedWord(row.written).utf8.elementsEqual(row.masked.utf8))
    }

    @Test func showsAURLWithoutItsSecrets() throws {
        let url = try HTTPURL(parsing: "https://u:p@h:8443/a%20b?x=1&token=s#f")
        #expect(url.masked == "https://***@h:8443/a%20b?x=1&token=***#f")
        #expect("\(url)" == url.masked)
        #expect(url.source == "https://h:8443/a%20b")
    }

    @Test func namesTheValuesThatItMasks() throws {
        let url = try HTTPURL(parsing: "https://h/a?x=1&token=s%20t&sig=&y=2#access_token=u&z")
        #expect(url.secretValues == ["s%20t", "", "u"])
        #expect(url.absoluteTarget == "https://h/a?x=1&token=s%20t&sig=&y=2")
        #expect(try HTTPURL(parsing: "http://u:p@h:81?a#b").absoluteTarget == "http://h:81/?a")
        #expect(HTTPURL.maskedWord("a@b") == "a@b")
        #expect(HTTPURL.maskedWord("http://a@b") == "http://***@b")
    }

    @Test func readsCredentialsDecoded() throws {
        let both = try #require(try HTTPURL(parsing: "http://a%40b:p%3Aq:%ZZ@h/").basicCredentials)
        #expect(both.user == Array("a@b".utf8))
        #expect(both.password == Array("p:q:%ZZ".utf8))
        let lone = try #require(try HTTPURL(parsing: "http://user@h/").basicCredentials)
        #expect(lone.user == Array("user".utf8) && lone.password.isEmpty)
        #expect(try HTTPURL(parsing: "http://h/").basicCredentials == nil)
    }

    @Test func writesBasicAuthorization() {
        // The example of RFC 7617 2.
        let field = basicAuthorization(user: Array("Aladdin".utf8), password: Array("open sesame".utf8))
        #expect(field == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }
}

@Suite struct Base64Tests {
    /// RFC 4648 10, and both special letters.
    static let pairs: [(bytes: [UInt8], text: String)] = [
        ([], ""), (Array("f".utf8), "Zg=="), (Array("fo".utf8), "Zm8="), (Array("foo".utf8), "Zm9v"),
        (Array("foob".utf8), "Zm9vYg=="), (Array("fooba".utf8), "Zm9vYmE="),
        (Array("foobar".utf8), "Zm9vYmFy"),
        ([0xFB, 0xEF, 0xFF], "++//"),
    ]

    @Test(arguments: pairs)
    func encodesAndDecodes(_ row: (bytes: [UInt8], text: String)) {
        #expect(Base64.encode(row.bytes) == row.text)
        #expect(Base64.decode(row.text.utf8) == row.bytes)
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Z===", "====", "=", "Zm 9", "Zm-_", "Zg==Zg==", "Zm8\n",
    ])
    func refusesOtherSpellings(_ text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test func returnsWhatWasEncoded() {
        let bytes = (0...255).map { UInt8($0) }
        for length in 0...256 {
            #expect(Base64.decode(Base64.encode(bytes.prefix(length)).utf8) == Array(bytes.prefix(length)))
        }
    }
}
