internal import CLinux
internal import Posix

/// A process of the program under test, and what it took.
struct Subject {
    /// How it ended.
    struct End {
        /// The exit code; 128 + the signal that killed it.
        let code: Int32
        /// The most memory that it ever had, in KiB (getrusage(2), ru_maxrss).
        let memory: Int
        /// The most open descriptors that were seen.
        let descriptors: Int
        let seconds: Double
    }

    let process: pid_t
    private let began = Instant.now
    private var descriptors = 0

    /// Starts it; what it writes goes to `PREFIX.out` and `PREFIX.err`.
    init(_ program: String, _ arguments: [String], environment: [String: String], prefix: String)
        throws(Finding)
    {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let creating = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, prefix + ".out", creating, 0o644)
        posix_spawn_file_actions_addopen(&actions, 2, prefix + ".err", creating, 0o644)
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var settings: [UnsafeMutablePointer<CChar>?] =
            environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, nil, &words, &settings)
        guard code == 0 else { throw Finding("cannot start \(program)") }
        self.process = process
    }

    func kill(_ signal: Int32) { _ = CLinux.kill(process, signal) }

    /// Waits for its end until a deadline; nil when it still runs then.
    mutating func wait(until deadline: Instant) -> End? {
        while true {
            descriptors = max(descriptors, openDescriptors)
            var status: Int32 = 0
            var usage = rusage()
            if wait4(process, &status, WNOHANG, &usage) == process {
                return End(
                    code: status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f,
                    memory: usage.ru_maxrss, descriptors: descriptors,
                    seconds: Instant.now.seconds(since: began))
            }
            if Instant.now >= deadline { return nil }
            usleep(5000)
        }
    }

    private var openDescriptors: Int {
        var count = 0
        do throws(SystemError) {
            try Folder(opening: "/proc/\(process)/fd").forEachName { _ throws(SystemError) in count += 1 }
        } catch {
            return 0
        }
        return count
    }
}

/// What the soak found: the program did what it must never do.
struct Finding: Error {
    let words: String
    init(_ words: String) { self.words = words }
}
