internal import Agent
internal import Posix
internal import Storage
internal import Wire

/// What is told to people while and after a run, as sentences.
enum Sentences {
    /// Nil for what is only counted.
    static func sentence(_ notice: Notice) -> String? {
        switch notice {
        case .problem(let problem): sentence(problem)
        case .failed(let url, let place, _, _, let message):
            (place.map { self.place($0) + ": " } ?? "") + url + ": " + message
        case .remark(let url, let message): url + ": " + message
        case .changed, .began: nil
        case .warning(let message), .general(let message): message
        }
    }

    /// `file:line: reason`.
    static func sentence(_ problem: ManifestProblem) -> String {
        place(problem.place) + ": " + (problem.isWarning ? "warning: " : "") + problem.message
    }

    private static func place(_ place: Place) -> String {
        manifest(place.manifest) + ":\(place.line)"
    }

    /// Why a run could not be.
    static func failure(_ error: SyncError) -> CommandError {
        switch error {
        case .cacheUnusable(let error): failure(error)
        case .ledger(let error): CacheView.failure(error)
        case .storage(let error):
            CommandError(
                .inputOutput,
                "\(error.subject): \(error.reason)"
                    + (error.isDiskFull ? "; make room and run again" : " (\(error.operation))"))
        case .manifest(let error): failure(error)
        case .badLines(let count):
            CommandError(
                .unusableManifest,
                "\(counted(count, "bad line", "bad lines")), so nothing was fetched; correct them or run without --strict"
            )
        case .lockHeld(let cache):
            CommandError(
                .tryAgain,
                "another run is at work on \(cache); run again when it has ended, or pass --wait-lock 10m")
        case .configuration(let message): CommandError(.configuration, message)
        }
    }

    /// Why a manifest could not be read.
    static func failure(_ error: ManifestError) -> CommandError {
        switch error {
        case .unreadable(let name, let cause):
            CommandError(.missingManifest, "cannot read \(manifest(name)): \(cause.reason)")
        case .isFolder(let name):
            CommandError(.missingManifest, "cannot read \(manifest(name)): it is a folder; name a file in it")
        case .unusable(let name, let why): CommandError(.unusableManifest, "\(manifest(name)): \(why)")
        case .stopped(let name): CommandError(.tryAgain, "stopped while reading \(manifest(name))")
        }
    }

    static func failure(_ error: CacheError) -> CommandError {
        let code: ExitCode
        switch error.kind {
        case .missing, .notAFolder, .noPermission, .readOnly, .divided: code = .cannotCreate
        case .full, .failed: code = .inputOutput
        }
        return CommandError(
            code, "cannot use \(error.path): \(error.reason)" + (error.advice.map { "; " + $0 } ?? ""))
    }

    /// A text that may hold a URL, without its secrets.
    static func masked(_ text: String) -> String { HTTPURL.maskedWord(text) }

    /// Somebody may have given a URL.
    private static func manifest(_ name: String) -> String {
        name == "-" ? "standard input" : HTTPURL.maskedWord(name)
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
        if outcome.paused > 0 { parts.append("\(outcome.paused) paused") }
        if badLines > 0 { parts.append(counted(badLines, "bad line", "bad lines")) }
        var next: [String] = []
        if outcome.pending > 0 || outcome.exitCode == ExitCode.tryAgain.rawValue {
            next.append("run again to go on")
        }
        if outcome.failed > 0 { next.append("syncagent status tells why") }
        let why =
            signal.map { "stopped by \($0): " }
            ?? (outcome.isOffline ? "offline, no host could be reached: " : "")
        return why + parts.joined(separator: ", ")
            + (next.isEmpty ? "" : "; " + next.joined(separator: ", "))
    }

    /// The last line of a run in which all is well, for a terminal.
    static func success(_ outcome: SyncOutcome, changed: Int, seconds: Double) -> String {
        "\(counted(outcome.current, "entry", "entries")) current, "
            + (outcome.paused > 0 ? "\(outcome.paused) paused, " : "") + "\(changed) fetched, "
            + "\(Formats.bytes(outcome.bytesReceived)) received in \(Formats.duration(seconds))"
    }
}
