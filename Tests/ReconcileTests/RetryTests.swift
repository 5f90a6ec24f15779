import Reconcile
import Testing

@Suite("Backoff")
struct BackoffTests {
    static let rows: [(retry: Int, bound: Double)] = [
        (1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8), (6, 16), (7, 32), (8, 60), (9, 60), (1000, 60),
    ]

    static var table: RuleTable {
        RuleTable(
            title: "Backoff",
            about: "How long the wait before a retry is at most; it is drawn from all below that.",
            columns: ["retry", "seconds"],
            rows: rows.map { ["\($0.retry)", "\(backoff(retry: $0.retry, random: 1))"] })
    }

    @Test("is exponential with full jitter", arguments: rows)
    func backsOff(_ row: (retry: Int, bound: Double)) {
        #expect(backoff(retry: row.retry, random: 0) == 0)
        #expect(backoff(retry: row.retry, random: 0.25) == row.bound / 4)
        #expect(backoff(retry: row.retry, random: 0.5) == row.bound / 2)
        #expect(backoff(retry: row.retry, random: 1) == row.bound)
    }

    @Test("no number makes it trap or wait longer", arguments: [Int.min, -1, 0, .max])
    func extremes(_ retry: Int) {
        #expect((0...60).contains(backoff(retry: retry, random: 0.999)))
    }
}

/// Something that happens to the tries of an entry, and what must follow.
enum TryStep: Sendable {
    /// A try ended with so many bytes held.
    case ended(UInt64, RetryBudget.Next)
    /// A start from byte 0; whether it is allowed.
    case restarted(Bool)
}

struct BudgetRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let retries: Int
    let held: UInt64
    let steps: [TryStep]

    init(_ name: String, retries: Int = 4, held: UInt64 = 0, _ steps: [TryStep]) {
        testDescription = name
        self.retries = retries
        self.held = held
        self.steps = steps
    }
}

@Suite("Tries")
struct RetryBudgetTests {
    static let rows: [BudgetRow] = [
        BudgetRow("none left after the first", retries: 0, [.ended(0, .giveUp)]),
        BudgetRow(
            "as many as were given after the first",
            [
                .ended(0, .retry(1)), .ended(0, .retry(2)), .ended(0, .retry(3)), .ended(0, .retry(4)),
                .ended(0, .giveUp),
            ]),
        BudgetRow(
            "1 KiB is progress", retries: 0, [.ended(1024, .now), .ended(2048, .now), .ended(2048, .giveUp)]),
        BudgetRow("a byte less is none", retries: 1, [.ended(1023, .retry(1)), .ended(2046, .giveUp)]),
        BudgetRow(
            "progress counts from the furthest that was held", retries: 1, held: 5000,
            [.ended(6023, .retry(1)), .ended(7047, .now)]),
        BudgetRow(
            "bytes that were held before are no progress", retries: 1, held: 5000,
            [.ended(0, .retry(1)), .ended(5000, .giveUp)]),
        BudgetRow(
            "bytes below the furthest are no progress", retries: 1,
            [.ended(4096, .now), .ended(3000, .retry(1)), .ended(5119, .giveUp)]),
        BudgetRow(
            "progress gives no spent try back", retries: 1,
            [.ended(0, .retry(1)), .ended(1024, .now), .ended(1024, .giveUp)]),
        BudgetRow(
            "a restart spends one", retries: 1, held: 5000, [.restarted(true), .ended(100, .giveUp)]),
        BudgetRow(
            "after a restart progress counts from 0", retries: 1, held: 5000,
            [.restarted(true), .ended(1024, .now), .ended(1024, .giveUp)]),
        BudgetRow(
            "progress after a restart does not make the restart free", retries: 2, held: 5000,
            [.restarted(true), .ended(2048, .now), .ended(2048, .retry(2)), .ended(2048, .giveUp)]),
        BudgetRow(
            "at most five restarts", retries: 100, held: 5000,
            [
                .restarted(true), .restarted(true), .restarted(true), .restarted(true), .restarted(true),
                .restarted(false),
            ]),
        BudgetRow(
            "lengths beyond all bounds", retries: 1, held: .max,
            [.ended(.max, .retry(1)), .ended(0, .giveUp)]),
    ]

