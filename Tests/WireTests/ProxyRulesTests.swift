import Testing

@testable internal import Wire

@Suite struct ProxyRulesTests {
    /// What variables and option decide for `http://origin.test` and `https://origin.test`, as `host:port`.
    static let sources: [(option: String?, variables: [String: String], http: String?, https: String?)] = [
        (nil, [:], nil, nil),
        (nil, ["http_proxy": "http://p:1"], "p:1", nil),
        (nil, ["https_proxy": "http://p:1"], nil, "p:1"),
        (nil, ["all_proxy": "http://p:1"], "p:1", "p:1"),
        (nil, ["HTTP_PROXY": "http://p:1"], "p:1", nil),
        (nil, ["HTTPS_PROXY": "http://p:1"], nil, "p:1"),
        (nil, ["ALL_PROXY": "http://p:1"], "p:1", "p:1"),
        (nil, ["http_proxy": "http://l:1", "HTTP_PROXY": "http://u:1"], "l:1", nil),
        (nil, ["https_proxy": "http://l:1", "HTTPS_PROXY": "http://u:1"], nil, "l:1"),
        (nil, ["all_proxy": "http://l:1", "ALL_PROXY": "http://u:1"], "l:1", "l:1"),
        (nil, ["http_proxy": "http://p:1", "all_proxy": "http://a:1"], "p:1", "a:1"),
        (nil, ["HTTP_PROXY": "http://p:1", "all_proxy": "http://a:1"], "p:1", "a:1"),
        (nil, ["HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"], nil, nil),
        (nil, ["http_proxy": "http://p:1", "REQUEST_METHOD": "GET"], "p:1", nil),
        (nil, ["HTTPS_PROXY": "http://p:1", "REQUEST_METHOD": "GET"], nil, "p:1"),
        (nil, ["HTTP_PROXY": "http://p:1", "ALL_PROXY": "http://a:1", "REQUEST_METHOD": ""], "p:1", "a:1"),
        ("http://o:2", [:], "o:2", "o:2"),
        ("http://o:2", ["http_proxy": "http://p:1", "https_proxy": "http://p:1"], "o:2", "o:2"),
        ("", ["http_proxy": "http://p:1", "all_proxy": "http://p:1"], nil, nil),
        ("none", ["http_proxy": "http://p:1", "all_proxy": "http://p:1"], nil, nil),
        ("http://o:2", ["no_proxy": "origin.test"], nil, nil),
        (nil, ["all_proxy": "http://p:1", "no_proxy": "origin.test:80"], nil, "p:1"),
        (nil, ["all_proxy": "http://p:1", "NO_PROXY": "origin.test:443"], "p:1", nil),
        (nil, ["all_proxy": "http://p:1", "NO_PROXY": "origin.test", "no_proxy": "x"], "p:1", "p:1"),
        (nil, ["http_proxy": "p"], "p:80", nil),
        (nil, ["http_proxy": "p:3128"], "p:3128", nil),
        (nil, ["http_proxy": "HTTP://P:3128/path?query"], "p:3128", nil),
        (nil, ["http_proxy": "http://[::1]:3128"], "[::1]:3128", nil),
        (nil, ["http_proxy": "u:pw@p:3128"], "p:3128", nil),
        // Nobody is asked through a proxy, so it does not matter that it could not be.
        (nil, ["all_proxy": "socks5://p:1", "no_proxy": "*"], nil, nil),
        // Each scheme has a proxy of its own, so the one for all is not used.
        (
            nil, ["all_proxy": "socks5://p:1", "http_proxy": "http://a:1", "https_proxy": "http://b:1"],
            "a:1", "b:1"
        ),
    ]

    @Test(arguments: sources)
    func takesTheProxyFromOptionAndEnvironment(
        _ row: (option: String?, variables: [String: String], http: String?, https: String?)
    ) throws {
        let rules = try ProxyRules(
            option: row.option, variable: { row.variables[$0].flatMap { $0.isEmpty ? nil : $0 } })
        let found = { (scheme: Scheme) in
            rules.proxy(for: Origin(scheme: scheme, host: "origin.test", port: scheme.defaultPort))
                .map { "\($0.origin.host):\($0.origin.port)" }
        }
        #expect(found(.http) == row.http)
        #expect(found(.https) == row.https)
    }

