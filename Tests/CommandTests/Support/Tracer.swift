internal import Posix
internal import Testing

/// strace(1) around a run: it breaks a chosen system call, kills at it, or writes down what was called.
enum Tracer {
    private static let program = "/usr/bin/strace"

    static let isThere = size(of: program) != nil

    /// The words before a command: only these calls are traced, in all threads, and this is done to them (`inject=` of
    /// strace(1), whose `when=` counts for each thread alone).
    static func words(_ calls: String, inject: String, log: String = "/dev/null") -> [String] {
        [
            program, "-f", "-qqq", "--seccomp-bpf", "-o", log, "-e", "trace=\(calls)", "-e",
            "inject=\(calls):\(inject)",
        ]
    }

    /// The words before a command whose calls are written to a log with paths.
    static func words(logging calls: String, to log: String) -> [String] {
        [program, "-f", "-y", "-qqq", "-s", "64", "--seccomp-bpf", "-o", log, "-e", "trace=\(calls)"]
    }

    /// One call of a log: between which lines it happened, and how it reads.
    struct Call {
        let begin: Int
        let end: Int
        let thread: String
        let name: String
        /// Arguments and result as strace writes them.
        let text: String
    }

    /// The calls of a log, in the order in which they began; one that did not return has no end.
    static func calls(in path: String) throws -> [Call] {
        var calls: [Call] = []
        var open: [Substring: Int] = [:]
        let text = String(decoding: try contents(of: path) ?? [], as: UTF8.self)
        for (number, line) in text.split(separator: "\n").enumerated() {
            guard let blank = line.firstIndex(of: " ") else { continue }
            let thread = line[..<blank]
            let rest = line[blank...].drop { $0 == " " }
            if rest.hasPrefix("<... ") {
                guard let index = open.removeValue(forKey: thread) else { continue }
                let call = calls[index]
                calls[index] = Call(
                    begin: call.begin, end: number, thread: call.thread, name: call.name,
                    text: call.text + rest)
                continue
            }
            guard let parenthesis = rest.firstIndex(of: "(") else { continue }
            let isOpen = rest.hasSuffix("<unfinished ...>")
            if isOpen { open[thread] = calls.count }
            calls.append(
                Call(
                    begin: number, end: isOpen ? .max : number, thread: String(thread),
                    name: String(rest[..<parenthesis]),
                    text: String(rest[parenthesis...])))
        }
        return calls
    }
}

extension Program {
    /// Starts `syncagent` with these words before it, and more in its environment.
    static func start(
        under words: [String], _ arguments: [String], environment more: [String: String] = [:],
        input: String = "/dev/null"
    ) throws -> Child {
        let all = words + [folder + "/syncagent"] + arguments
        return try Child(
            all[0], Array(all.dropFirst()), environment: environment.merging(more) { $1 }, input: input)
    }

    /// Mirrors these manifest lines into the test's cache, with words before `syncagent`.
    static func sync(
        under words: [String], _ lines: [String], _ options: [String] = [],
        environment more: [String: String] = [:], seconds: Double = 60
    ) throws -> Child.Outcome {
        try start(
            under: words, ["sync", try manifest(lines), "--cache", cache] + options, environment: more
        ).wait(seconds: seconds)
    }
}
