internal import Posix
internal import Storage
internal import Wire

/// `syncagent status`: looks at the cache and changes nothing.
enum StatusCommand {
    /// Seconds between the two looks that a rate is taken from; progress is recorded far more often.
    private static let pause = 0.2

    static func run(_ arguments: Arguments) throws(CommandError) -> Int32 {
        let cache = try CachePath.resolve(option: arguments.value(.cache), environment: environmentValue)
        var view = try CacheView(path: cache)
        let wanted = arguments.operands.map {
            (key: KeyArgument.key(of: $0), url: HTTPURL.maskedText($0.text))
        }
        let selection = wanted.isEmpty ? nil : wanted
        var report = try StatusReport(of: &view, only: selection)
        if arguments.has(.json) {
            try Console.print(try JSONText.text(StatusJSON(report)))
            return ExitCode.success.rawValue
        }
        if report.isRunning, !report.partials.isEmpty {
            let began = Instant.now
            try rest(until: began.advanced(bySeconds: pause))
            var later = try StatusReport(of: &view, only: selection)
            later.measure(since: report, seconds: Instant.now.seconds(since: began))
            report = later
        }
        try Console.print(StatusText.text(report))
        return ExitCode.success.rawValue
    }

    private static func rest(until deadline: Instant) throws(CommandError) {
        do throws(SystemError) {
            _ = try Stop().wait(until: deadline)
        } catch {
            throw CommandError(.inputOutput, "cannot wait: \(error.reason)")
        }
    }
}
