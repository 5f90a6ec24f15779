internal import Posix
internal import Storage
internal import Wire

/// `syncagent status`: looks at the cache and changes nothing.
enum StatusCommand {
    /// The folders to look at; nil for a ledger in the cache.
    private struct Place {
        let cache: String
        let ledger: String?
    }

    /// Seconds between the two looks that a rate is taken from; progress is recorded far more often.
    private static let pause = 0.2
    /// Seconds between two tellings of `--watch`.
    private static let period = 1.0

    static func run(_ arguments: Arguments) throws(CommandError) -> Int32 {
        let cache = Place(
            cache: try CachePath.resolve(option: arguments.value(.cache), environment: environmentValue),
            ledger: try CachePath.ledger(arguments))
        let wanted = arguments.operands.map {
            (key: KeyArgument.key(of: $0), url: HTTPURL.maskedText($0.text))
        }
        let selection = wanted.isEmpty ? nil : wanted
        if arguments.has(.watch) {
            try watch(cache, selection, isJSON: arguments.has(.json))
            return ExitCode.success.rawValue
        }
        let report = try look(cache, selection)
        if arguments.has(.json) {
            try Console.print(try JSONText.text(StatusJSON(report)))
        } else {
            try Console.print(StatusText.text(try measured(report, cache, selection)))
        }
        return ExitCode.success.rawValue
    }

    private static func look(
        _ cache: Place, _ selection: [(key: Key, url: String)]?
    ) throws(CommandError) -> StatusReport {
        var view = try CacheView(path: cache.cache, ledger: cache.ledger)
        return try StatusReport(of: &view, only: selection)
    }

    /// The report with rates, which take a second look, when a run is at work.
    private static func measured(
        _ report: StatusReport, _ cache: Place, _ selection: [(key: Key, url: String)]?
    ) throws(CommandError) -> StatusReport {
        guard report.isRunning, !report.partials.isEmpty else { return report }
        let began = Instant.now
        do throws(SystemError) {
            _ = try Stop().wait(until: began.advanced(bySeconds: pause))
        } catch {
            throw CommandError(.inputOutput, "cannot wait: \(error.reason)")
        }
        var later = try look(cache, selection)
        later.measure(since: report, seconds: Instant.now.seconds(since: began))
        return later
    }

    /// Tells again and again until a signal comes or the reader goes away. On a terminal each telling takes the
    /// place of the one before; JSON is one object a line.
    private static func watch(
        _ cache: Place, _ selection: [(key: Key, url: String)]?, isJSON: Bool
    ) throws(CommandError) {
        let (stop, _) = try SyncCommand.watchSignals()
        // Home, then clear to the end of the screen.
        let before = StandardStream.output.isTerminal && Console.allowsEscapes ? "\u{1b}[H\u{1b}[J" : ""
        let after = before.isEmpty ? "\n" : ""
        var earlier: (report: StatusReport, at: Instant)?
        while true {
            let now = Instant.now
            var report = try look(cache, selection)
            if let earlier { report.measure(since: earlier.report, seconds: now.seconds(since: earlier.at)) }
            let text =
                isJSON
                ? try JSONText.text(StatusJSON(report), isOneLine: true)
                : before + StatusText.text(report) + after
            earlier = (report, now)
            guard try Console.print(text), !stop.wait(until: now.advanced(bySeconds: period)) else { return }
        }
    }
}
