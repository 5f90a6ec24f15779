internal import Agent
internal import Posix
internal import Storage
internal import Wire

/// What a run tells programs rather than people: log, metrics, ping, and a command at its end.
///
/// None of it changes the exit code; what goes wrong here is told in a line.
final class RunReports: Sendable {
    /// How a run ended.
    struct Ending: Sendable {
        let exitCode: Int32
        /// Nil when it could not begin or not go on.
        let outcome: SyncOutcome?
        /// The last sentence.
        let message: String
        let seconds: Double
    }

    /// Seconds for the command of `--on-run-end`.
    static let commandLimit = 60.0

    let log: EventLog?
    private let textfile: String?
    private let command: String?
    private let pingURL: HTTPURL?
    private let profile: String?
    private let cache: String
    private let state: String?
    /// The call of URL/start, which the run does not wait for.
    private let calls = Monitor(Calls())
    private let complain: @Sendable (String) -> Void

    private struct Calls {
        var ping: Ping?
        var start: WorkerThread?
    }

    init(
        _ arguments: Arguments, cache: String,
        complain: @escaping @Sendable (String) -> Void = { Console.complain($0) }
    ) throws(CommandError) {
        self.cache = cache
        self.complain = complain
        state = try CachePath.ledger(arguments)
        textfile = try RunReports.path(arguments, .textfile)
        command = arguments.value(.onRunEnd)
        profile = arguments.chosenProfile
        pingURL = try RunReports.url(arguments)
        log = try RunReports.path(arguments, .log).map { (path) throws(CommandError) in
            try EventLog(path: path)
        }
    }

    /// Checks what the options say, and opens nothing.
    static func check(_ arguments: Arguments) throws(CommandError) {
        _ = try path(arguments, .log)
        _ = try path(arguments, .textfile)
        _ = try url(arguments)
    }

    private static func path(_ arguments: Arguments, _ name: OptionName) throws(CommandError) -> String? {
        guard let path = arguments.value(name) else { return nil }
        guard !path.isEmpty else { throw arguments.refusal(name, "wants a file, not an empty word") }
        guard name != .textfile || path.hasSuffix(".prom") else {
            throw arguments.refusal(name, "wants a name that ends in .prom, or the collector passes it over")
        }
        return path
    }

    private static func url(_ arguments: Arguments) throws(CommandError) -> HTTPURL? {
        guard let text = arguments.value(.ping) else { return nil }
        do throws(URLError) {
            return try HTTPURL(parsing: text)
        } catch {
            throw arguments.refusal(.ping, "wants a URL: \(error)")
        }
    }

    /// - Parameter options: how to reach the ping's URL.
    func prepare(_ options: SyncOptions) {
        guard let pingURL else { return }
        do throws(Ping.Failure) {
            let ping = try Ping(pingURL, options: options)
            calls.withLock { $0.ping = ping }
        } catch {
            complain("no ping: \(error.message)")
        }
    }

    /// Told by the run.
    func take(_ notice: Notice) {
        if case .began = notice { callStart() }
        log?.take(notice)
    }

    private func callStart() {
        calls.withLock { calls in
            guard let ping = calls.ping else { return }
            do throws(SystemError) {
                calls.start = try WorkerThread(name: "ping") { [self] in call(ping, "/start") }
            } catch {
                complain("no ping: \(error.reason)")
            }
        }
    }

    /// Tells how the run ended: takes a minute and twenty seconds at most, and far less when all goes well.
    func end(_ ending: Ending) {
        writeEnd(ending)
        if textfile != nil { writeMetrics(ending) }
        if command != nil { runCommand(ending) }
        let (ping, start) = calls.withLock { ($0.ping, $0.start) }
        // A call of the start that came after that of the end would mean a run that hangs.
        start?.join()
        if let ping { call(ping, ending.exitCode == 0 ? "" : "/\(ending.exitCode)") }
        if let failure = log?.failure { complain(failure) }
    }

    private func call(_ ping: Ping, _ path: String) {
        do throws(Ping.Failure) {
            try ping.call(appending: path)
        } catch {
            log?.write(.warning, "ping", [("message", error.message)])
        }
    }

    private func writeEnd(_ ending: Ending) {
        var fields: [(name: String, value: String)] = [("exit", "\(ending.exitCode)")]
        if let outcome = ending.outcome {
            fields += [
                ("entries", "\(outcome.entries)"), ("current", "\(outcome.current)"),
                ("failed", "\(outcome.failed)"), ("pending", "\(outcome.pending)"),
                ("bytes", "\(outcome.bytesReceived)"), ("requests", "\(outcome.requests)"),
            ]
        }
        fields.append(("seconds", "\(Int64(max(0, min(ending.seconds, 1e15))))"))
        if ending.exitCode != 0 { fields.append(("message", ending.message)) }
        log?.write(ending.exitCode == 0 ? .info : .error, "ended", fields)
    }

