import Reconcile
import Testing

/// What happens to connections, one after the other.
enum ConnectStep: Sendable {
    case fails(String, ConnectFailure)
    /// Fails, having begun before the failure before it was known.
    case failsToo(String, ConnectFailure)
    case connects(String)
}

struct HealthRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let steps: [ConnectStep]
    let isOffline: Bool
    let left: Set<String>

    init(_ name: String, _ steps: [ConnectStep], isOffline: Bool = false, left: Set<String> = []) {
        testDescription = name
        self.steps = steps
        self.isOffline = isOffline
        self.left = left
    }

    var health: NetworkHealth {
        var health = NetworkHealth()
        var clock: Int64 = 0
        for step in steps {
            switch step {
            case .fails(let host, let failure):
                health.failed(host: host, failure, began: clock, ended: clock + 10)
                clock += 10
            case .failsToo(let host, let failure):
                health.failed(host: host, failure, began: clock - 5, ended: clock + 1)
                clock += 1
            case .connects(let host):
                health.connected(host: host)
            }
        }
        return health
    }
}

@Suite("Offline")
struct NetworkHealthTests {
    static let hosts = ["a", "b", "c"]

    static let rows: [HealthRow] = [
        HealthRow("nothing yet", []),
        HealthRow("no route to one host", [.fails("a", .noRoute)]),
        HealthRow("no route to two hosts", [.fails("a", .noRoute), .fails("b", .noRoute)], isOffline: true),
        HealthRow(
            "no route to one host, then another connects, then no route",
            [.fails("a", .noRoute), .connects("b"), .fails("b", .noRoute)]),
        HealthRow(
            "no route to one host, three times",
            [.fails("a", .noRoute), .fails("a", .noRoute), .fails("a", .noRoute)], left: ["a"]),
        HealthRow("no name service, once", [.fails("a", .noNameService)]),
        HealthRow(
            "no name service, twice for one host",
            [.fails("a", .noNameService), .fails("a", .noNameService)],
            isOffline: true),
        HealthRow(
            "no name service, a connection, no name service",
            [.fails("a", .noNameService), .connects("b"), .fails("a", .noNameService)]),
        HealthRow(
            "no name service, an unknown host, no name service",
            [.fails("a", .noNameService), .fails("b", .unknownHost), .fails("a", .noNameService)]),
        HealthRow("two hosts are silent", [.fails("a", .silent), .fails("b", .silent)]),
        HealthRow(
            "three hosts are silent", [.fails("a", .silent), .fails("b", .silent), .fails("c", .silent)],
            isOffline: true),
        HealthRow(
            "two hosts are silent, one refuses, one is silent",
            [.fails("a", .silent), .fails("b", .silent), .fails("c", .refused), .fails("c", .silent)]),
        HealthRow(
            "two hosts are silent, one connects, one is silent",
            [.fails("a", .silent), .fails("b", .silent), .connects("c"), .fails("c", .silent)]),
        HealthRow(
            "one host is silent three times",
            [.fails("a", .silent), .fails("a", .silent), .fails("a", .silent)],
            left: ["a"]),
        HealthRow("one host is silent twice", [.fails("a", .silent), .fails("a", .silent)]),
        HealthRow(
            "one host refuses three times",
            [.fails("a", .refused), .fails("a", .refused), .fails("a", .refused)],
            left: ["a"]),
        HealthRow(
            "one host refuses twice, connects, and refuses twice",
            [
                .fails("a", .refused), .fails("a", .refused), .connects("a"), .fails("a", .refused),
                .fails("a", .refused),
            ]),
        HealthRow(
            "one host refuses three times, another connects in between",
            [.fails("a", .refused), .fails("a", .refused), .connects("b"), .fails("a", .refused)], left: ["a"]
        ),
        HealthRow(
            "one host refuses three workers at once",
            [.fails("a", .refused), .failsToo("a", .refused), .failsToo("a", .refused)]),
        HealthRow(
            "three hosts are unknown",
            [.fails("a", .unknownHost), .fails("b", .unknownHost), .fails("c", .unknownHost)]),
        HealthRow(
            "one host is unknown three times",
            [.fails("a", .unknownHost), .fails("a", .unknownHost), .fails("a", .unknownHost)], left: ["a"]),
        HealthRow(
            "offline, then one connects: the run ends all the same",
            [.fails("a", .noRoute), .fails("b", .noRoute), .connects("a")], isOffline: true),
    ]

