internal import Posix
internal import Storage

/// `syncagent plan`: reads manifests and cache, asks nobody, and counts.
enum PlanCommand {
    /// Entries that are looked up together.
    private static let batchSize = 4096

    static func run(_ arguments: Arguments) throws(CommandError) -> Int32 {
        let cache = try CachePath.resolve(option: arguments.value(.cache), environment: environmentValue)
        var wishes = PlanReport.Wishes(
            refresh: arguments.has(.refresh), retryFailed: arguments.has(.retryFailed),
            maxAge: try SyncCommand.maxAge(arguments))
        var view = try CacheView(path: cache, ledger: try CachePath.ledger(arguments))
        let partials: [PartialRow]
        do throws(LedgerError) {
            partials = try view.ledger?.allPartials() ?? []
            wishes.pauses = try view.ledger?.pauseRules() ?? PauseRules()
        } catch {
            throw CacheView.failure(error)
        }
        let report = try plan(
            try SyncCommand.manifests(arguments), &view, Dictionary(grouping: partials, by: \.key), wishes)
        let isJSON = arguments.has(.json)
        try Console.print(isJSON ? try JSONText.text(PlanJSON(report, cache: cache)) : text(report))
        return ExitCode.success.rawValue
    }

    private static func plan(
        _ manifests: [String], _ view: inout CacheView, _ partials: [Key: [PartialRow]],
        _ wishes: PlanReport.Wishes
    ) throws(CommandError) -> PlanReport {
        var report = PlanReport()
        var seen = SeenKeys()
        var budget = NoticeBudget(limit: 20, reserve: 0)
        let now = wallSeconds()
        func take(_ problem: ManifestProblem) {
            switch problem.kind {
            case .warning: break
            case .badLine: report.badLines += 1
            case .refusedEntry: report.refused += 1
            }
            let sentence = Sentences.sentence(problem)
            if budget.admits(sentence) { Console.complain(sentence) }
        }
        for path in manifests {
            var reader = try opened(path)
            while let entries = try batch(of: &reader, take) {
                let united = unite(entries, seen: &seen, problems: take)
                try report.add(united, &view, partials: partials, wishes: wishes, now: now)
            }
        }
        if budget.dropped > 0 { Console.complain("\(budget.dropped) more of these") }
        return report
    }

    private static func opened(_ path: String) throws(CommandError) -> ManifestReader {
        do throws(ManifestError) {
            return try ManifestReader(path: path)
        } catch {
            throw Sentences.failure(error)
        }
    }

    private static func batch(
        of reader: inout ManifestReader, _ problems: (ManifestProblem) -> Void
    ) throws(CommandError) -> [Entry]? {
        do throws(ManifestError) {
            return try reader.next(limit: batchSize, problems: problems)
        } catch {
            throw Sentences.failure(error)
        }
    }

    private static func text(_ report: PlanReport) -> String {
        func line(_ step: PlanReport.Step, _ meaning: String) -> String {
            "  " + DisplayText.padded(step.rawValue, columns: 10)
                + DisplayText.aligned("\(report.counts[step] ?? 0)", columns: 9) + "  " + meaning + "\n"
        }
        var text = "entries   \(report.entries)\n"
        for step in PlanReport.Step.allCases { text += line(step, meaning(step)) }
        text += "to fetch  \(Formats.bytes(report.knownBytes))"
        if report.unknownSizes > 0 {
            text += " and \(counted(report.unknownSizes, "file", "files")) of unknown size"
        }
        text += "\n"
        if report.badLines > 0 { text += "bad lines \(report.badLines)\n" }
        if report.refused > 0 { text += "refused   \(report.refused)\n" }
        return text
    }

    private static func meaning(_ step: PlanReport.Step) -> String {
        switch step {
        case .new: "fetched"
        case .replace: "fetched again, whole"
        case .resume: "gone on with"
        case .ask: "asked whether they changed"
        case .current: "believed without asking"
        case .waiting: "failed lately, not asked yet"
        case .paused: "left alone"
        }
    }
}

/// `plan --json`. Fields are added only, never renamed.
struct PlanJSON: Encodable {
    struct Bytes: Encodable {
        let known: UInt64
        let unknown_entries: Int
    }

    let schema = 1
    let cache: String
    let entries, new, replace, resume, ask, current, waiting, paused, bad_lines, refused: Int
    let bytes: Bytes

    init(_ report: PlanReport, cache: String) {
        func count(_ step: PlanReport.Step) -> Int { report.counts[step] ?? 0 }
        self.cache = cache
        entries = report.entries
        new = count(.new)
        replace = count(.replace)
        resume = count(.resume)
        ask = count(.ask)
        current = count(.current)
        waiting = count(.waiting)
        paused = count(.paused)
        bad_lines = report.badLines
        refused = report.refused
        bytes = Bytes(known: report.knownBytes, unknown_entries: report.unknownSizes)
    }
}
