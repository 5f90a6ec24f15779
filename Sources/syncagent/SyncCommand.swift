internal import Agent
internal import Posix
internal import Storage
internal import Wire

/// `syncagent sync`: options in, sentences and an exit code out.
enum SyncCommand {
    static func run(_ arguments: Arguments) throws(CommandError) -> Int32 {
        let cache = try CachePath.resolve(option: arguments.value(.cache), environment: environmentValue)
        let options = try options(arguments, cache: cache)
        let prune = try prune(arguments)
        let reporter = Reporter(manner(arguments))
        let ending = Monitor(Progress())
        let (stop, signals) = try watchSignals { ending.signal { $0.wasAsked = true } }
        let sync = SyncRun(options: options, stop: stop) { reporter.take($0) }
        let began = Instant.now
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
        switch ended(ending, drawing: sync, reporter) {
        case .success(let outcome):
            reporter.finish(outcome, signal: signals.receivedName, seconds: Instant.now.seconds(since: began))
            guard outcome.exitCode == 0, let prune else { return outcome.exitCode }
            return try PruneCommand.runAfterSync(prune, stop)
        case .failure(let error):
            let failure = Sentences.failure(error)
            if case .lockHeld = error {
                reporter.finishBesideAnother(failure)
            } else {
                reporter.finish(failure)
            }
            return failure.code.rawValue
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
        _ ending: Monitor<Progress>, drawing sync: SyncRun, _ reporter: Reporter
    ) -> Result<SyncOutcome, SyncError> {
        let began = Instant.now
        while true {
            let frame = Instant.now.advanced(bySeconds: reporter.drawsProgress ? 0.1 : 3600)
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
        return Reporter.Manner(
            isTerminal: isTerminal, isQuiet: isQuiet, painter: isWanted ? ProgressPainter(means) : nil)
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
        for text in arguments.all(.header) { options.headers.append(try OptionValue.header(text)) }
        options.userAgent = try OptionValue.header("User-Agent: " + arguments.text(.userAgent)).value
        return options
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
