internal import Agent
internal import Posix
internal import Storage
internal import Wire

/// `syncagent sync`: options in, sentences and an exit code out.
enum SyncCommand {
    static func run(_ arguments: Arguments) throws(CommandError) -> Int32 {
        let cache = try CachePath.resolve(option: arguments.value(.cache), environment: environmentValue)
        let reports = try RunReports(arguments, cache: cache)
        let began = Instant.now
        do throws(CommandError) {
            let options = try options(arguments, cache: cache)
            _ = try prune(arguments)
            return try run(options, arguments, reports, began: began)
        } catch {
            // A run that could not even begin is what a monitor is for.
            reports.prepare(SyncOptions(manifests: [], cache: cache))
            reports.end(
                RunReports.Ending(
                    exitCode: error.code.rawValue, outcome: nil, message: error.message,
                    seconds: Instant.now.seconds(since: began)))
            throw error
        }
    }

    private static func run(
        _ options: SyncOptions, _ arguments: Arguments, _ reports: RunReports, began: Instant
    ) throws(CommandError) -> Int32 {
        let manner = manner(arguments)
        let reporter = Reporter(manner)
        let changes = manner.tellsChanges ? ChangeWatch(cache: options.cache, state: options.state) : nil
        var manager = ServiceManager(environment: environmentValue)
        let ending = Monitor(Progress())
        let (stop, signals) = try watchSignals { ending.signal { $0.wasAsked = true } }
        reports.prepare(options)
        let sync = SyncRun(options: options, stop: stop) { notice in
            reporter.take(notice)
            reports.take(notice)
            changes?.take(notice)
        }
        manager?.began()
        do throws(SystemError) {
            // The main thread draws; it must not be the one that waits for servers.
            try WorkerThread(name: "sync") {
                let result: Result<SyncOutcome, SyncError>
                do throws(SyncError) {
                    result = .success(try sync.run())
                } catch {
                    result = .failure(error)
                }
                ending.signal { $0.result = result }
            }.detach()
        } catch {
            throw CommandError(.inputOutput, "cannot start a thread: \(error.reason)")
        }
        let result = ended(ending, drawing: sync, reporter, &manager)
        let seconds = Instant.now.seconds(since: began)
        let conclusion: RunReports.Ending
        switch result {
        case .success(let outcome):
            let last = reporter.summary(outcome, signal: signals.receivedName, seconds: seconds)
            manager?.ending(last)
            if let changes {
                if outcome.isOffline { changes.add("offline, no host could be reached") }
                let work = outcome.exitCode == 0 ? nil : "work remains; run again to go on"
                conclude(changes, reporter, isWhole: outcome.isWhole, work: work, last: last)
            } else {
                reporter.finish(outcome, signal: signals.receivedName, seconds: seconds)
            }
            var code = outcome.exitCode
            if code == 0, let prune = try prune(arguments) {
                code = try PruneCommand.runAfterSync(prune, stop)
            }
            conclusion = RunReports.Ending(
                exitCode: code, outcome: outcome, message: last, seconds: seconds)
        case .failure(let error):
            let failure = Sentences.failure(error)
            manager?.ending(failure.message)
            if case .lockHeld = error {
                // No run was made, and the one that is at work has its own reports.
                reporter.finishBesideAnother(failure)
                reports.log?.write(.info, "left", [("message", failure.message)])
                return failure.code.rawValue
            }
            if let changes {
                changes.add(failure.message)
                conclude(changes, reporter, isWhole: false, work: nil, last: nil)
            } else {
                reporter.finish(failure)
            }
            conclusion = RunReports.Ending(
                exitCode: failure.code.rawValue, outcome: nil, message: failure.message, seconds: seconds)
        }
        reports.end(conclusion)
        return conclusion.exitCode
    }

    private static func conclude(
        _ changes: ChangeWatch, _ reporter: Reporter, isWhole: Bool, work: String?, last: String?
    ) {
        do throws(CommandError) {
            reporter.finish(try changes.conclude(isWhole: isWhole, work: work), last: last)
        } catch {
            // What cannot be compared is told in any case.
            reporter.finish(ToldFailures.Changes(new: [error.message], over: []), last: last)
        }
    }

    /// What `--prune` and its own options say; nil without it.
    private static func prune(_ arguments: Arguments) throws(CommandError) -> PruneOptions? {
        let others: [OptionName] = [.maxDelete, .grace, .maxSize]
        guard arguments.has(.prune) else {
            if let other = others.first(where: arguments.has) {
                throw CommandError(.usage, "\(other.typed) is for removing files; pass --prune too")
            }
            return nil
        }
        return try PruneCommand.options(arguments)
    }

    /// The first signal raises the stop; USR1 is a question.
    static func watchSignals(
        onQuestion: (@Sendable () -> Void)? = nil
    ) throws(CommandError) -> (Stop, SignalWatch) {
        do throws(SystemError) {
            let stop = try Stop()
            return (stop, try SignalWatch(raising: stop, onQuestion: onQuestion))
        } catch {
            throw CommandError(.inputOutput, "cannot watch for signals: \(error.operation): \(error.reason)")
        }
    }

    /// What the main thread waits for.
    private struct Progress {
        var result: Result<SyncOutcome, SyncError>?
        /// Somebody sent USR1.
        var wasAsked = false
    }

    /// What there is to do when the wait is over.
    private enum Step {
        case end(Result<SyncOutcome, SyncError>)
        case answer
        case draw
    }

