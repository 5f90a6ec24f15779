internal import Agent
internal import Posix
internal import Storage
internal import Synchronization

/// `--notify-change`: gathers the failures of a run, and tells which are new and which are over since the last one.
final class ChangeWatch: Sendable {
    private let seen = Mutex(ToldFailures())
    private let cache: String
    /// The ledger's folder, where what was told is remembered.
    private let state: String

    init(cache: String, state: String?) {
        self.cache = cache
        self.state = state ?? cache + "/" + CacheFolder.stateName
    }

    /// What is about entries comes from the ledger in the end, which also knows of failures that are not asked again yet.
    func take(_ notice: Notice) {
        switch notice {
        case .problem(let problem) where !problem.isWarning:
            seen.withLock { $0.add(ToldFailures.Item(line: Sentences.sentence(problem))) }
        case .general(let message): add(message)
        case .began, .problem, .failed, .remark, .changed, .warning: break
        }
    }

    /// Something about the run as a whole.
    func add(_ sentence: String) { seen.withLock { $0.add(ToldFailures.Item(run: sentence)) } }

    /// Compares with what was told last, and remembers what holds now.
    ///
    /// - Parameters:
    ///   - isWhole: the run came to its end, so that what was not met is over.
    ///   - work: what is said when work remains without any failure; nil when none does.
    func conclude(isWhole: Bool, work: String?) throws(CommandError) -> ToldFailures.Changes {
        var now = seen.withLock { $0 }
        let before = try told()
        let failures = try failedEntries()
        for row in failures ?? [] {
            if let failure = row.failure { now.add(ToldFailures.Item(row, failure)) }
        }
        if now.items.isEmpty, let work { now.add(ToldFailures.Item("run pending", work)) }
        now.keep(before) { $0.isOfEntry ? failures == nil : !isWhole }
        let changes = now.changes(since: before)
        if changes != ToldFailures.Changes() { try remember(now) }
        return changes
    }

    /// Nil when there is no ledger.
    private func failedEntries() throws(CommandError) -> [EntryRow]? {
        do throws(LedgerError) {
            var ledger = try LedgerReader.open(in: try Self.folder(state))
            return try ledger?.failures(limit: ToldFailures.limit)
        } catch {
            if error.kind == .unusable { return nil }
            throw CacheView.failure(error)
        }
    }

    private static func folder(_ path: String) throws(LedgerError) -> Folder {
        do throws(SystemError) {
            return try Folder(opening: path)
        } catch {
            throw LedgerError(.unusable, path: path, reason: error.reason)
        }
    }

    private func told() throws(CommandError) -> ToldFailures {
        do throws(SystemError) {
            let bytes = try wholeFile(at: path, limit: ToldFailures.largest)
            return ToldFailures(parsing: bytes ?? [])
        } catch {
            if error.isMissing { return ToldFailures() }
            throw CommandError(.inputOutput, "cannot read \(path): \(error.reason)")
        }
    }

    private func remember(_ failures: ToldFailures) throws(CommandError) {
        do throws(SystemError) {
            try replaceFile(at: path, with: Array(failures.text.utf8), mode: 0o600)
        } catch {
            throw CommandError(.inputOutput, "cannot write \(path): \(error.reason)")
        }
    }

    private var path: String { state + "/" + ToldFailures.fileName }
}
