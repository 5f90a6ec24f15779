internal import CLinux
internal import Posix
internal import Testing

/// A network of its own, as ip-netns(8) makes them: interfaces, routes, filter rules and, for programs that are started
/// in it, files in place of those in /etc. It ends with its owner.
final class NetworkNamespace: Sendable {
    /// What could not be done, and what the program said that should have done it.
    struct Trouble: Error, CustomStringConvertible { let description: String }

    let name: String

    /// Why there can be none here; nil when they work.
    static let obstacle: String? = {
        if geteuid() != 0 { return "only root can make network namespaces" }
        sweep()
        do {
            // What the tests need, tried once: the kernel may lack any of it.
            let (one, other) = (try NetworkNamespace(), try NetworkNamespace())
            try one.ip("link", "add", "near", "type", "veth", "peer", "name", "far", "netns", other.name)
            try one.filter(
                """
                chain in { type filter hook input priority 0;
                    tcp dport 1 numgen random mod 100 < 1 reject with tcp reset; }
                """)
            return nil
        } catch {
            return "network namespaces do not work here: \(error)".replacing("\n", with: " ")
        }
    }()

    /// - Parameter etc: files that stand in for those of the same names in /etc.
    init(etc: [String: String] = [:]) throws {
        name = "syncagent-test-\(getpid())-\(randomHex(bytes: 4))"
        for (file, text) in etc where size(of: "/etc/\(file)") != nil {
            try write(text, to: "/etc/netns/\(name)/\(file)")
        }
        try NetworkNamespace.call("/usr/sbin/ip", ["netns", "add", name])
        try ip("link", "set", "lo", "up")
    }

    deinit { NetworkNamespace.remove(name) }

    /// ip(8), told about this namespace.
    func ip(_ words: String...) throws { try ip(words: words) }

    /// The same, of words in an array.
    func ip(words: [String]) throws { try NetworkNamespace.call("/usr/sbin/ip", ["-n", name] + words) }

    /// Replaces all filter rules by these chains (nft(8)); none lets everything through.
    func filter(_ chains: String = "") throws {
        try NetworkNamespace.call(
            "/usr/sbin/ip",
            words(for: "/usr/sbin/nft", ["flush ruleset; table inet faults {\n\(chains)\n}\n"]))
    }

    /// Starts a program in it. ip(8) becomes the program, so that the child is the program itself.
    func start(_ program: String, _ arguments: [String]) throws -> Child {
        try Child("/usr/sbin/ip", words(for: program, arguments), environment: Program.environment)
    }

    private func words(for program: String, _ arguments: [String]) -> [String] {
        ["netns", "exec", name, program] + arguments
    }

    private static func call(_ program: String, _ arguments: [String]) throws {
        // The owner may be made, and must be able to go, outside of any test.
        let folder = "/tmp/syncagent-test-\(randomHex(bytes: 6))"
        guard mkdir(folder, 0o700) == 0 else { throw Trouble(description: "cannot make \(folder)") }
        let outcome = Child.run(
            program, arguments, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], folder: folder)
        for name in names(in: folder) { unlink("\(folder)/\(name)") }
        rmdir(folder)
        guard outcome.code == 0 else {
            throw Trouble(description: "\(program) \(arguments.joined(separator: " ")): \(outcome)")
        }
    }

    private static func remove(_ name: String) {
        do {
            try call("/usr/sbin/ip", ["netns", "del", name])
        } catch {
            print("\(error)")
        }
        for file in names(in: "/etc/netns/\(name)") { unlink("/etc/netns/\(name)/\(file)") }
        rmdir("/etc/netns/\(name)")
    }

    /// Removes what tests that were killed have left.
    private static func sweep() {
        for name in names(in: "/run/netns") where name.hasPrefix("syncagent-test-") {
            let words = name.split(separator: "-")
            guard words.count == 4, let process = pid_t(words[2]), kill(process, 0) != 0 else { continue }
            remove(name)
        }
    }
}
