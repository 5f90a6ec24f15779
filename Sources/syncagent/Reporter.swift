internal import Agent
internal import Posix
internal import Storage

/// Everything that a run writes to standard error: one place, so that lines and progress never mix.
final class Reporter: Sendable {
    /// How much is told.
    struct Manner {
        /// Standard error is a terminal: remarks and the summary of a good run are welcome.
        var isTerminal: Bool
        var isQuiet: Bool
        /// Nil shows no progress.
        var painter: ProgressPainter?
        /// Standard error goes to the journal.
        var isJournal = false
        /// Only what has changed since the last run is told, at the end.
        var tellsChanges = false
    }

    private struct State {
        var budget: NoticeBudget
        var painter: ProgressPainter?
        var changed = 0
        var badLines = 0
        /// Told when the run fails, where they are not told at once.
        var warnings: [String] = []
    }

    /// On a terminal a person can scroll; elsewhere it becomes a mail.
    private static let terminalLines = 200
    private static let mailLines = 20

    private let state: Monitor<State>
    private let showsRemarks: Bool
    private let showsSuccess: Bool
    private let isJournal: Bool
    private let tellsChanges: Bool
    /// Whether `draw` has anything to do.
    let drawsProgress: Bool
    private let write: @Sendable (String) -> Void

    init(_ manner: Manner, write: @escaping @Sendable (String) -> Void = Console.tell) {
        let limit = manner.isTerminal && !manner.isQuiet ? Self.terminalLines : Self.mailLines
        state = Monitor(State(budget: NoticeBudget(limit: limit), painter: manner.painter))
        showsRemarks = manner.isTerminal && !manner.isQuiet
        showsSuccess = showsRemarks
        drawsProgress = manner.painter != nil
        isJournal = manner.isJournal
        tellsChanges = manner.tellsChanges
        self.write = write
    }

    /// Takes what the run has to tell, from any thread.
    func take(_ notice: Notice) {
        state.withLock { state in
            if case .changed = notice { state.changed += 1 }
            if case .problem(let problem) = notice, !problem.isWarning { state.badLines += 1 }
            if tellsChanges { return }
            let isShown: Bool
            var severity = Console.Severity.error
            switch notice {
            case .began, .changed: isShown = false
            case .problem:
                isShown = Sentences.sentence(notice).map { state.budget.admits($0) } ?? false
            case .failed: isShown = Sentences.sentence(notice).map { state.budget.admits($0) } ?? false
            case .remark:
                severity = .info
                isShown = showsRemarks && state.budget.admits("")
            case .warning(let message):
                severity = .warning
                isShown = showsRemarks && state.budget.admitsGeneral()
                if !isShown { state.warnings.append(message) }
            case .general: isShown = state.budget.admitsGeneral()
            }
            if isShown, let sentence = Sentences.sentence(notice) { say([sentence], severity, &state) }
        }
    }

    /// Draws the progress, if that is wanted.
    func draw(_ snapshot: Snapshot, columns: Int, now: Instant) {
        state.withLock { state in
            if let text = state.painter?.draw(snapshot, columns: columns, now: now) { write(text) }
        }
    }

    /// Tells how far the run is, in one line, since somebody asked.
    func answer(_ snapshot: Snapshot, seconds: Double) {
        state.withLock { state in say([Reporter.line(snapshot, seconds: seconds)], .info, &state) }
    }

    /// How far a run is, so many seconds after it began.
    static func line(_ snapshot: Snapshot, seconds: Double) -> String {
        let pace = Pace(bytesPerSecond: seconds >= 1 ? Double(snapshot.bytesReceived) / seconds : nil)
        return ProgressText.run(snapshot, pace: pace, columns: 200)
    }

    /// How the run ended, in one line.
    func summary(_ outcome: SyncOutcome, signal: String?, seconds: Double) -> String {
        state.withLock { summary(outcome, signal: signal, seconds: seconds, $0) }
    }

    private func summary(_ outcome: SyncOutcome, signal: String?, seconds: Double, _ state: State) -> String {
        outcome.exitCode == 0
            ? Sentences.success(outcome, changed: state.changed, seconds: seconds)
            : Sentences.shortfall(outcome, badLines: state.badLines, signal: signal)
    }

    /// Clears the progress and tells how the run ended.
    func finish(_ outcome: SyncOutcome, signal: String?, seconds: Double) {
        state.withLock { state in
            wipe(&state)
            let last = summary(outcome, signal: signal, seconds: seconds, state)
            if outcome.exitCode == 0 {
                say(state.budget.rest(), .error, &state)
                if state.budget.dropped > 0 { say(["\(state.budget.dropped) more of these"], .error, &state) }
                if showsSuccess { say([last], .info, &state) }
                return
            }
            say(warnings(&state) + state.budget.rest(), .error, &state)
            let more = state.budget.dropped > 0 ? "\(state.budget.dropped) more of these; " : ""
            say([more + last], .error, &state)
        }
    }

    /// Clears the progress and tells why there was no run.
    func finish(_ error: CommandError) {
        state.withLock { state in
            wipe(&state)
            say(warnings(&state) + state.budget.rest() + [error.message], .error, &state)
        }
    }

    /// Tells what has changed since the last run; nothing when nothing has.
    func finish(_ changes: ToldFailures.Changes, last: String?) {
        state.withLock { state in
            wipe(&state)
            for sentence in changes.new where state.budget.admits(sentence) {
                say([sentence], .error, &state)
            }
            for sentence in changes.over {
                let over = "over: " + sentence
                if state.budget.admits(over) { say([over], .info, &state) }
            }
            say(state.budget.rest(), .error, &state)
            if state.budget.dropped > 0 { say(["\(state.budget.dropped) more of these"], .error, &state) }
            if let last, !changes.new.isEmpty { say([last], .error, &state) }
        }
    }

    /// Clears the progress and tells, to people only, that another run is at work: a timer that comes while the last
    /// run still works is no reason for a mail, and the exit code says it.
    func finishBesideAnother(_ error: CommandError) {
        state.withLock { state in
            wipe(&state)
            if showsRemarks { say([error.message], .info, &state) }
        }
    }

    /// The warnings that were not told yet and still fit.
    private func warnings(_ state: inout State) -> [String] {
        var fitting: [String] = []
        for warning in state.warnings where state.budget.admitsGeneral() { fitting.append(warning) }
        return fitting
    }

    private func wipe(_ state: inout State) {
        if let text = state.painter?.clear() { write(text) }
        state.painter = nil
    }

    private func say(
        _ sentences: [String], _ severity: Console.Severity, _ state: inout State
    ) {
        guard !sentences.isEmpty else { return }
        let lines = sentences.map { Console.line($0, severity, isJournal: isJournal) }.joined()
        write((state.painter?.clear() ?? "") + lines)
    }
}
