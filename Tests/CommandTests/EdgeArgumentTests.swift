internal import Agent
internal import Testing

@testable import syncagent

/// What a command line was understood as, in a form that tests can compare.
private func reading(_ words: [String]) -> String {
    do throws(CommandError) {
        switch try Arguments.parse(words.map { Argument($0) }) {
        case .help(let command): return "help \(command?.rawValue ?? "-")"
        case .version: return "version"
        case .run(let arguments):
            let options = OptionName.allCases.filter(arguments.has).map { name in
                let row = OptionTable.rows.first { $0.name == name }
                return row?.argument == nil ? name.rawValue : "\(name.rawValue)=\(arguments.all(name))"
            }
            return
                "\(arguments.command.rawValue) \(arguments.operands.map(\.text)) \(options.joined(separator: " "))"
        }
    } catch {
        return "\(error.code.rawValue) \(error.message)"
    }
}

@Suite("The command line")
struct EdgeArgumentTests {
    @Test(
        "is read the same wherever options stand",
        arguments: [
            (["sync", "a"], #"sync ["a"] "#),
            (["sync", "-"], #"sync ["-"] "#),
            (["sync", "--cache", "d", "a"], #"sync ["a"] cache=["d"]"#),
            (["sync", "a", "--cache=d"], #"sync ["a"] cache=["d"]"#),
            (["--cache=d", "sync", "a"], #"sync ["a"] cache=["d"]"#),
            (["sync", "a", "--cache", "d", "b"], #"sync ["a", "b"] cache=["d"]"#),
            (["sync", "--cache=", "a"], #"sync ["a"] cache=[""]"#),
            (["sync", "--cache=a=b", "m"], #"sync ["m"] cache=["a=b"]"#),
            (["sync", "--", "--cache", "-h"], #"sync ["--cache", "-h"] "#),
            (["sync", "--cache", "--", "m"], #"sync ["m"] cache=["--"]"#),
            (["sync", "-q", "m", "--strict"], #"sync ["m"] strict quiet"#),
            (["sync", "m", "--header", "A: 1", "--header=B: 2"], #"sync ["m"] header=["A: 1", "B: 2"]"#),
            (["status"], "status [] "),
            (["status", "u", "--json"], #"status ["u"] json"#),
            (["path", "u", "--id"], #"path ["u"] id"#),
            (["path", "--id", "u"], #"path ["u"] id"#),
            (["plan", "a", "b", "--json"], #"plan ["a", "b"] json"#),
            (["-h"], "help -"), (["--help"], "help -"), (["help"], "help -"),
            (["help", "sync"], "help sync"),
            (["sync", "-h"], "help sync"), (["--help", "plan"], "help plan"),
            (["sync", "--help", "x"], "help sync"),
            (["-V"], "version"), (["--version"], "version"), (["sync", "--version"], "version"),
        ])
    func accepted(words: [String], understood: String) { #expect(reading(words) == understood) }

    @Test(
        "is refused with 64 and the next step",
        arguments: [
            ([], "64 no command; syncagent --help lists them"),
            (["snyc", "m"], "64 no command 'snyc'; did you mean sync?"),
            (["statsu"], "64 no command 'statsu'; did you mean status?"),
            (["frobnicate"], "64 no command 'frobnicate'; syncagent --help lists them"),
            ([""], "64 no command ''; syncagent --help lists them"),
            (["sync", "--cach", "d", "m"], "64 no option '--cach'; did you mean --cache?"),
            (["sync", "--job=3", "m"], "64 no option '--job'; did you mean --jobs?"),
            (["sync", "-x", "m"], "64 no option '-x'; syncagent sync --help lists them"),
            (["sync", "--frobnicate", "m"], "64 no option '--frobnicate'; syncagent sync --help lists them"),
            (["status", "--jsno"], "64 no option '--jsno'; did you mean --json?"),
            (["status", "--strict"], "64 status has no --strict; it belongs to sync"),
            (["--strict", "status"], "64 status has no --strict; it belongs to sync"),
            (["sync", "m", "--cache"], "64 --cache wants a value: --cache DIR"),
            (["sync", "m", "--strict=yes"], "64 --strict takes no value"),
            (["sync"], "64 sync wants an argument: syncagent sync MANIFEST..."),
            (["path"], "64 path wants an argument: syncagent path URL"),
            (["path", "a", "b"], "64 one argument too many: 'b'; syncagent path --help"),
            (["sync", "m", "--progress", "some"], "64 --progress is one of auto, always, never, not 'some'"),
            (["a\u{1b}[2J"], "64 no command 'a\\u{1b}[2J'; syncagent --help lists them"),
        ])
    func refused(words: [String], sentence: String) { #expect(reading(words) == sentence) }

    @Test("keeps the bytes of an operand that are no UTF-8") func bytes() throws {
        let url: [UInt8] = Array("http://a/".utf8) + [0xE9]
        guard case .run(let arguments) = try Arguments.parse([Argument("path"), Argument(bytes: url)]) else {
            Issue.record("not a command to run")
            return
        }
        #expect(arguments.operands.map(\.bytes) == [url])
    }

    @Test(
        "every option of the table is parsed, and told by the help of its commands",
        arguments: OptionName.allCases)
    func table(name: OptionName) throws {
        let rows = OptionTable.rows.filter { $0.name == name }
        #expect(rows.count == 1)
        let row = try #require(rows.first)
        for command in Command.allCases {
            let isTold = Help.text(command).split(separator: "\n").contains { line in
                line.split(separator: " ").contains { $0 == Substring(name.typed) }
            }
            #expect(isTold == row.isKnown(to: command), "\(command) \(name)")
        }
        #expect(!row.help.isEmpty)
        if let standard = row.standard, !row.choices.isEmpty { #expect(row.choices.contains(standard)) }
    }

    @Test("help fits a terminal of 110 columns", arguments: [nil] + Command.allCases.map { $0 })
    func helpWidth(command: Command?) {
        for line in Help.text(command).split(separator: "\n") { #expect(line.count <= 110, "\(line)") }
    }
}

@Suite("Option values")
struct EdgeOptionTests {
    /// What `sync m` with these words asks of the agent, or the refusal.
    private func options(_ words: String...) -> Result<[String], CommandError> {
        do throws(CommandError) {
            let invocation = try Arguments.parse((["sync", "m"] + words).map { Argument($0) })
            guard case .run(let arguments) = invocation else { return .success([]) }
            let options = try SyncCommand.options(arguments, cache: "c")
            return .success([
                "\(options.jobs) \(options.perHost) \(options.retries)",
                "\(options.connectTimeout) \(options.headTimeout) \(options.stallTimeout) \(options.waitLock)",
                "\(options.maxTime ?? -1)", "\(options.userAgent)",
                "\(options.headers.map { $0.name + "=" + $0.value })",
            ])
        } catch {
            return .failure(error)
        }
    }

    private func sentence(_ words: String...) -> String {
        let result = words.count == 2 ? options(words[0], words[1]) : options(words[0])
        switch result {
        case .success(let values): return values.joined(separator: "; ")
        case .failure(let error): return "\(error.code.rawValue) \(error.message)"
        }
    }

    @Test("are the table's when none is given") func standard() {
        #expect(sentence("--strict") == "8 4 4; 10.0 30.0 30.0 0.0; -1.0; syncagent/0.1.0; []")
    }

    @Test(
        "times take units",
        arguments: [
            ("90", 90), ("1.5", 1.5), ("90s", 90), ("10m", 600), ("12h", 43_200), ("7d", 604_800),
            ("0.001", 0.001),
            ("3650d", 315_360_000), ("0.5m", 30),
        ] as [(String, Double)])
    func times(text: String, seconds: Double) {
        #expect(sentence("--max-time", text).contains("; \(seconds); "))
    }

    @Test(
        "what is no time is refused",
        arguments: [
            "", "x", "0", "0.0", "-1", "+1", "1e3", "nan", "inf", "0x10", "1.", ".5", "1..2", "1.2.3", "s",
            "10 m", "5w",
            "3651d", "99999999999999999999999", "1,5", "１０",
        ])
    func badTimes(text: String) {
        #expect(
            sentence("--max-time", text)
                == "64 --max-time wants a time such as 90, 1.5, 10m, 12h or 7d, more than 0, not '\(text)'")
    }

    @Test(
        "counts have bounds",
        arguments: [
            ("--jobs", "1", true), ("--jobs", "256", true), ("--jobs", "0", false), ("--jobs", "257", false),
            ("--jobs", "", false), ("--jobs", "-1", false), ("--jobs", "1.5", false),
            ("--jobs", "eight", false),
            ("--jobs", "99999999999999999999", false), ("--retries", "0", true), ("--retries", "100", true),
            ("--retries", "101", false), ("--per-host", "4", true), ("--per-host", "0", false),
        ])
    func counts(option: String, text: String, isAccepted: Bool) {
        let answer = sentence(option, text)
        #expect(answer.hasPrefix("64 \(option) wants a whole number from ") == !isAccepted, "\(answer)")
    }

    @Test(
        "header fields are refused when HTTP would not take them or they are ours",
        arguments: [
            ("X-A: 1", #"["X-A=1"]"#), ("X-A:1", #"["X-A=1"]"#), ("X-A:  a b \t", #"["X-A=a b"]"#),
            ("X-A:", #"["X-A="]"#),
            ("X-A: b:c", #"["X-A=b:c"]"#), ("Authorization", "64 --header wants 'Name: value'"),
            (": x", "64 --header wants 'Name: value'"), ("A B: secret", "64 --header wants 'Name: value'"),
            ("X-A: a\r\nB: c", "64 --header X-A holds a control character"),
            ("range: bytes=0-", "64 --header range is set by syncagent itself"),
            ("Host: other", "64 --header Host is set by syncagent itself"),
        ])
    func headers(text: String, outcome: String) { #expect(sentence("--header", text).hasSuffix(outcome)) }

    @Test(
        "a size has a unit of 1024 or none",
        arguments: [
            ("0", 0), ("4096", 4096), ("500k", 512_000), ("500K", 512_000), ("64M", 64 << 20),
            ("2G", 2 << 30),
            ("1T", 1 << 40), ("18446744073709551615", UInt64.max), ("16777215T", 16_777_215 << 40),
        ] as [(String, UInt64)])
    func sizes(text: String, bytes: UInt64) throws {
        guard
            case .run(let arguments) = try Arguments.parse(
                ["sync", "m", "--reserve", text].map { Argument($0) })
        else {
            Issue.record("not a command to run")
            return
        }
        #expect(try SyncCommand.options(arguments, cache: "/c").reserve == bytes)
    }

    @Test(
        "what is no size is refused",
        arguments: [
            "", "k", "-1", "+1", "1.5G", "64MB", "64 M", "1e3", "0x10", "18446744073709551616", "16777216T",
        ])
    func badSizes(text: String) {
        #expect(sentence("--reserve", text).hasPrefix("64 --reserve wants a size such as"))
    }

    @Test("a bad header never repeats what may be a secret") func headerSecret() {
        #expect(!sentence("--header", "Auth token hunter2").contains("hunter2"))
    }

    @Test("standard input can be a manifest once") func twice() throws {
        guard case .run(let arguments) = try Arguments.parse(["sync", "-", "-"].map { Argument($0) }) else {
            Issue.record("not a command to run")
            return
        }
        #expect(throws: CommandError.self) { try SyncCommand.manifests(arguments) }
    }
}

@Suite("What was probably meant")
struct EdgeSuggestionTests {
    @Test(
        "distance counts slips",
        arguments: [
            ("", "", 0), ("a", "", 1), ("", "ab", 2), ("sync", "sync", 0), ("snyc", "sync", 1),
            ("syn", "sync", 1),
            ("synk", "sync", 1), ("kitten", "sitting", 3),
        ])
    func distance(left: String, right: String, count: Int) {
        #expect(Suggestion.distance(left, right) == count)
        #expect(Suggestion.distance(right, left) == count)
    }

    @Test(
        "only near words are suggested",
        arguments: [
            ("stat", "status"), ("paht", "path"), ("plna", "plan"), ("xyz", nil), ("", nil),
            ("download", nil),
        ] as [(String, String?)])
    func nearest(word: String, suggestion: String?) {
        #expect(Suggestion.nearest(to: word, among: Command.allCases.map(\.rawValue)) == suggestion)
    }

    @Test("a word of any length is answered") func long() {
        #expect(Suggestion.nearest(to: String(repeating: "s", count: 100_000), among: ["sync"]) == nil)
    }
}

@Suite("The cache folder")
struct EdgeCachePathTests {
    @Test(
        "is the option, else the environment in its order",
        arguments: [
            ("o", ["SYNCAGENT_CACHE": "e"], "o"), ("o/", [:], "o"), ("/", [:], "/"), ("//", [:], "/"),
            (
                nil, ["SYNCAGENT_CACHE": "e", "CACHE_DIRECTORY": "c", "XDG_CACHE_HOME": "/x", "HOME": "/h"],
                "e"
            ),
            (nil, ["CACHE_DIRECTORY": "/c:/d", "XDG_CACHE_HOME": "/x", "HOME": "/h"], "/c"),
            (nil, ["XDG_CACHE_HOME": "/x", "HOME": "/h"], "/x/syncagent"),
            (nil, ["XDG_CACHE_HOME": "relative", "HOME": "/h"], "/h/.cache/syncagent"),
            (nil, ["HOME": "/h/"], "/h/.cache/syncagent"),
        ] as [(String?, [String: String], String)])
    func order(option: String?, environment: [String: String], path: String) throws {
        #expect(try CachePath.resolve(option: option, environment: { environment[$0] }) == path)
    }

    @Test("is asked for when nothing tells", arguments: [nil, ""]) func missing(option: String?) {
        let error = #expect(throws: CommandError.self) {
            try CachePath.resolve(option: option, environment: { _ in nil })
        }
        #expect(error?.code == .usage)
    }
}
