import Foundation
import Testing

/// The rows of one rule as a table for people: what is asked of the code, and what the code answers.
struct RuleTable {
    let title: String
    /// Says what the rule is about; may be empty.
    let about: String
    let columns: [String]
    let rows: [[String]]

    var markdown: String {
        func line(_ cells: [String]) -> String {
            "| " + cells.map { $0.replacingOccurrences(of: "|", with: "\\|") }.joined(separator: " | ") + " |"
        }
        var lines = ["## \(title)", ""]
        if !about.isEmpty { lines += [about, ""] }
        lines += [line(columns), line(columns.map { _ in "---" })]
        lines += rows.map(line)
        return lines.joined(separator: "\n") + "\n"
    }
}

@Suite("docs/rules.md")
struct RuleDocumentTests {
    static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/rules.md").path

    static var document: String {
        let head = """
            # The rules of a transfer

            What `Sources/Reconcile` decides, one table a rule. The tables are written by the tests from the rows that
            they assert, with the answers that the code gives: `UPDATE_DOCS=1 swift test --filter RuleDocumentTests`
            writes this file, and without the variable the same test fails when file and code differ.

            """
        let tables = [
            AskTests.table, JudgeTests.table, AnswersTests.table, SettleTests.table, TrustedLengthTests.table,
            FreshnessTests.table, BackoffTests.table, MemoryTests.table, RedirectsTests.table,
            NetworkHealthTests.table, SuspicionsTests.table,
        ]
        return head + tables.map { "\n" + $0.markdown }.joined()
    }

    @Test("says what the code does")
    func isUpToDate() throws {
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
            try Data(Self.document.utf8).write(to: URL(fileURLWithPath: Self.path))
        }
        let written = try String(decoding: Data(contentsOf: URL(fileURLWithPath: Self.path)), as: UTF8.self)
        #expect(written == Self.document, "run UPDATE_DOCS=1 swift test --filter RuleDocumentTests")
    }

    @Test("has no row twice")
    func hasNoRowTwice() {
        let names = Self.document.split(separator: "\n").filter {
            $0.hasPrefix("|") && !$0.hasPrefix("| --- ")
        }
        let headings = Set(names.filter { name in names.filter { $0 == name }.count > 1 })
        #expect(headings.isEmpty, "\(headings)")
    }
}