    // MARK: Metrics

    private func writeMetrics(_ ending: Ending) {
        guard let textfile else { return }
        let now = wallSeconds()
        var metrics = MetricsText(
            lastRun: now, lastSuccess: ending.exitCode == 0 ? now : nil, duration: ending.seconds,
            exitCode: ending.exitCode, profile: profile, version: Help.version)
        do throws(LedgerError) {
            if var ledger = try LedgerReader.open(cache: cache, ledger: state) {
                try metrics.read(&ledger, now: now)
            }
        } catch {
            complain("metrics without the ledger: \(error.path): \(error.reason)")
        }
        do throws(SystemError) {
            try replaceFile(at: textfile, with: Array(metrics.text.utf8), mode: 0o644)
        } catch {
            complain("cannot write the metrics \(textfile): \(error.reason)")
        }
    }

    // MARK: The command

    private func runCommand(_ ending: Ending) {
        guard let command else { return }
        do throws(SystemError) {
            let result = try ShellCommand.run(
                command, environment: environment(ending), seconds: Self.commandLimit)
            switch result {
            case .exited(0): break
            case .exited(let code): complain("the command of --on-run-end ended with \(code)")
            case .killed(let signal): complain("the command of --on-run-end was killed by signal \(signal)")
            case .tookTooLong:
                complain(
                    "the command of --on-run-end took more than \(Int(Self.commandLimit)) s, and was killed")
            }
        } catch {
            complain("the command of --on-run-end could not be run: \(error.reason)")
        }
    }

    /// Our own environment, without what is meant for us alone, and what there is to know of the run.
    private func environment(_ ending: Ending) -> [String] {
        var own = [
            "SYNCAGENT_EXIT=\(ending.exitCode)", "SYNCAGENT_CACHE=\(cache)",
            "SYNCAGENT_SECONDS=\(Int64(max(0, min(ending.seconds, 1e15))))",
            "SYNCAGENT_MESSAGE=\(DisplayText.printable(ending.message))",
        ]
        if let outcome = ending.outcome {
            own += [
                "SYNCAGENT_ENTRIES=\(outcome.entries)", "SYNCAGENT_CURRENT=\(outcome.current)",
                "SYNCAGENT_FAILED=\(outcome.failed)", "SYNCAGENT_PENDING=\(outcome.pending)",
                "SYNCAGENT_BYTES=\(outcome.bytesReceived)",
            ]
        }
        if let profile { own.append("SYNCAGENT_PROFILE=\(profile)") }
        let inherited = environmentEntries().filter { entry in
            !entry.hasPrefix("NOTIFY_SOCKET=") && !entry.hasPrefix("SYNCAGENT_")
        }
        return inherited + own
    }
}

extension MetricsText {
    /// Takes what the ledger says, all of one moment.
    fileprivate mutating func read(_ ledger: inout LedgerReader, now: Int64) throws(LedgerError) {
        let (counts, partials, counters, since) = try ledger.snapshot { ledger throws(LedgerError) in
            (
                try ledger.counts(), try ledger.allPartials(), try ledger.counters(),
                try ledger.oldestWait()
            )
        }
        let values = Dictionary(counters.map { ($0.name, $0.value) }) { $1 }
        func value(_ counter: LedgerCounter) -> Int64? { values[counter.name] }
        lastSuccess = lastSuccess ?? value(.lastSuccess)
        cache = Cache(
            entries: counts.map { ($0.state.word, $0.count) },
            copyBytes: counts.reduce(0) { $0.addingReportingOverflow($1.bytes).partialValue },
            partialBytes: partials.reduce(0) { $0.addingReportingOverflow($1.written).partialValue },
            received: value(.received) ?? 0,
            requests: counters.compactMap { counter in
                LedgerCounter.requestCode(of: counter.name).map { ($0, counter.value) }
            },
            oldestPending: since.map { max(0, now.subtractingReportingOverflow($0).partialValue) } ?? 0,
            mismatches: value(.mismatches) ?? 0)
    }
}

extension EntryState {
    /// As `status` calls it.
    fileprivate var word: String {
        switch self {
        case .current: "current"
        case .pending: "pending"
        case .failed: "failed"
        case .deferred: "deferred"
        }
    }
}
