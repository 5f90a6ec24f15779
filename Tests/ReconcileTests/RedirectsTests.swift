import Reconcile
import Testing
import Wire

/// One line of the rule of where a redirect leads.
struct RedirectRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let from: String
    let location: String?
    /// The next URL and whether it has the entry's origin; nil when it is not followed.
    let expected: (target: String, isHome: Bool)?
    let obstacle: Redirects.Obstacle?

    init(_ from: String, _ location: String?, to target: String, isHome: Bool) {
        testDescription = "\(from) → \(location ?? "nowhere")"
        self.from = from
        self.location = location
        expected = (target, isHome)
        obstacle = nil
    }

    init(_ from: String, _ location: String?, _ obstacle: Redirects.Obstacle) {
        testDescription = "\(from) → \(location ?? "nowhere")"
        self.from = from
        self.location = location
        expected = nil
        self.obstacle = obstacle
    }

    /// Follows; the answer in words.
    var answer: Result<Redirects, Redirects.Obstacle> {
        get throws {
            var redirects = Redirects(from: try HTTPURL(parsing: from))
            do throws(Redirects.Obstacle) {
                try redirects.follow(location)
                return .success(redirects)
            } catch {
                return .failure(error)
            }
        }
    }
}

private let home = "https://a.example/x/y?z"

@Suite("Redirects")
struct RedirectsTests {
    static let rows: [RedirectRow] = [
        RedirectRow(home, "https://a.example/other", to: "https://a.example/other", isHome: true),
        RedirectRow(home, "other", to: "https://a.example/x/other", isHome: true),
        RedirectRow(home, "../other", to: "https://a.example/other", isHome: true),
        RedirectRow(home, "?q", to: "https://a.example/x/y?q", isHome: true),
        RedirectRow(home, home, to: home, isHome: true),
        RedirectRow(home, "https://A.Example:443/x", to: "https://a.example/x", isHome: true),
        RedirectRow(home, "//b.example/x", to: "https://b.example/x", isHome: false),
        RedirectRow(home, "https://a.example:8443/x", to: "https://a.example:8443/x", isHome: false),
        RedirectRow("http://a.example/x", "https://a.example/x", to: "https://a.example/x", isHome: false),
        RedirectRow("http://a.example/x", "http://b.example/x", to: "http://b.example/x", isHome: false),
        RedirectRow(home, "http://a.example/x", .downgrade(to: "http://a.example")),
        RedirectRow(home, "ftp://a.example/x", .unsupportedScheme("ftp")),
        RedirectRow(home, "file:///etc/passwd", .unsupportedScheme("file")),
        RedirectRow(home, "data:text/plain,x", .unsupportedScheme("data")),
        RedirectRow(home, nil, .noLocation),
        RedirectRow(home, "", .noLocation),
        RedirectRow(home, "https://", .badLocation("\(URLError.emptyHost)")),
        RedirectRow(home, "https://a.example:99999/x", .badLocation("\(URLError.malformedPort)")),
    ]

    static var table: RuleTable {
        RuleTable(
            title: "Redirects",
            about: """
                301, 302, 303, 307 and 308 are followed, \(Redirects.limit) hops at most; they are counted, not \
                remembered. Credentials and `header=` fields go to the entry's own origin only.
                """,
            columns: ["from", "Location", "what follows"],
            rows: rows.map { [$0.from, $0.location.map { "`\($0)`" } ?? "absent", words($0)] })
    }

    static func words(_ row: RedirectRow) -> String {
        do {
            switch try row.answer {
            case .success(let redirects):
                return "\(redirects.current.origin)\(redirects.current.target)"
                    + (redirects.isAtHome ? "" : ", without credentials")
            case .failure(.noLocation): return "failed: 1, it does not say where to"
            case .failure(.badLocation(let words)): return "failed: 1, \(words)"
            case .failure(.unsupportedScheme(let scheme)): return "failed: 1, \(scheme) is not http or https"
            case .failure(.downgrade): return "failed: 1, from https to http"
            case .failure(.tooMany): return "failed: 1, too many"
            }
        } catch {
            return "\(error)"
        }
    }

    @Test("from", arguments: rows)
    func follows(_ row: RedirectRow) throws {
        switch try row.answer {
        case .success(let redirects):
            let expected = try #require(row.expected)
            #expect("\(redirects.current.origin)\(redirects.current.target)" == expected.target)
            #expect(redirects.isAtHome == expected.isHome)
            #expect(redirects.count == 1)
        case .failure(let obstacle):
            #expect(obstacle == row.obstacle)
        }
    }

    @Test("a URL may come back, and the limit counts hops")
    func countsHops() throws {
        var redirects = Redirects(from: try HTTPURL(parsing: "http://a.example/"))
        for hop in 1...Redirects.limit {
            try redirects.follow(hop % 2 == 0 ? "/" : "/other")
            #expect(redirects.count == hop)
        }
        #expect(throws: Redirects.Obstacle.tooMany) { try redirects.follow("/") }
        #expect(redirects.count == Redirects.limit)
    }

    @Test("credentials stay at home when a chain leaves, and may be used again when it returns")
    func leavesAndReturns() throws {
        var redirects = Redirects(from: try HTTPURL(parsing: "https://a.example/"))
        #expect(redirects.isAtHome)
        try redirects.follow("https://b.example/")
        #expect(!redirects.isAtHome)
        try redirects.follow("https://a.example/2")
        #expect(redirects.isAtHome)
    }

    @Test("once https, a chain never goes back to http")
    func neverBack() throws {
        var redirects = Redirects(from: try HTTPURL(parsing: "http://a.example/"))
        try redirects.follow("https://b.example/")
        #expect(throws: Redirects.Obstacle.downgrade(to: "http://a.example")) {
            try redirects.follow("http://a.example/")
        }
        #expect("\(redirects.current.origin)" == "https://b.example")
    }
}
