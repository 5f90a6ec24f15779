import Reconcile
import Testing

@Suite("Answers")
struct AnswersTests {
    /// Every status that a line of the rule names, and its neighbours.
    static let rows: [(statuses: ClosedRange<Int>, meaning: Disposition)] = [
        (100...199, .retry), (200...201, .never), (202...202, .later), (203...299, .never),
        (300...399, .never),
        (400...403, .never), (404...404, .gone), (405...407, .never), (408...408, .retry),
        (409...409, .never),
        (410...410, .gone), (411...424, .never), (425...425, .retry), (426...428, .never),
        (429...429, .retry),
        (430...499, .never), (500...599, .retry), (600...999, .retry),
    ]

    static var table: RuleTable {
        RuleTable(
            title: "Answers",
            about: """
                What a status means when it brings no body of ours; 200, 203, 206, 304, 416 and the redirects come here \
                only when Judge found no use for them.
                """,
            columns: ["status", "meaning"],
            rows: rows.map { row in
                let name =
                    row.statuses.count == 1
                    ? "\(row.statuses.lowerBound)" : "\(row.statuses.lowerBound)-\(row.statuses.upperBound)"
                return [name, words(disposition(ofStatus: row.statuses.lowerBound))]
            })
    }

    static func words(_ disposition: Disposition) -> String {
        switch disposition {
        case .retry: "again within the tries, then 75"
        case .later: "not yet: 75"
        case .never: "failed: 1"
        case .gone: "failed: 1; a copy stays"
        }
    }

    @Test("a status means", arguments: rows)
    func means(_ row: (statuses: ClosedRange<Int>, meaning: Disposition)) {
        for status in row.statuses { #expect(disposition(ofStatus: status) == row.meaning, "\(status)") }
    }

    @Test("a number that is no status is no reason to give up", arguments: [Int.min, -1, 0, 99, 1000, .max])
    func nonsense(_ status: Int) { #expect(disposition(ofStatus: status) == .retry) }
}
