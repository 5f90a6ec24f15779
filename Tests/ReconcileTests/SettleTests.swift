import Reconcile
import Testing

/// One line of the rule of what the end of a body means.
struct SettleRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let end: BodyEnd
    let expected: Settlement

    init(_ name: String, _ end: BodyEnd, _ expected: Settlement) {
        testDescription = name
        self.end = end
        self.expected = expected
    }
}

/// A body that was complete by its framing.
private func end(
    _ length: UInt64, of total: UInt64?, size: UInt64? = nil, fits: Bool? = nil, isMixed: Bool = false,
    isPart: Bool = false, again: Bool = false
) -> BodyEnd {
    BodyEnd(
        isComplete: true, length: length, total: total, expectedSize: size, checksumFits: fits,
        isMixed: isMixed, isPart: isPart, wasAskedAgain: again)
}

private func brokenOff(_ length: UInt64, of total: UInt64?) -> BodyEnd {
    BodyEnd(isComplete: false, length: length, total: total)
}

@Suite("Settle")
struct SettleTests {
    static let rows: [SettleRow] = [
        SettleRow("broken off at 40 of 100 bytes", brokenOff(40, of: 100), .keep),
        SettleRow("broken off, size unknown (the last chunk is missing)", brokenOff(40, of: nil), .keep),
        SettleRow("broken off with all bytes there", brokenOff(100, of: 100), .keep),
        SettleRow("all of 100 bytes", end(100, of: 100), .publish),
        SettleRow("an empty file", end(0, of: 0), .publish),
        SettleRow("a whole body of unknown size", end(40, of: nil), .publish),
        SettleRow("all of 100 bytes; the checksum fits", end(100, of: 100, fits: true), .publish),
        SettleRow("all of 100 bytes, which the manifest names too", end(100, of: 100, size: 100), .publish),
        SettleRow(
            "all of 100 bytes, from several answers", end(100, of: 100, isMixed: true, isPart: true), .publish
        ),
        SettleRow("a part up to 60 of 100 bytes", end(60, of: 100, isMixed: true, isPart: true), .askOn),
        SettleRow(
            "a part up to 60 of unknown size", end(60, of: nil, isMixed: true, isPart: true), .askOn),
        SettleRow(
            "a part up to 60 of unknown size; the checksum fits",
            end(60, of: nil, fits: true, isMixed: true, isPart: true), .publish),
        SettleRow(
            "a part up to 60 of unknown size; the checksum does not fit yet",
            end(60, of: nil, fits: false, isMixed: true, isPart: true), .askOn),
        SettleRow(
            "a part up to 60 of unknown size; the manifest's size is 100",
            end(60, of: nil, size: 100, isMixed: true, isPart: true), .askOn),
        SettleRow(
            "a part up to 60 of unknown size; the manifest's size is 60",
            end(60, of: nil, size: 60, isMixed: true, isPart: true), .publish),
        SettleRow(
            "a part up to 60 of unknown size; the manifest's size is 50",
            end(60, of: nil, size: 50, isMixed: true, isPart: true), .askAgain(.size)),
        SettleRow("more bytes than the answer said", end(101, of: 100), .drop(.size)),
        SettleRow(
            "all of 100 bytes; the manifest's size is another", end(100, of: 100, size: 99), .drop(.size)),
        SettleRow(
            "a whole body of unknown size; the manifest's size is another", end(40, of: nil, size: 41),
            .drop(.size)),
        SettleRow(
            "all of 100 bytes; the checksum is wrong", end(100, of: 100, fits: false), .drop(.checksum)),
        SettleRow(
            "all of 100 bytes, from several answers; the checksum is wrong",
            end(100, of: 100, fits: false, isMixed: true), .askAgain(.checksum)),
        SettleRow(
            "all of 100 bytes, from several answers; the manifest's size is another",
            end(100, of: 100, size: 99, isMixed: true), .askAgain(.size)),
        SettleRow(
            "all of 100 bytes, from several answers; the checksum is wrong again",
            end(100, of: 100, fits: false, isMixed: true, again: true), .drop(.checksum)),
        SettleRow(
            "all of 100 bytes, from one answer; the checksum is wrong again",
            end(100, of: 100, fits: false, again: true), .drop(.checksum)),
    ]

    static var table: RuleTable {
        RuleTable(
            title: "Settle", about: "What becomes of the bytes once a body has ended.",
            columns: ["how it ended", "what follows"],
            rows: rows.map { [$0.testDescription, words(settle($0.end))] })
    }

    static func words(_ settlement: Settlement) -> String {
        switch settlement {
        case .publish: "published"
        case .askOn: "the rest is asked for"
        case .keep: "kept; again within the tries, then 75"
        case .askAgain(let wrong): "dropped (wrong \(wrong)); the same URL once more from byte 0, past caches"
        case .drop(let wrong): "dropped (wrong \(wrong)); the next mirror, or failed: 1"
        }
    }

    @Test("a body ended:", arguments: rows)
    func settles(_ row: SettleRow) { #expect(settle(row.end) == row.expected) }

    @Test("published only when complete, of every size that is named, and with no checksum against it")
    func invariants() {
        let sizes: [UInt64?] = [nil, 0, 39, 40, 41, .max]
        var ends: [BodyEnd] = []
        for isComplete in [false, true] {
            for (length, total) in pairs([0, 39, 40, 41, UInt64.max], sizes) {
                for (expected, fits) in pairs(sizes, [nil, true, false]) {
                    for (isMixed, isPart) in pairs([false, true], [false, true]) {
                        for wasAskedAgain in [false, true] {
                            ends.append(
                                BodyEnd(
                                    isComplete: isComplete, length: length, total: total,
                                    expectedSize: expected,
                                    checksumFits: fits, isMixed: isMixed, isPart: isPart,
                                    wasAskedAgain: wasAskedAgain))
                        }
                    }
                }
            }
        }
        let wrong = ends.filter { !isGrounded(settle($0), $0) }
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
    }

    private func isGrounded(_ settlement: Settlement, _ end: BodyEnd) -> Bool {
        switch settlement {
        case .publish:
            // The end of a part is the end of the file only when somebody named the size or the checksum.
            let isKnown =
                end.total != nil || !end.isPart || end.expectedSize != nil || end.checksumFits == true
            return end.isComplete && isKnown && end.checksumFits != false
                && end.total ?? end.length == end.length
                && end.expectedSize ?? end.length == end.length
        case .askOn: return end.isComplete && end.total.map { end.length < $0 } ?? end.isPart
        case .keep: return !end.isComplete
        case .askAgain: return end.isComplete && end.isMixed && !end.wasAskedAgain
        case .drop: return end.isComplete && (!end.isMixed || end.wasAskedAgain)
        }
    }
}

/// Each of the one with each of the other.
func pairs<One, Other>(_ one: [One], _ other: [Other]) -> [(One, Other)] {
    one.flatMap { first in other.map { (first, $0) } }
}
