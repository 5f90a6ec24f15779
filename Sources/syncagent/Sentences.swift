internal import Agent
internal import Storage

/// What is told to people while and after a run, as sentences.
enum Sentences {
    /// Nil for what is only counted.
    static func sentence(_ notice: Notice) -> String? {
        switch notice {
        case .problem(let problem):
            place(problem.place) + ": " + (problem.isWarning ? "warning: " : "") + problem.message
        case .failed(let url, let place, _, _, let message):
            (place.map { self.place($0) + ": " } ?? "") + url + ": " + message
        case .remark(let url, let message): url + ": " + message
        case .changed: nil
        case .general(let message): message
        }
    }

    private static func place(_ place: Place) -> String {
        (place.manifest == "-" ? "standard input" : place.manifest) + ":\(place.line)"
    }

    /// Why a run could not be.
    static func failure(_ error: SyncError) -> CommandError {
        switch error {
        case .cacheUnusable(let message), .ledgerNewer(let message): CommandError(.cannotCreate, message)
        case .diskFull(let message), .inputOutput(let message): CommandError(.inputOutput, message)
        case .manifestMissing(let message): CommandError(.missingManifest, message)
        case .manifestUnusable(let message): CommandError(.unusableManifest, message)
        case .lockHeld(let cache):
            CommandError(
                .tryAgain,
                "another run is at work on \(cache); run again when it has ended, or pass --wait-lock 10m")
        case .usage(let message): CommandError(.usage, message)
        }
    }

    /// The last line of a run that did not get everything.
    ///
    /// - Parameters:
    ///   - badLines: lines of the manifests that could not be read.
    ///   - signal: the name of the signal that ended it, if one did.
    static func shortfall(_ outcome: SyncOutcome, badLines: Int, signal: String?) -> String {
        var parts = ["\(outcome.current) of \(counted(outcome.entries, "entry", "entries")) current"]
        if outcome.failed > 0 { parts.append("\(outcome.failed) failed") }
        if outcome.pending > 0 { parts.append("\(outcome.pending) pending") }
        if badLines > 0 { parts.append(counted(badLines, "bad line", "bad lines")) }
        var next: [String] = []
        if outcome.exitCode == ExitCode.tryAgain.rawValue { next.append("run again to go on") }
        if outcome.failed > 0 { next.append("syncagent status tells why") }
        return (signal.map { "stopped by \($0): " } ?? "") + parts.joined(separator: ", ")
            + (next.isEmpty ? "" : "; " + next.joined(separator: ", "))
    }

    /// The last line of a run in which all is well, for a terminal.
    static func success(_ outcome: SyncOutcome, changed: Int, seconds: Double) -> String {
        "\(counted(outcome.entries, "entry", "entries")) current, \(changed) fetched, "
            + "\(Formats.bytes(outcome.bytesReceived)) received in \(Formats.duration(seconds))"
    }
}
