import Reconcile
import Testing

/// One line of the rule of how many bytes of a partial are believed.
struct TrustRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let written: UInt64
    let durable: UInt64
    let fileSize: UInt64
    /// What the ledger has, and what is now.
    let boot: (stored: String?, now: String?)
    let mount: (stored: String?, now: String?)
    let expected: UInt64?

    init(
        _ name: String, written: UInt64 = 100, durable: UInt64 = 60, file: UInt64 = 100,
        boot: (stored: String?, now: String?) = ("b", "b"),
        mount: (stored: String?, now: String?) = ("m", "m"),
        _ expected: UInt64?
    ) {
        testDescription = name
        self.written = written
        self.durable = durable
        fileSize = file
        self.boot = boot
        self.mount = mount
        self.expected = expected
    }

    var answer: UInt64? {
        trustedLength(
            written: written, durable: durable, storedBoot: boot.stored, storedMount: mount.stored,
            boot: boot.now, mount: mount.now, fileSize: fileSize)
    }
}

@Suite("Durability")
struct TrustedLengthTests {
    static let rows: [TrustRow] = [
        TrustRow("the same boot and mount", 100),
        TrustRow("the same boot and mount; nothing durable yet", durable: 0, 100),
        TrustRow("the same boot and mount; the file is longer", file: 130, 100),
        TrustRow("the same boot and mount; the file is shorter than written", file: 99, nil),
        TrustRow("the same boot and mount; the file is empty", file: 0, nil),
        TrustRow("another boot", boot: ("a", "b"), 60),
        TrustRow("another boot; the file has just what is durable", file: 60, boot: ("a", "b"), 60),
        TrustRow("another boot; the file is shorter than durable", file: 59, boot: ("a", "b"), nil),
        TrustRow("another boot; nothing durable", durable: 0, boot: ("a", "b"), nil),
        TrustRow("another mount", mount: ("l", "m"), 60),
        TrustRow("the boot cannot be read now", boot: ("b", nil), 60),
        TrustRow("the boot could not be read then", boot: (nil, "b"), 60),
        TrustRow("the boot could never be read", boot: (nil, nil), 60),
        TrustRow("the mount cannot be read now", mount: ("m", nil), 60),
        TrustRow("the mount could not be read then", mount: (nil, "m"), 60),
        TrustRow("the mount could never be read", mount: (nil, nil), 60),
        TrustRow("nothing written", written: 0, durable: 0, nil),
        TrustRow("numbers beyond all bounds", written: .max, durable: .max, file: .max, .max),
        TrustRow("more durable than written", written: 60, durable: 100, 100),
    ]

    static var table: RuleTable {
        RuleTable(
            title: "Durability",
            about: """
                How many bytes of a partial are built upon at the start of a run: 100 are written, 60 of them are known \
                to be on the disk, the file has 100, unless the row says otherwise. The file is cut to that.
                """,
            columns: ["what ledger and disk say", "bytes kept"],
            rows: rows.map { [$0.testDescription, $0.answer.map { "\($0)" } ?? "none: start over"] })
    }

    @Test("of a partial is trusted, with", arguments: rows)
    func trusts(_ row: TrustRow) { #expect(row.answer == row.expected) }

    @Test("never more than the file has, nor than the ledger says, nor than is durable on another boot")
    func invariants() {
        let lengths: [UInt64] = [0, 1, 60, 100, .max]
        let marks: [String?] = [nil, "a", "b"]
        var wrong: [(UInt64, UInt64, UInt64)] = []
        for (written, durable) in pairs(lengths, lengths) {
            for (size, storedBoot) in pairs(lengths, marks) {
                for (boot, mount) in pairs(marks, marks) {
                    guard
                        let kept = trustedLength(
                            written: written, durable: durable, storedBoot: storedBoot, storedMount: "a",
                            boot: boot, mount: mount, fileSize: size)
                    else { continue }
                    let isSame = boot == storedBoot && boot != nil && mount == "a"
                    let isRight =
                        kept > 0 && kept <= size && kept <= max(written, durable)
                        && (isSame || kept == durable)
                    if !isRight { wrong.append((written, durable, size)) }
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
    }
}
