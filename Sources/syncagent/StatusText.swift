internal import Posix
internal import Storage

/// The table of `status` for people.
enum StatusText {
    /// URLs that are shown under a reason; the rest is counted.
    static let urlsPerReason = 3
    /// Unfinished transfers that are shown; the rest is counted.
    static let partialLimit = 40

    static func text(_ report: StatusReport) -> String {
        guard report.hasLedger || report.selected != nil else {
            return "nothing here yet: \(report.cache) holds no ledger; syncagent sync MANIFEST makes it\n"
        }
        var lines = ["cache     \(DisplayText.printable(report.cache))"]
        lines.append("entries   \(report.entries)")
        for standing in StatusReport.Standing.allCases
        where standing != .paused || report.counts[.paused, default: 0] > 0 {
            lines.append(count(standing, report))
        }
        if let selected = report.selected { lines += [""] + selected.flatMap(self.selected) }
        lines += partials(report)
        lines += failures(report)
        if !report.pauses.isEmpty {
            lines.append("")
            lines += report.pauses.map { rule in
                "\(rule.isPaused ? "paused    " : "but not   ")\(DisplayText.printable(rule.text))"
            }
        }
        if let run = report.lastRun { lines += ["", self.run(run, isRunning: report.isRunning)] }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func count(_ standing: StatusReport.Standing, _ report: StatusReport) -> String {
        let count = "\(report.counts[standing] ?? 0)"
        let head =
            "  " + DisplayText.padded(standing.rawValue, columns: 10) + DisplayText.aligned(count, columns: 9)
        switch standing {
        case .current:
            return head + "  " + DisplayText.aligned(Formats.bytes(report.cachedBytes), columns: 11)
        case .partial:
            return head + "  " + DisplayText.aligned(Formats.bytes(report.partialBytes), columns: 11)
        case .pending, .failed, .deferred, .paused: return head
        }
    }

    private static func selected(_ entry: StatusReport.Selected) -> [String] {
        let size = DisplayText.aligned(entry.size.map(Formats.bytes) ?? "-", columns: 11)
        let state = DisplayText.padded(entry.file == nil ? "unknown" : entry.standing.rawValue, columns: 9)
        let remark = entry.remark.map { " (\(DisplayText.printable($0)))" } ?? ""
        let line = "  " + state + size + "  " + DisplayText.printable(entry.url) + remark
        return [line] + words(entry).map { "           " + $0 }
    }

    /// What else there is to say of an entry.
    private static func words(_ entry: StatusReport.Selected) -> [String] {
        var words: [String] = []
        if let fresh = entry.freshness {
            let until = fresh.until.map { "fresh until \(Formats.time($0))" } ?? "never asked about"
            words.append("\(until), by \(fresh.word.sentence)")
        } else if entry.standing == .current {
            words.append("asked about by the next sync")
        }
        if let received = entry.received {
            let checked = entry.checked.map { ", its bytes last checked \(Formats.time($0))" } ?? ""
            words.append("received or confirmed \(Formats.time(received))\(checked)")
        }
        if entry.isGone { words.append("gone at its origin; the copy stays") }
        if entry.isPaused { words.append("paused; syncagent resume goes on") }
        return words
    }

    private static func partials(_ report: StatusReport) -> [String] {
        guard !report.partials.isEmpty else { return [] }
        var lines = ["", report.isRunning ? "in flight or unfinished" : "unfinished"]
        for partial in report.partials.prefix(partialLimit) {
            let share = partial.total.map { Formats.percent(partial.done, of: $0) } ?? "?"
            var line = "  " + DisplayText.aligned(share, columns: 8)
            line += DisplayText.aligned(Formats.bytes(partial.done), columns: 12)
            line += " of " + DisplayText.padded(partial.total.map(Formats.bytes) ?? "?", columns: 11)
            if let rate = partial.rate {
                line += DisplayText.aligned(Formats.rate(rate), columns: 12) + "  "
                let left = partial.total.flatMap {
                    ProgressText.secondsLeft(partial.done, of: $0, rate: rate)
                }
                line += DisplayText.padded(left.map { Formats.duration($0) + " left" } ?? "", columns: 13)
            }
            lines.append(
                line + " " + DisplayText.printable(partial.url) + (partial.isPaused ? " (paused)" : ""))
        }
        let hidden = report.partials.count - partialLimit
        if hidden > 0 { lines.append("  and \(hidden) more") }
        return lines
    }

    private static func failures(_ report: StatusReport) -> [String] {
        guard !report.failures.isEmpty else { return [] }
        var lines = ["", "failures by reason"]
        let groups = Dictionary(grouping: report.failures) { $0.row.reason }
        let order = groups.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        for (reason, members) in order {
            lines.append(
                "  " + DisplayText.padded(DisplayText.printable(reason), columns: 14)
                    + DisplayText.aligned("\(members.count)", columns: 7))
            for failure in members.prefix(urlsPerReason) {
                let text = failure.url + ": " + failure.row.message
                lines.append("    " + DisplayText.printable(text) + kept(failure) + again(failure.row))
            }
            if members.count > urlsPerReason { lines.append("    and \(members.count - urlsPerReason) more") }
        }
        return lines
    }

    private static func kept(_ failure: StatusReport.Failure) -> String {
        guard failure.hasCopy else { return "" }
        return failure.isGone ? " (gone at its origin; the copy stays)" : " (the copy stays)"
    }

    private static func again(_ row: FailureRow) -> String {
        row.notBefore.map { " (not before \(Formats.time($0)))" } ?? ""
    }

    private static func run(_ run: RunRow, isRunning: Bool) -> String {
        let start = Formats.time(run.started)
        guard let ended = run.ended else {
            return isRunning ? "run       at work since \(start)" : "last run  began \(start) and was cut off"
        }
        let exit = run.exitCode.map { "exit \($0)" } ?? "no exit code"
        let spent = ended.subtractingReportingOverflow(run.started)
        let took = Formats.duration(Double(spent.overflow ? 0 : spent.partialValue))
        return "last run  \(start), \(took), \(exit): \(run.current) of "
            + "\(counted(run.entries, "entry", "entries")) current, \(run.failed) failed, "
            + "\(run.pending) pending, " + (run.paused > 0 ? "\(run.paused) paused, " : "")
            + "\(Formats.bytes(run.received)) received"
    }
}