    static var table: RuleTable {
        RuleTable(
            title: "Offline",
            about: """
                From the order of failed and good connects: an offline run stops asking and ends with 75; a host that \
                is left is not asked again in this run.
                """,
            columns: ["what happened", "the run", "hosts left"],
            rows: rows.map { row in
                let health = row.health
                let left = hosts.filter { health.isLeft(host: $0) }.joined(separator: ", ")
                return [
                    row.testDescription, health.isOffline ? "offline" : "goes on",
                    left.isEmpty ? "none" : left,
                ]
            })
    }

    @Test("is judged from the order of connects:", arguments: rows)
    func judges(_ row: HealthRow) {
        let health = row.health
        #expect(health.isOffline == row.isOffline)
        #expect(Set(Self.hosts.filter { health.isLeft(host: $0) }) == row.left)
    }
}

/// What a run sees of servers that may not be what they seem.
enum SightStep: Sendable {
    case page(String), samePage(UInt8, String, Bool), badName(String), badTime(String), goodCertificate,
        goodAnswer
}

struct SuspicionRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let steps: [SightStep]
    let expected: Suspicions.Finding?

    init(_ name: String, _ steps: [SightStep], _ expected: Suspicions.Finding?) {
        testDescription = name
        self.steps = steps
        self.expected = expected
    }

    func suspicions(_ check: (Bool) -> Void = { _ in }) -> Suspicions {
        var suspicions = Suspicions()
        for step in steps {
            switch step {
            case .page(let url): suspicions.sawPortal(url)
            case .samePage(let digest, let url, let isKnown):
                check(suspicions.sawPage([digest], at: url) == isKnown)
            case .badName(let host): suspicions.sawBadCertificate(host: host, isAboutTime: false)
            case .badTime(let host): suspicions.sawBadCertificate(host: host, isAboutTime: true)
            case .goodCertificate: suspicions.sawGoodCertificate()
            case .goodAnswer: suspicions.sawGoodAnswer()
            }
        }
        return suspicions
    }
}

@Suite("Suspicions")
struct SuspicionsTests {
    static let rows: [SuspicionRow] = [
        SuspicionRow("html where the name says otherwise, once", [.page("a")], nil),
        SuspicionRow("html where the name says otherwise, twice at one URL", [.page("a"), .page("a")], nil),
        SuspicionRow("html where the name says otherwise, at two URLs", [.page("a"), .page("b")], .portal),
        SuspicionRow(
            "html where the name says otherwise at two URLs, a good answer between",
            [.page("a"), .goodAnswer, .page("b")], nil),
        SuspicionRow(
            "the very same page at two URLs", [.samePage(1, "a", false), .samePage(1, "b", true)], .portal),
        SuspicionRow(
            "the very same page twice at one URL", [.samePage(1, "a", false), .samePage(1, "a", false)], nil),
        SuspicionRow("two pages at two URLs", [.samePage(1, "a", false), .samePage(2, "b", false)], nil),
        SuspicionRow("a certificate out of its time, one host", [.badTime("a"), .badTime("a")], nil),
        SuspicionRow("certificates out of their time, two hosts", [.badTime("a"), .badTime("b")], .clock),
        SuspicionRow(
            "certificates out of their time, two hosts, after a good one",
            [.goodCertificate, .badTime("a"), .badTime("b")], nil),
        SuspicionRow(
            "certificates out of their time, two hosts, before a good one",
            [.badTime("a"), .badTime("b"), .goodCertificate], nil),
        SuspicionRow("certificates of other names, two hosts", [.badName("a"), .badName("b")], nil),
        SuspicionRow(
            "certificates of other names, three hosts", [.badName("a"), .badName("b"), .badName("c")], .portal
        ),
    ]

    static var table: RuleTable {
        RuleTable(
            title: "Suspicions",
            about:
                "What a run takes for the fault of the network or of the clock rather than of the servers; it ends with 75.",
            columns: ["what was seen", "suspected"],
            rows: rows.map { row in
                let words =
                    switch row.suspicions().finding {
                    case .portal: "a captive portal"
                    case .clock: "the clock"
                    case nil: "nothing"
                    }
                return [row.testDescription, words]
            })
    }

    @Test("from what was seen:", arguments: rows)
    func suspects(_ row: SuspicionRow) {
        let suspicions = row.suspicions { #expect($0) }
        #expect(suspicions.finding == row.expected)
    }

    @Test("remember no more than a few hundred pages")
    func isBounded() {
        var suspicions = Suspicions()
        for page in 0..<1000 {
            let known = suspicions.sawPage([UInt8(page & 255), UInt8(page >> 8)], at: "\(page)")
            #expect(!known)
        }
    }
}
