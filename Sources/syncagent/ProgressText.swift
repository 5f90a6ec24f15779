internal import Agent
internal import Posix

/// The lines of the progress display, as plain text.
enum ProgressText {
    /// Lines for files in flight; more than this is a wall.
    static let transferLimit = 12

    /// The line of the run: `12/200 files  34.0 MiB  3.1 MiB/s  28s left  2 failed`.
    static func run(_ snapshot: Snapshot, pace: Pace, columns: Int) -> String {
        let done = snapshot.current + snapshot.failed
        // While the manifest is being read its end is not known.
        var parts = ["\(done)/\(snapshot.entries)\(snapshot.manifestEnded ? "" : "+") files"]
        parts.append(Formats.bytes(snapshot.bytesReceived))
        if let rate = pace.bytesPerSecond { parts.append(Formats.rate(rate)) }
        if let left = secondsLeft(snapshot, pace) { parts.append(left) }
        if snapshot.failed > 0 { parts.append("\(snapshot.failed) failed") }
        return DisplayText.fitted(parts.joined(separator: "  "), columns: columns)
    }

    /// By bytes when all that is left is in flight and of known size; else by files, which is a guess (`~`).
    private static func secondsLeft(_ snapshot: Snapshot, _ pace: Pace) -> String? {
        let left = snapshot.entries - snapshot.current - snapshot.failed
        guard snapshot.manifestEnded, left > 0 else { return nil }
        let totals = snapshot.transfers.compactMap(\.total)
        if totals.count >= left, totals.count == snapshot.transfers.count {
            let whole = totals.reduce(0, saturating)
            let done = snapshot.transfers.map(\.done).reduce(0, saturating)
            guard let rate = pace.bytesPerSecond else { return nil }
            return secondsLeft(done, of: whole, rate: rate).map { Formats.duration($0) + " left" }
        }
        guard let files = pace.filesPerSecond, files > 0 else { return nil }
        return "~" + Formats.duration(Double(left) / files) + " left"
    }

    /// A server chooses the sizes, and they need not add up.
    private static func saturating(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let sum = left.addingReportingOverflow(right)
        return sum.overflow ? .max : sum.partialValue
    }

    /// Seconds until the known bytes are here; nil when nothing is known, or nothing comes.
    static func secondsLeft(_ done: UInt64, of total: UInt64, rate: Double) -> Double? {
        guard total > done, rate >= 1 else { return nil }
        return Double(total - done) / rate
    }

    /// A file in flight: ` 42.07 %  24.0 MiB  https://…/big.iso`.
    static func transfer(_ transfer: Snapshot.Transfer, columns: Int) -> String {
        let share: String
        if let total = transfer.total {
            share = Formats.percent(transfer.done, of: total) + "  " + aligned(Formats.bytes(total))
        } else {
            share = "    ?     " + aligned(Formats.bytes(transfer.done))
        }
        let head = DisplayText.aligned(share, columns: 22) + "  "
        let room = columns - DisplayText.width(head)
        // On a very narrow terminal the share alone is worth more than a crumb of the name.
        guard room >= 8 else { return DisplayText.fitted(share, columns: columns) }
        return head + DisplayText.fittedInMiddle(DisplayText.printable(transfer.url), columns: room)
    }

    private static func aligned(_ text: String) -> String { DisplayText.aligned(text, columns: 10) }

    /// All lines: the files that are longest under way first, then the run.
    static func lines(_ snapshot: Snapshot, pace: Pace, columns: Int) -> [String] {
        let oldest = snapshot.transfers.sorted { $0.started < $1.started }
        var lines = oldest.prefix(transferLimit).map { transfer($0, columns: columns) }
        if oldest.count > transferLimit {
            lines.append(DisplayText.fitted("  and \(oldest.count - transferLimit) more", columns: columns))
        }
        lines.append(run(snapshot, pace: pace, columns: columns))
        return lines
    }
}