    @Test(
        arguments: [
            (nil, "https_proxy", "socks5://u:pw@p:1", "https_proxy", "not socks5://"),
            (nil, "ALL_PROXY", "socks5h://p:1", "ALL_PROXY", "not socks5h://"),
            (nil, "http_proxy", "https://u:pw@p", "http_proxy", "not https://"),
            (nil, "http_proxy", "http://u:pw@", "http_proxy", "no host"),
            (nil, "http_proxy", "http://u:pw@p:99999", "http_proxy", "port"),
            (nil, "http_proxy", "http://u:p w@p q:1", "http_proxy", "blank"),
            ("socks4://u:pw@p", "http_proxy", "http://p", "--proxy", "not socks4://"),
            ("://", "http_proxy", "http://p", "--proxy", "scheme"),
        ] as [(String?, String, String, String, String)])
    func refusesWhatItCannotUseAndNamesWhereItStands(
        option: String?, name: String, value: String, named: String, words: String
    ) {
        let error = #expect(throws: ProxyRulesError.self) {
            try ProxyRules(option: option, variable: { $0 == name ? value : nil })
        }
        #expect(error?.name == named)
        let text = error.map { "\($0.cause)" } ?? ""
        #expect(text.contains(words), "\(text)")
        #expect(!text.contains("pw"))
    }

    @Test(
        arguments: [
            ("http://user:pa%40ss@p:1", "Basic dXNlcjpwYUBzcw=="),
            ("http://user@p:1", "Basic dXNlcjo="), ("user:pw@p:1", "Basic dXNlcjpwdw=="), ("http://p:1", nil),
        ] as [(String, String?)])
    func keepsTheCredentialsOfAProxyAndNeverShowsThem(text: String, authorization: String?) throws {
        let proxy = try Proxy(parsing: text)
        #expect(proxy.authorization == authorization)
        #expect("\(proxy)" == (authorization == nil ? "http://p:1" : "http://***@p:1"))
        #expect(proxy.subject == "proxy p:1")
    }
}

@Suite struct ProxyExceptionsTests {
    static let rows: [(list: String, host: String, port: UInt16, isExempt: Bool)] = [
        ("", "a.test", 80, false), (" , ,", "a.test", 80, false),
        ("*", "a.test", 80, true), ("*", "[::1]", 443, true), ("x,*", "a.test", 80, true),
        ("*:8080", "a.test", 8080, true), ("*:8080", "a.test", 80, false),
        // Names, at label borders.
        ("a.test", "a.test", 80, true), ("a.test", "b.a.test", 80, true), ("a.test", "c.b.a.test", 80, true),
        ("a.test", "ba.test", 80, false), ("a.test", "test", 80, false), ("a.test", "a.test.org", 80, false),
        (".a.test", "a.test", 80, true), (".a.test", "b.a.test", 80, true),
        (".a.test", "ba.test", 80, false),
        ("*.a.test", "b.a.test", 80, true), ("*.a.test", "ba.test", 80, false),
        ("test", "a.test", 80, true), ("a.test.", "a.test", 80, true), ("a.test", "a.test.", 80, true),
        ("A.Test", "a.test", 80, true), ("a.*", "a.test", 80, false), ("b*", "b.test", 80, false),
        ("localhost", "localhost", 8080, true), ("x-y_z", "a.x-y_z", 80, true),
        // Several, however they are separated.
        ("x,a.test", "a.test", 80, true), ("x a.test", "a.test", 80, true),
        (" x , a.test ,", "a.test", 80, true),
        ("x\ta.test\n", "a.test", 80, true), ("x,,a.test", "a.test", 80, true),
        // Ports.
        ("localhost:8080", "localhost", 8080, true), ("localhost:8080", "localhost", 80, false),
        ("a.test:443", "b.a.test", 443, true), (".a.test:443", "b.a.test", 80, false),
        ("127.0.0.1:81", "127.0.0.1", 81, true), ("127.0.0.1:81", "127.0.0.1", 80, false),
        ("[::1]:81", "[::1]", 81, true), ("[::1]:81", "[::1]", 80, false),
        ("a.test:", "a.test", 80, false), ("a.test:0", "a.test", 80, false),
        ("a.test:65536", "a.test", 80, false),
        ("a.test:x", "a.test", 80, false), ("a.test:80:80", "a.test", 80, false),
        // Addresses.
        ("127.0.0.1", "127.0.0.1", 80, true), ("127.0.0.1", "127.0.0.2", 80, false),
        ("0.0.1", "127.0.0.1", 80, false), (".1", "127.0.0.1", 80, false), ("1", "127.0.0.1", 80, false),
        ("::1", "[::1]", 80, true), ("[::1]", "[::1]", 80, true), ("0:0:0:0:0:0:0:1", "[::1]", 80, true),
        ("2001:DB8::1", "[2001:db8:0::0001]", 80, true), ("::1", "[::2]", 80, false),
        ("127.0.0.1", "[::ffff:127.0.0.1]", 80, true), ("::ffff:127.0.0.1", "127.0.0.1", 80, true),
        ("::1", "a.test", 80, false), ("[::1", "[::1]", 80, false), ("127.0.0.256", "127.0.0.1", 80, false),
        // Networks.
        ("127.0.0.0/8", "127.255.1.2", 80, true), ("127.0.0.0/8", "128.0.0.1", 80, false),
        ("10.1.2.3/8", "10.9.9.9", 80, true), ("192.168.1.128/25", "192.168.1.127", 80, false),
        ("192.168.1.128/25", "192.168.1.129", 80, true), ("192.0.2.4/30", "192.0.2.7", 80, true),
        ("192.0.2.4/30", "192.0.2.8", 80, false), ("192.0.2.7/32", "192.0.2.7", 80, true),
        ("192.0.2.7/32", "192.0.2.6", 80, false), ("0.0.0.0/0", "8.8.8.8", 80, true),
        ("0.0.0.0/0", "[2001:db8::1]", 80, false), ("0.0.0.0/0", "a.test", 80, false),
        ("10.0.0.0/33", "10.0.0.1", 80, false), ("10.0.0.0/", "10.0.0.1", 80, false),
        ("10.0.0.0/x", "10.0.0.1", 80, false), ("10.0.0.0/8/8", "10.0.0.1", 80, false),
        ("10.0.0.0/99999999999999999999", "10.0.0.1", 80, false),
        ("fd00::/8", "[fdff::1]", 80, true), ("fd00::/8", "[fe00::1]", 80, false),
        ("2001:db8::/33", "[2001:db8:7fff::1]", 80, true),
        ("2001:db8::/33", "[2001:db8:8000::1]", 80, false),
        ("::/0", "[2001:db8::1]", 80, true), ("::/0", "127.0.0.1", 80, false), ("::/129", "[::1]", 80, false),
        ("::ffff:10.0.0.0/104", "10.9.9.9", 80, true), ("::ffff:10.0.0.0/95", "10.9.9.9", 80, false),
        ("127.0.0.0/8:81", "127.0.0.1", 81, true), ("127.0.0.0/8:81", "127.0.0.1", 80, false),
        // What nobody understands means nothing, and spoils nothing.
        ("http://a.test", "a.test", 80, false), ("a.test/path", "a.test", 80, false),
        ("[,a.test", "a.test", 80, true),
        ("/,:,.,..,*.,[],a.test", "a.test", 80, true), ("/,:,.,..,*.,[]", "a.test", 80, false),
    ]

