internal import CLinux
internal import Posix
internal import Testing

/// A child process whose output goes to files; it is killed when it is released.
final class Child: Sendable {
    /// How a process ended and what it wrote.
    struct Outcome: CustomStringConvertible {
        /// The exit code; 128 + the signal that killed it; nil when it was still running at the deadline.
        let code: Int32?
        let output: String
        let errors: String

        var description: String { "exit \(code.map(String.init) ?? "none")\n\(output)\(errors)" }
    }

    private struct State {
        var process: pid_t = 0
        var code: Int32?
    }

    private let state = Monitor(State())
    private let transcript: String

    /// The process id; 0 when it could not be started.
    var process: pid_t { state.withLock { $0.process } }
    /// Where its standard output goes.
    var outputPath: String { transcript + ".out" }
    /// Whether it still runs.
    var isRunning: Bool { state.withLock { $0.code == nil } }

    /// Starts a program with exactly this environment; its working folder is the test's.
    init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        input: String = "/dev/null",
        folder: String = ScratchFolder.path
    ) throws(SystemError) {
        transcript = "\(folder)/child-\(randomHex(bytes: 6))"
        let outputs = (transcript + ".out", transcript + ".err")
        let state = state
        // One thread starts it and waits for it, so that a parent-death signal means the end of the tests.
        try WorkerThread(name: "child") {
            let process = Child.spawn(program, arguments, environment, input, outputs, folder)
            state.signal { $0.process = process }
            var status: Int32 = 127 << 8
            while process > 0 && waitpid(process, &status, 0) < 0 && clinux_errno() == EINTR {}
            let code = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
            state.signal { $0.code = code }
        }.detach()
        state.wait { $0.process != 0 || $0.code != nil ? .done(()) : .wait(until: .never) }
    }

    deinit { kill(SIGKILL) }

    /// Sends a signal, unless it has ended.
    func kill(_ signal: Int32) {
        state.withLock { state in
            if state.code == nil && state.process > 0 { _ = CLinux.kill(state.process, signal) }
        }
    }

    /// Waits for its end; at the deadline it is killed, unless told otherwise, and the code stays nil.
    func wait(seconds: Double = 60, kills: Bool = true) -> Outcome {
        let deadline = Instant.now.advanced(bySeconds: seconds)
        let code: Int32? = state.wait { state in
            if let code = state.code { return .done(code) }
            return Instant.now >= deadline ? .done(nil) : .wait(until: deadline)
        }
        if code == nil && kills { kill(SIGKILL) }
        return Outcome(code: code, output: text(transcript + ".out"), errors: text(transcript + ".err"))
    }

    /// Runs a program to its end.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        input: String = "/dev/null",
        folder: String = ScratchFolder.path, seconds: Double = 60
    ) -> Outcome {
        do throws(SystemError) {
            let child = try Child(
                program, arguments, environment: environment, input: input, folder: folder)
            return child.wait(seconds: seconds)
        } catch {
            return Outcome(code: nil, output: "", errors: "\(error)")
        }
    }

    private func text(_ path: String) -> String {
        do {
            return String(decoding: try contents(of: path) ?? [], as: UTF8.self)
        } catch {
            return "\(error)"
        }
    }

    private static func spawn(
        _ program: String, _ arguments: [String], _ environment: [String: String], _ input: String,
        _ outputs: (String, String), _ folder: String
    ) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let creating = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, outputs.0, creating, 0o644)
        posix_spawn_file_actions_addopen(&actions, 2, outputs.1, creating, 0o644)
        posix_spawn_file_actions_addchdir_np(&actions, folder)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        // Threads of ours block all signals, and a child inherits that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var settings: [UnsafeMutablePointer<CChar>?] =
            environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, &attributes, &words, &settings)
        return code == 0 ? process : -1
    }
}
