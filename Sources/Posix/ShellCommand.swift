internal import CLinux

/// A command of the user's, run by `/bin/sh -c`, in a process group of its own.
///
/// It gets /dev/null to read, writes to our standard error, and inherits no other descriptor, no blocked and no
/// ignored signal. See posix_spawn(3).
package enum ShellCommand {
    /// How it ended.
    package enum Ending: Hashable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
        /// It took longer than it might, and was killed with its children.
        case tookTooLong
    }

    /// Seconds between SIGTERM and SIGKILL for one that took too long.
    private static let grace = 2.0

    /// Runs it and waits for its end, at most so many seconds and a little.
    ///
    /// - Parameter environment: `NAME=value`, all that it gets.
    package static func run(
        _ command: String, environment: [String], seconds: Double
    ) throws(SystemError) -> Ending {
        let process = try start(command, environment)
        // waitpid(2) has no deadline, so a thread of its own waits.
        let ended = Monitor<Int32?>(nil)
        try WorkerThread(name: "command") {
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 && clinux_errno() == EINTR {}
            let found = status
            ended.signal { $0 = found }
        }.detach()
        func wait(_ seconds: Double) -> Int32? {
            let deadline = Instant.now.advanced(bySeconds: seconds)
            return ended.wait { status -> Monitor<Int32?>.Next<Int32?> in
                if let status { return .done(status) }
                return Instant.now >= deadline ? .done(nil) : .wait(until: deadline)
            }
        }
        guard let status = wait(seconds) else {
            _ = CLinux.kill(-process, SIGTERM)
            _ = wait(grace)
            // Its children too, who may have outlived it.
            _ = CLinux.kill(-process, SIGKILL)
            _ = wait(grace)
            return .tookTooLong
        }
        return status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: status & 0x7F)
    }

    private static func start(_ command: String, _ environment: [String]) throws(SystemError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        // Standard output is for data of ours.
        posix_spawn_file_actions_adddup2(&actions, 2, 1)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let shell: [String] = ["/bin/sh", "-c", command]
        var words: [UnsafeMutablePointer<CChar>?] = shell.map { strdup($0) } + [nil]
        var settings: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for word in words + settings { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, "/bin/sh", &actions, &attributes, &words, &settings)
        guard code == 0 else { throw SystemError("posix_spawn", "/bin/sh", code: code) }
        return process
    }
}

/// The environment as `NAME=value`. See environ(7).
package func environmentEntries() -> [String] {
    var entries: [String] = []
    var next = clinux_environment()
    while let pointer = next?.pointee {
        entries.append(String(cString: pointer))
        next = next?.successor()
    }
    return entries
}