    @Test(arguments: rows)
    func holdForTheseHosts(_ row: (list: String, host: String, port: UInt16, isExempt: Bool)) {
        let origin = Origin(scheme: .http, host: row.host, port: row.port)
        #expect(ProxyExceptions(parsing: row.list).contain(origin) == row.isExempt)
    }

    @Test func holdForAPortThatIsNotWritten() throws {
        let exceptions = ProxyExceptions(parsing: "a.test:443")
        #expect(exceptions.contain(try HTTPURL(parsing: "https://a.test/").origin))
        #expect(!exceptions.contain(try HTTPURL(parsing: "http://a.test/").origin))
    }

    @Test func canBePutIntoAnotherFormByName() {
        let origin = Origin(scheme: .http, host: "a.xn--bcher-kva.test", port: 80)
        let exceptions = ProxyExceptions(parsing: "Bücher.test,127.0.0.1")
        #expect(!exceptions.contain(origin))
        let mapped = exceptions.mappingNames { $0 == "bücher.test" ? "xn--bcher-kva.test" : nil }
        #expect(mapped.contain(origin))
        #expect(mapped.contain(Origin(scheme: .http, host: "127.0.0.1", port: 80)))
    }

    @Test(
        arguments: [
            ("1.2.3.4", [1, 2, 3, 4]), ("::", [UInt8](repeating: 0, count: 16)),
            ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
            ("a::b", [0, 10] + [UInt8](repeating: 0, count: 12) + [0, 11]),
            ("ffff::", [255, 255] + [UInt8](repeating: 0, count: 14)),
            ("64:ff9b::1.2.3.4", [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]),
            ("::ffff:1.2.3.4", [1, 2, 3, 4]), ("::ffff:102:304", [1, 2, 3, 4]),
            ("", nil), ("1.2.3", nil), ("1.2.3.4.5", nil), (":::", nil), ("::1::", nil),
            ("1:2:3:4:5:6:7:8:9", nil), ("[::1]", nil), ("a.test", nil),
        ] as [(String, [UInt8]?)])
    func addressesAreReadAsBits(text: String, octets: [UInt8]?) {
        #expect(IPNumber(text)?.octets == octets)
    }
}
