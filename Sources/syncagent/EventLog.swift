internal import Agent
internal import Posix
internal import Storage
internal import Synchronization

/// The file of `--log`: a line for each event of a run.
///
/// A log that cannot be written stops nothing; the end of the run tells.
final class EventLog: Sendable {
    private struct State: ~Copyable {
        var file: AppendedFile
        var failure: String?
    }

    private let state: Mutex<State>

    init(path: String) throws(CommandError) {
        let file: AppendedFile
        do throws(SystemError) {
            file = try AppendedFile(path: path)
        } catch {
            throw CommandError(.cannotCreate, "cannot write the log \(path): \(error.reason)")
        }
        state = Mutex(State(file: file))
    }

    /// Why the log is not whole; nil when it is.
    var failure: String? { state.withLock { $0.failure } }

    func write(
        _ severity: Console.Severity, _ event: String, _ fields: [(name: String, value: String)]
    ) {
        let line = Array(LogLine.text(wall: wallSeconds(), severity, event, fields).utf8)
        state.withLock { state in
            do throws(SystemError) {
                try state.file.append(line)
            } catch {
                state.failure = "the log \(state.file.path) is not whole: \(error.reason)"
            }
        }
    }

    func take(_ notice: Notice) {
        switch notice {
        case .began: write(.info, "begun", [])
        case .changed(let url, let bytes):
            write(.info, "published", [("url", url), ("bytes", "\(bytes)")])
        case .failed(let url, let place, let isPermanent, let reason, let message):
            let line = place.map { [("place", "\($0.manifest):\($0.line)")] } ?? []
            write(
                .error, "failed",
                [("url", url), ("reason", reason), ("for", isPermanent ? "good" : "now")]
                    + line.map { (name: $0.0, value: Sentences.masked($0.1)) } + [("message", message)])
        case .remark(let url, let message):
            write(.info, "remark", [("url", url), ("message", message)])
        case .problem(let problem):
            write(
                problem.isWarning ? .warning : .error, "manifest",
                [("message", Sentences.sentence(problem))])
        case .warning(let message): write(.warning, "warning", [("message", message)])
        case .general(let message): write(.error, "run", [("message", message)])
        }
    }
}
