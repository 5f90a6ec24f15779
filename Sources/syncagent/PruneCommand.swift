internal import Agent
internal import Posix
internal import Storage

/// `syncagent prune`: lists or removes what no manifest asks for any more.
enum PruneCommand {
    static func run(_ arguments: Arguments) throws(CommandError) -> Int32 {
        guard !(arguments.has(.yes) && arguments.has(.dryRun)) else {
            throw CommandError(.usage, "--yes and --dry-run contradict each other")
        }
        var options = try options(arguments)
        options.manifests = try SyncCommand.manifests(arguments)
        options.forgotten = arguments.all(.forget)
        options.waitLock = try OptionValue.seconds(arguments, .waitLock, allowsZero: true)
        let (stop, _) = try SyncCommand.watchSignals()
        if !arguments.has(.yes) {
            options.isDryRun = true
            let outcome = try prune(options, stop)
            try list(outcome, options.cache)
            Console.complain(summary(outcome, options, isDone: false))
            guard !arguments.has(.dryRun), !outcome.isNothing || !options.forgotten.isEmpty else {
                return ExitCode.success.rawValue
            }
            guard try isConfirmed(stop) else { return ExitCode.success.rawValue }
            options.isDryRun = false
        }
        let outcome = try prune(options, stop)
        if StandardStream.error.isTerminal { Console.complain(summary(outcome, options, isDone: true)) }
        return (outcome.isCutShort ? ExitCode.tryAgain : .success).rawValue
    }

    /// What a sync that prunes shares with `prune`.
    static func options(_ arguments: Arguments) throws(CommandError) -> PruneOptions {
        var options = PruneOptions(
            cache: try CachePath.resolve(option: arguments.value(.cache), environment: environmentValue))
        options.state = try CachePath.ledger(arguments)
        options.grace = Int64(try OptionValue.count(arguments, .grace, within: 0...36_500)) * 86_400
        options.limit = try limit(arguments)
        if arguments.has(.maxSize) { options.maxSize = try OptionValue.bytes(arguments, .maxSize) }
        return options
    }

    /// `--max-delete`: a number of files, or of per cent.
    private static func limit(_ arguments: Arguments) throws(CommandError) -> PruneOptions.Limit {
        let text = arguments.text(.maxDelete)
        let digits = text.hasSuffix("%") ? text.dropLast() : text[...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
            digits.count == text.count || number <= 100
        else {
            throw CommandError(
                .usage,
                "--max-delete wants a number of files or of per cent, such as 50 or 10%, not \(quoted(text))")
        }
        return digits.count == text.count ? .files(number) : .percent(number)
    }

    /// After a sync that ended with 0.
    static func runAfterSync(_ options: PruneOptions, _ stop: Stop) throws(CommandError) -> Int32 {
        var options = options
        options.waitLock = max(options.waitLock, 10)
        return (try prune(options, stop).isCutShort ? ExitCode.tryAgain : .success).rawValue
    }

    private static func prune(_ options: PruneOptions, _ stop: Stop) throws(CommandError) -> PruneOutcome {
        do throws(PruneError) {
            return try Pruning(options: options, stop: stop).run { notice in
                if let sentence = Sentences.sentence(notice) { Console.complain(sentence) }
            }
        } catch {
            switch error {
            case .refused(let why): throw CommandError(.failure, "nothing was removed: \(why)")
            case .sync(let error): throw Sentences.failure(error)
            }
        }
    }

    private static func list(_ outcome: PruneOutcome, _ cache: String) throws(CommandError) {
        var text = ""
        for file in outcome.files {
            text += DisplayText.aligned(Formats.bytes(file.size), columns: 11) + "  \(cache)/\(file.name)\n"
        }
        if !text.isEmpty { try Console.print(text) }
    }

    private static func summary(_ outcome: PruneOutcome, _ options: PruneOptions, isDone: Bool) -> String {
        let files = counted(outcome.files.count, "file", "files")
        var text = "\(files) of \(outcome.filesBefore) \(isDone ? "removed" : "would go")"
        text += ", \(Formats.bytes(outcome.bytes))"
        if outcome.partials > 0 { text += "; \(counted(outcome.partials, "partial", "partials")) too" }
        if outcome.spared > 0 { text += "; \(outcome.spared) that nobody asks for stay for now" }
        let left = outcome.bytesBefore - min(outcome.bytesBefore, outcome.bytes)
        if let maxSize = options.maxSize, left > maxSize {
            text += "; what is asked for takes \(Formats.bytes(left)), more than --max-size"
        }
        if !isDone, !StandardStream.error.isTerminal, !outcome.isNothing { text += "; pass --yes to remove" }
        return text
    }

    /// Only a person at a terminal can say yes here.
    private static func isConfirmed(_ stop: Stop) throws(CommandError) -> Bool {
        guard StandardStream.error.isTerminal, StandardStream.input.isTerminal else { return false }
        Console.tell("remove? [y/N] ")
        do throws(SystemError) {
            let answer = try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) {
                (buffer) throws(SystemError) -> String in
                let input = try Descriptor(duplicating: 0, subject: "standard input")
                let ready = try input.wait(.read, until: .now.advanced(bySeconds: 300), stop: stop)
                let count = ready == .ready ? try input.read(into: buffer) : 0
                return String(decoding: buffer[..<count], as: UTF8.self)
            }
            return answer.lowercased().hasPrefix("y")
        } catch {
            throw CommandError(.inputOutput, "cannot read the answer: \(error.reason)")
        }
    }
}

extension PruneOutcome {
    var isNothing: Bool { files.isEmpty && partials == 0 }
}