    @Test("of an entry in a run:", arguments: rows)
    func counts(_ row: BudgetRow) {
        var budget = RetryBudget(retries: row.retries, held: row.held)
        for (index, step) in row.steps.enumerated() {
            switch step {
            case .ended(let length, let next): #expect(budget.ended(holding: length) == next, "step \(index)")
            case .restarted(let isAllowed): #expect(budget.restarted() == isAllowed, "step \(index)")
            }
        }
    }

    @Test("end, whatever a server does that brings no bytes", arguments: [0, 1, 4, 50])
    func end(_ retries: Int) {
        var budget = RetryBudget(retries: retries, held: 0)
        var tries = 1
        while budget.ended(holding: UInt64(tries % 2) * 1000) != .giveUp, tries < 1000 { tries += 1 }
        #expect(tries == retries + 1)
    }
}

/// One line of the rule of when a remembered failure is asked for again.
struct MemoryRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Seconds before now.
    let failing: Int64
    let lastTry: Int64
    let expected: Bool

    var answer: Bool {
        isDue(failingSince: Marks.now - failing, lastTry: Marks.now - lastTry, now: Marks.now)
    }
}

@Suite("Memory")
struct MemoryTests {
    static let rows: [MemoryRow] = [
        MemoryRow(
            testDescription: "failed for the first time just now", failing: 0, lastTry: 0, expected: true),
        MemoryRow(testDescription: "failed once, 3 seconds ago", failing: 3, lastTry: 3, expected: true),
        MemoryRow(
            testDescription: "failing for 8 seconds, tried 2 ago", failing: 8, lastTry: 2, expected: true),
        MemoryRow(
            testDescription: "failing for 8 seconds, tried 1 ago", failing: 8, lastTry: 1, expected: false),
        MemoryRow(
            testDescription: "failing for 40,000 seconds, tried 10,000 ago", failing: 40_000, lastTry: 10_000,
            expected: true),
        MemoryRow(
            testDescription: "failing for 40,000 seconds, tried 9,999 ago", failing: 40_000, lastTry: 9999,
            expected: false),
        MemoryRow(
            testDescription: "failing for a year, tried 24 hours ago", failing: 31_536_000, lastTry: 86_400,
            expected: true),
        MemoryRow(
            testDescription: "failing for a year, tried a second less than 24 hours ago", failing: 31_536_000,
            lastTry: 86_399, expected: false),
        MemoryRow(
            testDescription: "the last try lies in the future", failing: 100, lastTry: -5, expected: true),
        MemoryRow(
            testDescription: "the last try lies before the first failure", failing: 10, lastTry: 20,
            expected: true),
    ]

    static var table: RuleTable {
        RuleTable(
            title: "Memory",
            about: """
                When a failure for good is asked for again: after a quarter of the time since it began to fail, counted \
                from its last try, at most 24 hours. A changed manifest line clears it.
                """,
            columns: ["the entry", "asked again"],
            rows: rows.map { [$0.testDescription, $0.answer ? "yes" : "not yet"] })
    }

    @Test("of a failure:", arguments: rows)
    func remembers(_ row: MemoryRow) { #expect(row.answer == row.expected) }

    @Test("no failure is remembered beyond a day after its last try, whatever the times are")
    func isNeverStuck() {
        let times: [Int64] = [.min, .min + 1, -1, 0, 1, 1_000_000, .max - 1, .max]
        for (since, lastTry) in pairs(times, times) {
            for now in times {
                let (idle, overflow) = now.subtractingReportingOverflow(lastTry)
                let isDue = isDue(failingSince: since, lastTry: lastTry, now: now)
                if overflow && now > lastTry || !overflow && idle >= 86_400 { #expect(isDue) }
            }
        }
    }

    static let holds: [(ahead: Int64?, holds: Bool)] = [
        (nil, false), (-1, false), (0, false), (1, true), (86_400, true), (86_401, false),
    ]

    @Test("a not-before holds up to a day ahead", arguments: holds)
    func holdsBackEntries(_ row: (ahead: Int64?, holds: Bool)) {
        #expect(holdsBack(notBefore: row.ahead.map { Marks.now + $0 }, now: Marks.now) == row.holds)
    }

    @Test("a not-before beyond all bounds is void")
    func boundless() {
        #expect(!holdsBack(notBefore: .max, now: .min))
        #expect(!holdsBack(notBefore: .max, now: 0))
        #expect(!holdsBack(notBefore: .min, now: .max))
    }
}