    /// Draws, and answers, until the run has ended. The run itself bounds its time.
    private static func ended(
        _ ending: Monitor<Progress>, drawing sync: SyncRun, _ reporter: Reporter,
        _ manager: inout ServiceManager?
    ) -> Result<SyncOutcome, SyncError> {
        let began = Instant.now
        while true {
            let pause = reporter.drawsProgress ? 0.1 : manager == nil ? 3600 : ServiceManager.interval
            let frame = Instant.now.advanced(bySeconds: pause)
            let step = ending.wait { progress -> Monitor<Progress>.Next<Step> in
                if let result = progress.result { return .done(.end(result)) }
                if progress.wasAsked {
                    progress.wasAsked = false
                    return .done(.answer)
                }
                return Instant.now >= frame ? .done(.draw) : .wait(until: frame)
            }
            switch step {
            case .end(let result): return result
            case .answer: reporter.answer(sync.snapshot(), seconds: Instant.now.seconds(since: began))
            case .draw:
                manager?.status(
                    Reporter.line(sync.snapshot(), seconds: Instant.now.seconds(since: began)))
                guard reporter.drawsProgress else { continue }
                reporter.draw(sync.snapshot(), columns: StandardStream.error.columns ?? 80, now: .now)
            }
        }
    }

    private static func manner(_ arguments: Arguments) -> Reporter.Manner {
        let isTerminal = StandardStream.error.isTerminal
        let isQuiet = arguments.has(.quiet)
        let isWanted: Bool
        switch arguments.value(.progress) {
        case "always": isWanted = true
        case "never": isWanted = false
        default: isWanted = isTerminal && !isQuiet
        }
        let means: ProgressPainter.Means =
            !isTerminal ? .lines : Console.allowsEscapes ? .escapes : .carriageReturn
        var manner = Reporter.Manner(
            isTerminal: isTerminal, isQuiet: isQuiet, painter: isWanted ? ProgressPainter(means) : nil)
        manner.isJournal = Console.isJournal
        manner.tellsChanges = arguments.has(.notifyChange) && !isTerminal
        return manner
    }

    /// The agent's options, each checked.
    ///
    /// - Parameter environment: a variable's value; nil when it is not set or empty.
    static func options(
        _ arguments: Arguments, cache: String, environment: (String) -> String? = environmentValue
    ) throws(CommandError) -> SyncOptions {
        var options = SyncOptions(manifests: try manifests(arguments), cache: cache)
        options.jobs = try OptionValue.count(arguments, .jobs, within: 1...256)
        options.perHost = try OptionValue.count(arguments, .perHost, within: 1...256)
        options.retries = try OptionValue.count(arguments, .retries, within: 0...100)
        options.connectTimeout = try OptionValue.seconds(arguments, .connectTimeout)
        options.headTimeout = try OptionValue.seconds(arguments, .headTimeout)
        options.stallTimeout = try OptionValue.seconds(arguments, .stallTimeout)
        options.waitLock = try OptionValue.seconds(arguments, .waitLock, allowsZero: true)
        if arguments.has(.maxTime) { options.maxTime = try OptionValue.seconds(arguments, .maxTime) }
        options.maxAge = try maxAge(arguments)
        options.isStrict = arguments.has(.strict)
        options.state = try CachePath.ledger(arguments)
        if arguments.has(.reserve) { options.reserve = try OptionValue.bytes(arguments, .reserve) }
        options.refresh = arguments.has(.refresh)
        options.retryFailed = arguments.has(.retryFailed)
        options.acceptCoded = arguments.has(.acceptCoded)
        options.acceptHTML = arguments.has(.acceptHTML)
        options.caCertificates = arguments.value(.caCertificates)
        options.certificate = arguments.value(.certificate)
        options.certificateKey = arguments.value(.certificateKey)
        guard options.certificateKey == nil || options.certificate != nil else {
            throw CommandError(.usage, "--key belongs to a certificate; pass --cert FILE too")
        }
        options.proxies = try proxies(arguments, environment)
        options.netrc = try NetrcFile.read(arguments, environment: environment)
        options.headers = try headers(arguments)
        options.userAgent =
            try OptionValue.header(arguments, .userAgent, "User-Agent: " + arguments.text(.userAgent)).value
        options.limitRate = try OptionValue.timetable(arguments, .limitRate)
        if arguments.has(.maxBytes) { options.maxBytes = try OptionValue.bytes(arguments, .maxBytes) }
        options.smallestFirst = arguments.value(.order) == "smallest"
        return options
    }

    /// A field that the command line gives takes the place of those of its name in the profile, and leaves the others.
    private static func headers(
        _ arguments: Arguments
    ) throws(CommandError) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        for layer in arguments.layered(.header) {
            let known = Set(headers.map { $0.name.lowercased() })
            for text in layer {
                let field = try OptionValue.header(arguments, .header, text)
                if !known.contains(field.name.lowercased()) { headers.append(field) }
            }
        }
        return headers
    }

    private static func proxies(
        _ arguments: Arguments, _ environment: (String) -> String?
    ) throws(CommandError) -> ProxyRules {
        do throws(ProxyRulesError) {
            return try ProxyRules(option: arguments.value(.proxy), variable: environment)
        } catch {
            throw CommandError(.configuration, "\(error.name): \(error.cause)")
        }
    }

    /// The manifests that were named.
    static func manifests(_ arguments: Arguments) throws(CommandError) -> [String] {
        let paths = arguments.operands.map(\.text)
        guard paths.count(where: { $0 == "-" }) <= 1 else {
            throw CommandError(.usage, "standard input can be read once: give - only once")
        }
        return paths
    }

    /// `--max-age`: a time, or the word `server`; nil when it was not given.
    static func maxAge(_ arguments: Arguments) throws(CommandError) -> MaxAge? {
        guard arguments.has(.maxAge) else { return nil }
        if arguments.text(.maxAge) == "server" { return .server }
        return .seconds(Int64(try OptionValue.seconds(arguments, .maxAge, allowsZero: true)))
    }
}
