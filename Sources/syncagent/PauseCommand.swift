internal import Posix
internal import Storage
internal import Wire

/// `syncagent pause` and `resume`: what the user says goes into the ledger, where a sync at work sees it.
enum PauseCommand {
    /// Seconds to wait for a ledger that a run is just making, or writing.
    private static let patience = 10.0

    static func run(_ arguments: Arguments) throws(CommandError) -> Int32 {
        let isPaused = arguments.command == .pause
        let subjects = try subjects(arguments)
        let path = try CachePath.resolve(option: arguments.value(.cache), environment: environmentValue)
        let ledger = try CachePath.ledger(arguments)
        if !isPaused {
            // Where nothing is, nothing is paused, and nothing need be made.
            let view = try CacheView(path: path, ledger: ledger)
            if view.ledger == nil, !view.isRunning { return ExitCode.success.rawValue }
        }
        let cache: CacheFolder
        do throws(CacheError) {
            cache = try CacheFolder.open(path: path, ledger: ledger, create: isPaused)
        } catch {
            throw Sentences.failure(error)
        }
        do throws(LedgerError) {
            try say(isPaused, subjects, in: cache)
        } catch {
            throw CacheView.failure(error)
        }
        if StandardStream.error.isTerminal {
            Console.complain(
                "\(isPaused ? "paused" : "resumed"): " + subjects.map(\.text).joined(separator: ", "))
        }
        return ExitCode.success.rawValue
    }

    private static func subjects(
        _ arguments: Arguments
    ) throws(CommandError) -> [(subject: PauseRule.Subject, text: String)] {
        var subjects: [(subject: PauseRule.Subject, text: String)] = []
        if arguments.has(.all) { subjects.append((.pattern("*"), "*")) }
        for glob in arguments.all(.match) {
            guard !glob.isEmpty else {
                throw CommandError(.usage, "--match wants a pattern, not an empty word")
            }
            // What it is compared with is masked as well.
            let pattern = HTTPURL.maskedWord(glob)
            subjects.append((.pattern(pattern), pattern))
        }
        for url in arguments.operands {
            subjects.append((.key(KeyArgument.key(of: url)), HTTPURL.maskedText(url.text)))
        }
        guard !subjects.isEmpty else {
            throw CommandError(
                .usage, "\(arguments.command.rawValue) whom? name URLs, or pass --match GLOB or --all")
        }
        return subjects
    }

    /// When nobody is at work the ledger is made, or made good, first; else whoever is has done so, or is about to.
    private static func say(
        _ isPaused: Bool, _ subjects: [(subject: PauseRule.Subject, text: String)], in cache: CacheFolder
    ) throws(LedgerError) {
        let deadline = Instant.now.advanced(bySeconds: patience)
        while true {
            if let lock = try lock(cache) {
                try LedgerWriter.open(in: cache.state).close()
                try tell(isPaused, subjects, in: cache)
                _ = consume lock
                return
            }
            do throws(LedgerError) {
                if try tell(isPaused, subjects, in: cache) { return }
            } catch {
                guard error.kind == .busy, Instant.now < deadline else { throw error }
            }
            guard Instant.now < deadline else {
                throw LedgerError(.busy, path: cache.path, reason: "another program is at work on it")
            }
            do throws(SystemError) {
                _ = try Stop().wait(until: .now.advanced(bySeconds: 0.05))
            } catch {
                throw LedgerError(.failed, path: cache.path, reason: error.reason)
            }
        }
    }

    private static func lock(_ cache: CacheFolder) throws(LedgerError) -> CacheLock? {
        do throws(CacheError) {
            return try cache.lock()
        } catch {
            throw LedgerError(.failed, path: error.path, reason: error.reason)
        }
    }

    /// False when there is no ledger.
    @discardableResult
    private static func tell(
        _ isPaused: Bool, _ subjects: [(subject: PauseRule.Subject, text: String)], in cache: CacheFolder
    ) throws(LedgerError) -> Bool {
        guard var ledger = try PauseLedger.open(in: cache.state) else { return false }
        try ledger.say(isPaused, of: subjects)
        return true
    }
}
