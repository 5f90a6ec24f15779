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
    /// Whether `draw` has anything to do.
    let drawsProgress: Bool
    private let write: @Sendable (String) -> Void

    init(_ manner: Manner, write: @escaping @Sendable (String) -> Void = Console.tell) {
        let limit = manner.isTerminal && !manner.isQuiet ? Self.terminalLines : Self.mailLines
        state = Monitor(State(budget: NoticeBudget(limit: limit), painter: manner.painter))
        showsRemarks = manner.isTerminal && !manner.isQuiet
        showsSuccess = showsRemarks
        drawsProgress = manner.painter != nil
        self.write = write
    }

    /// Takes what the run has to tell, from any thread.
    func take(_ notice: Notice) {
        state.withLock { state in
            let isShown: Bool
            switch notice {
            case .changed:
                state.changed += 1
                isShown = false
            case .problem(let problem):
                if !problem.isWarning { state.badLines += 1 }
                isShown = Sentences.sentence(notice).map { state.budget.admits($0) } ?? false
            case .failed: isShown = Sentences.sentence(notice).map { state.budget.admits($0) } ?? false
            case .remark: isShown = showsRemarks && state.budget.admits("")
            case .warning(let message):
                isShown = showsRemarks && state.budget.admitsGeneral()
                if !isShown { state.warnings.append(message) }
            case .general: isShown = state.budget.admitsGeneral()
            }
            if isShown, let sentence = Sentences.sentence(notice) { say([sentence], &state) }
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
        let pace = Pace(bytesPerSecond: seconds >= 1 ? Double(snapshot.bytesReceived) / seconds : nil)
        state.withLock { state in say([ProgressText.run(snapshot, pace: pace, columns: 200)], &state) }
    }

    /// Clears the progress and tells how the run ended.
    func finish(_ outcome: SyncOutcome, signal: String?, seconds: Double) {
        state.withLock { state in
            wipe(&state)
            if outcome.exitCode == 0 {
                say(state.budget.rest(), &state)
                if state.budget.dropped > 0 { say(["\(state.budget.dropped) more of these"], &state) }
                if showsSuccess {
                    say([Sentences.success(outcome, changed: state.changed, seconds: seconds)], &state)
                }
                return
            }
            say(warnings(&state) + state.budget.rest(), &state)
            let more = state.budget.dropped > 0 ? "\(state.budget.dropped) more of these; " : ""
            say([more + Sentences.shortfall(outcome, badLines: state.badLines, signal: signal)], &state)
        }
    }

    /// Clears the progress and tells why there was no run.
    func finish(_ error: CommandError) {
        state.withLock { state in
            wipe(&state)
            say(warnings(&state) + state.budget.rest() + [error.message], &state)
        }
    }

    /// Clears the progress and tells, to people only, that another run is at work: a timer that comes while the last
    /// run still works is no reason for a mail, and the exit code says it.
    func finishBesideAnother(_ error: CommandError) {
        state.withLock { state in
            wipe(&state)
            if showsRemarks { say([error.message], &state) }
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

    private func say(_ sentences: [String], _ state: inout State) {
        guard !sentences.isEmpty else { return }
        let lines = sentences.map { "syncagent: " + DisplayText.printable($0) + "\n" }.joined()
        write((state.painter?.clear() ?? "") + lines)
    }
}
