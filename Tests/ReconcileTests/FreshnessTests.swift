import Reconcile
import Testing

/// One line of the rule of what a server's own words on freshness are worth.
struct FreshnessRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let cacheControl: String?
    let expires: String?
    let date: Int64?
    let age: String?
    let isOwnOrigin: Bool
    let isSurprisingHTML: Bool
    let now: Int64
    /// Seconds from now; nil when the server is not heard.
    let lifetime: Int64?
    let isImmutable: Bool

    init(
        _ name: String, cacheControl: String? = nil, expires: String? = nil, date: Int64? = nil,
        age: String? = nil, isOwnOrigin: Bool = true, isSurprisingHTML: Bool = false,
        now: Int64 = Marks.second,
        _ lifetime: Int64?, isImmutable: Bool = false
    ) {
        testDescription = name
        self.cacheControl = cacheControl
        self.expires = expires
        self.date = date
        self.age = age
        self.isOwnOrigin = isOwnOrigin
        self.isSurprisingHTML = isSurprisingHTML
        self.now = now
        self.lifetime = lifetime
        self.isImmutable = isImmutable
    }

    var answer: ServerFreshness {
        ServerFreshness(
            cacheControl: cacheControl, expires: expires, date: date, age: age, isOwnOrigin: isOwnOrigin,
            isSurprisingHTML: isSurprisingHTML, now: now)
    }
}

private let hour = "Sun, 06 Nov 1994 09:49:37 GMT"

@Suite("Freshness")
struct FreshnessTests {
    static let rows: [FreshnessRow] = [
        FreshnessRow("nothing said", nil),
        FreshnessRow("`Cache-Control: max-age=60`", cacheControl: "max-age=60", 60),
        FreshnessRow("`Cache-Control: max-age=0`", cacheControl: "max-age=0", 0),
        FreshnessRow("`Cache-Control: max-age=60, max-age=10`", cacheControl: "max-age=60, max-age=10", 10),
        FreshnessRow("`Cache-Control: max-age=x`", cacheControl: "max-age=x", 0),
        FreshnessRow(
            "`Cache-Control: max-age=99999999999999999999`", cacheControl: "max-age=99999999999999999999",
            1 << 31),
        FreshnessRow("`Cache-Control: no-cache, max-age=60`", cacheControl: "no-cache, max-age=60", nil),
        FreshnessRow("`Cache-Control: no-store, max-age=60`", cacheControl: "no-store, max-age=60", nil),
        FreshnessRow("`Cache-Control: public` alone", cacheControl: "public", nil),
        FreshnessRow(
            "`Cache-Control: max-age=60, immutable`", cacheControl: "max-age=60, immutable", 60,
            isImmutable: true),
        FreshnessRow("`Cache-Control: immutable` alone", cacheControl: "immutable", nil, isImmutable: true),
        FreshnessRow(
            "`Cache-Control: no-cache, immutable, max-age=60`",
            cacheControl: "no-cache, immutable, max-age=60", nil),
        FreshnessRow("`max-age=60`, `Age: 20`", cacheControl: "max-age=60", age: "20", 40),
        FreshnessRow("`max-age=60`, `Age: 70`", cacheControl: "max-age=60", age: "70", 0),
        FreshnessRow("`max-age=60`, `Age: -5`", cacheControl: "max-age=60", age: "-5", 60),
        FreshnessRow("`max-age=86460`, `Age: soon`", cacheControl: "max-age=86460", age: "soon", 60),
        FreshnessRow("`max-age=86460`, an empty Age", cacheControl: "max-age=86460", age: "", 60),
        FreshnessRow(
            "`max-age=2147483648`, `Age: 99999999999999999999`", cacheControl: "max-age=2147483648",
            age: "99999999999999999999", 0),
        FreshnessRow("Expires an hour after Date", expires: hour, date: Marks.second, 3600),
        FreshnessRow(
            "Expires an hour after Date, whatever our clock says", expires: hour, date: Marks.second, now: 5,
            3600),
        FreshnessRow("Expires in an hour, no Date", expires: hour, 3600),
        FreshnessRow("Expires before Date", expires: Marks.date, date: Marks.second + 1, 0),
        FreshnessRow("`Expires: 0`", expires: "0", date: Marks.second, 0),
        FreshnessRow("an Expires that is no date", expires: "tomorrow", 0),
        FreshnessRow(
            "`max-age=60` beside Expires in an hour", cacheControl: "max-age=60", expires: hour,
            date: Marks.second, 60),
        FreshnessRow(
            "`Cache-Control: public` beside Expires in an hour", cacheControl: "public", expires: hour,
            date: Marks.second, 3600),
        FreshnessRow(
            "`max-age=60, immutable` from another origin", cacheControl: "max-age=60, immutable",
            isOwnOrigin: false, nil),
        FreshnessRow(
            "`max-age=60, immutable` for html at a name that is not html",
            cacheControl: "max-age=60, immutable",
            isSurprisingHTML: true, nil),
    ]

    static var table: RuleTable {
        RuleTable(
            title: "Freshness",
            about: """
                For how many seconds an answer is fresh by the server's own words. They count where the entry's max-age \
                is `server`, and for `immutable`; a 304 replaces what was stored.
                """,
            columns: ["what the answer says", "fresh for", "immutable"],
            rows: rows.map { row in
                let answer = row.answer
                return [
                    row.testDescription, answer.until.map { "\($0 - row.now)" } ?? "unknown",
                    answer.isImmutable ? (answer.until == nil ? "within no lifetime" : "yes") : "no",
                ]
            })
    }

    @Test("the server says", arguments: rows)
    func says(_ row: FreshnessRow) {
        #expect(row.answer.until == row.lifetime.map { row.now + $0 })
        #expect(row.answer.isImmutable == row.isImmutable)
    }

    @Test("no clock and no number makes it trap", arguments: [Int64.min, -1, 0, .max - 1, .max])
    func extremes(_ now: Int64) {
        for date in [nil, Int64.min, 0, .max] {
            for age in [nil, "0", "9223372036854775807", "-9223372036854775808", "99999999999999999999"] {
                for (control, expires) in [("max-age=2147483648", nil), (nil, hour), (nil, "0")] {
                    let answer = ServerFreshness(
                        cacheControl: control, expires: expires, date: date, age: age, isOwnOrigin: true,
                        isSurprisingHTML: false, now: now)
                    #expect(answer.until ?? .min >= now)
                }
            }
        }
    }
}
