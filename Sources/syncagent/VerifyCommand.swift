internal import Agent
internal import Posix
internal import Reconcile
internal import Storage

/// `syncagent verify`: reads the files again, names what is damaged, and has it fetched again.
enum VerifyCommand {
    /// Damaged files that are named; the rest is counted.
    private static let namesShown = 20
    private static let repairWait = 60.0

    static func run(_ arguments: Arguments) throws(CommandError) -> Int32 {
        let path = try CachePath.resolve(option: arguments.value(.cache), environment: environmentValue)
        if !arguments.operands.isEmpty, !arguments.has(.repair) {
            throw CommandError(.usage, "verify reads manifests only to repair: pass --repair too")
        }
        var options = VerifyOptions(cache: path)
        options.state = try CachePath.ledger(arguments)
        options.waitLock = try OptionValue.seconds(arguments, .waitLock, allowsZero: true)
        if arguments.has(.maxTime) { options.maxTime = try OptionValue.seconds(arguments, .maxTime) }
        let minute = localMinute(of: wallSeconds())
        options.limitRate = try OptionValue.timetable(arguments, .limitRate)?.rate(atMinute: minute)
        options.keepsDamaged = arguments.has(.keepDamaged)
        // Asked before anything is read: a repair that cannot be is better known now.
        var repair = arguments.has(.repair) ? try SyncCommand.options(arguments, cache: path) : nil
        let (stop, signals) = try SyncCommand.watchSignals()
        if try isEmpty(path, options.state) { return ExitCode.success.rawValue }

        let outcome = try verify(options, stop)
        if StandardStream.error.isTerminal { Console.complain(summary(outcome)) }
        let isSound = outcome.damaged.isEmpty && outcome.unread == 0
        if signals.receivedName != nil { return (isSound ? ExitCode.tryAgain : .failure).rawValue }
        guard !outcome.damaged.isEmpty, repair != nil else {
            return (isSound ? ExitCode.success : .failure).rawValue
        }
        if repair?.manifests.isEmpty == true { repair?.manifests = readable(outcome.manifests) }
        repair?.maxTime = nil
        repair?.waitLock = max(options.waitLock, repairWait)
        repair?.only = Set(outcome.damaged)
        let code = try fetch(repair, stop, damaged: outcome.damaged.count)
        return code == 0 && outcome.unread > 0 ? ExitCode.failure.rawValue : code
    }

    private static func isEmpty(_ path: String, _ ledger: String?) throws(CommandError) -> Bool {
        let view = try CacheView(path: path, ledger: ledger)
        return view.ledger == nil && !view.isRunning
    }

    private static func verify(_ options: VerifyOptions, _ stop: Stop) throws(CommandError) -> VerifyOutcome {
        let budget = Monitor(NoticeBudget(limit: namesShown, reserve: 0))
        do throws(SyncError) {
            var verification = Verification(options: options, stop: stop) { finding in
                let sentence = "\(options.cache)/\(finding.file) (\(finding.url)): \(finding.message)"
                if budget.withLock({ $0.admits(sentence) }) { Console.complain(sentence) }
            }
            let outcome = try verification.run { notice in
                if let sentence = Sentences.sentence(notice) { Console.complain(sentence) }
            }
            let dropped = budget.withLock { $0.dropped }
            if dropped > 0 { Console.complain("\(dropped) more of these") }
            return outcome
        } catch {
            throw Sentences.failure(error)
        }
    }

    private static func summary(_ outcome: VerifyOutcome) -> String {
        var text = "\(counted(outcome.files, "file", "files")) read, \(Formats.bytes(outcome.bytes)), "
        text += outcome.damaged.isEmpty ? "none damaged" : "\(outcome.damaged.count) damaged"
        if outcome.isCutShort { text += "; the next verify goes on from here" }
        return text
    }

    /// Those that can be read now; the others are told of.
    private static func readable(_ paths: [String]) -> [String] {
        paths.filter { path in
            guard path != "-" else {
                Console.complain("what came by standard input cannot be read again; name a manifest")
                return false
            }
            do throws(ManifestError) {
                _ = try ManifestReader(path: path)
                return true
            } catch {
                Console.complain(Sentences.failure(error).message)
                return false
            }
        }
    }

    private static func fetch(
        _ options: SyncOptions?, _ stop: Stop, damaged: Int
    ) throws(CommandError) -> Int32 {
        guard let options, !options.manifests.isEmpty else {
            throw CommandError(.failure, "no manifest can be read, so nothing was repaired; name one")
        }
        let reporter = Reporter(Reporter.Manner(isTerminal: false, isQuiet: true, painter: nil))
        let began = Instant.now
        let outcome: SyncOutcome
        do throws(SyncError) {
            outcome = try SyncRun(options: options, stop: stop) { reporter.take($0) }.run()
        } catch {
            throw Sentences.failure(error)
        }
        reporter.finish(outcome, signal: nil, seconds: Instant.now.seconds(since: began))
        guard outcome.exitCode == 0, outcome.current < damaged else { return outcome.exitCode }
        throw CommandError(
            .failure,
            "\(damaged - outcome.current) of \(counted(damaged, "damaged file", "damaged files")) "
                + "were not repaired: paused, or in no manifest that was read")
    }
}
