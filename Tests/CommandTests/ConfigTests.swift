internal import Agent
internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing
internal import Wire

@testable import syncagent

/// What `config` would show of some settings, or how it is refused.
private func shown(
    _ words: [String], file: String?, environment: [String: String] = [:], only names: Set<String>
) throws -> [String] {
    let path = scratch("etc/config.json")
    if let file { try write(file, to: path) }
    let all = ["HOME": "/home/x"].merging(environment) { $1 }
    do throws(CommandError) {
        let invocation = try Arguments.parse(
            (["config"] + words + (file == nil ? [] : ["--config", path])).map { Argument($0) }
        ) { (arguments) throws(CommandError) in
            try Configuration.apply(to: &arguments) { all[$0] }
        }
        guard case .run(let arguments) = invocation else { return [] }
        let rows = try ConfigCommand.rows(arguments) { all[$0] }
        return rows.filter { names.contains($0.name) }
            .map { "\($0.name)=\($0.value ?? "-") from \($0.origin.words)" }
    } catch {
        return ["\(error.code.rawValue) \(error.message)".split(separator: ScratchFolder.path).joined()]
    }
}

@Suite("The configuration", .scratch)
struct ConfigTests {
    private static let sample = """
        {
            // Comments, names without quotes, and commas too many are fine.
            jobs: 3, 'per-host': 2, "retries": 1, strict: true, quiet: false,
            "limit-rate": "08:00,512k 18:00,off",
            manifests: "all.txt",
            profiles: {
                lab: { jobs: 5, cache: "cache", manifests: ["a.txt", "/b.txt", "~/c.txt", "-"], strict: false, },
                empty: {},
            },
        }
        """

    @Test("flags beat the environment, that the profile, that the file, that the defaults")
    func precedence() throws {
        let names: Set = ["jobs", "per-host", "retries", "head-timeout", "strict", "quiet"]
        #expect(
            try shown(
                ["--profile", "lab", "--jobs", "7"], file: Self.sample,
                environment: ["SYNCAGENT_PER_HOST": "9", "SYNCAGENT_JOBS": "8"], only: names)
                == [
                    "jobs=7 from the command line", "per-host=9 from $SYNCAGENT_PER_HOST",
                    "strict=no from profile lab in \(scratch("etc/config.json"))",
                    "retries=1 from \(scratch("etc/config.json"))", "head-timeout=30 from default",
                    "quiet=no from \(scratch("etc/config.json"))",
                ])
        #expect(
            try shown(
                [], file: Self.sample,
                environment: ["SYNCAGENT_PROFILE": "lab", "SYNCAGENT_STRICT": "yes"],
                only: ["jobs", "strict"])
                == [
                    "jobs=5 from profile lab in \(scratch("etc/config.json"))",
                    "strict=yes from $SYNCAGENT_STRICT",
                ])
    }

    @Test("relative paths are meant from where the file is, ~ is the home")
    func paths() throws {
        let names: Set = ["manifests", "cache"]
        let folder = scratch("etc")
        let from = "from profile lab in \(folder)/config.json"
        #expect(
            try shown(["--profile=lab"], file: Self.sample, only: names) == [
                "manifests=\(folder)/a.txt /b.txt /home/x/c.txt - \(from)", "cache=\(folder)/cache \(from)",
            ])
        #expect(
            try shown(["--profile=empty"], file: Self.sample, only: names) == [
                "manifests=\(folder)/all.txt from \(folder)/config.json",
                "cache=/home/x/.cache/syncagent from default",
            ])
        // The contract's order of the caches.
        #expect(
            try shown(
                ["--profile=lab"], file: Self.sample,
                environment: ["SYNCAGENT_CACHE": "/e", "CACHE_DIRECTORY": "/d"], only: ["cache"])
                == ["cache=/e from $SYNCAGENT_CACHE"])
        #expect(
            try shown(
                ["--profile=lab"], file: Self.sample, environment: ["CACHE_DIRECTORY": "/d"], only: ["cache"])
                == ["cache=\(folder)/cache \(from)"])
    }

    @Test("secrets come from variables and files, and are never shown")
    func secrets() throws {
        try write("s3cret\n\n", to: scratch("etc/key.txt"))
        let file = """
            {
                proxy: { env: "LAB_PROXY" },
                ping: "https://hc.example/9f3a-uuid?a=b",
                header: { Authorization: { file: "key.txt", prefix: "Bearer " }, "X-Lab": { env: "LAB" } },
            }
            """
        let secrets = ["LAB_PROXY": "http://user:hunter2@proxy:3128", "LAB": "classified"]
        let path = scratch("etc/config.json")
        #expect(
            try shown(
                ["--header", "x-lab: 1"], file: file, environment: secrets,
                only: ["proxy", "ping", "header"])
                == [
                    "proxy=http://***@proxy:3128 from \(path)",
                    "header=x-lab: ***, Authorization: ***, X-Lab: *** from the command line",
                    "ping=https://hc.example/*** from \(path)",
                ])
        // What a run would send: the command line's field in place of the file's.
        var arguments = Arguments(command: .sync)
        try Configuration.apply(to: &arguments) { secrets[$0] ?? ["SYNCAGENT_CONFIG": path][$0] }
        arguments.operands = [Argument("m")]
        let options = try SyncCommand.options(arguments, cache: "/c") { secrets[$0] }
        #expect(
            options.headers.map { "\($0.name): \($0.value)" }
                == ["Authorization: Bearer s3cret", "X-Lab: classified"])
        let proxy = options.proxies.proxy(for: Origin(scheme: .http, host: "h", port: 80))
        #expect(proxy?.authorization != nil)
        // Another command does without them.
        var status = Arguments(command: .status)
        try Configuration.apply(to: &status) { ["SYNCAGENT_CONFIG": path][$0] }
        #expect(status.configuration == path)
    }

    @Test(
        "is refused with 78, the file's name and the next step",
        arguments: [
            ("{ job: 3 }", "there is no setting 'job'; did you mean jobs?"),
            (
                "{ profiles: { lab: { cach: 'x' } } }",
                "profile lab: there is no setting 'cach'; did you mean cache?"
            ),
            ("{ profile: 'lab' }", "there is no setting 'profile'; did you mean profiles?"),
            ("{ help: true }", "there is no setting 'help'"),
            ("{ xyzzy: 1 }", "there is no setting 'xyzzy'"),
            ("{ jobs: 0 }", "jobs wants a whole number from 1 to 256, not '0'"),
            ("{ jobs: 1.5 }", "jobs wants a whole number from 1 to 256, not '1.5'"),
            ("{ jobs: true }", "jobs is a text, {\"env\": NAME} or {\"file\": PATH}"),
            ("{ jobs: [1] }", "jobs is a text, {\"env\": NAME} or {\"file\": PATH}"),
            ("{ strict: 'yes' }", "strict is true or false"),
            ("{ progress: 'sometimes' }", "progress is one of auto, always, never, not 'sometimes'"),
            (
                "{ 'limit-rate': '8:00,5' }",
                "limit-rate wants a rate such as 500k or 2M, or a timetable such as '08:00,512k 18:00,off', not '8:00,5'"
            ),
            (
                "{ textfile: '/m.txt' }",
                "textfile wants a name that ends in .prom, or the collector passes it over"
            ),
            ("{ ping: 'ftp://x' }", "ping wants a URL: "),
            ("{ header: { 'A b': 'c' } }", "header wants 'Name: value'"),
            (
                "{ header: { A: { env: 'NOT_SET' } } }",
                "header takes its value from $NOT_SET, which is not set"
            ),
            ("{ header: { A: { file: 'none' } } }", "header takes its value from "),
            (
                "{ header: { A: { env: 'A', file: 'b' } } }",
                "header A is a text, {\"env\": NAME} or {\"file\": PATH}"
            ),
            ("{ profiles: [] }", "profiles must be an object"),
            ("{ profiles: { lab: 5 } }", "profile lab: it must be an object"),
            ("[]", "it must be one object"), ("5", "it must be one object"),
            ("{ jobs: 3\n  retries: 2 }", ":2:3: expected a comma or }"),
            ("{ jobs 3 }", ":1:8: expected a colon"),
            ("{ cache: 'x\n' }", ":1:10: expected a text whose quotes end on its line"),
            ("{ jobs: , }", ":1:9: expected a value"),
            ("{ jobs: 1,, }", ":1:11: expected a name or }"),
            ("{ jobs: 1 } }", ":1:13: expected the end of the file"),
            ("{ /* jobs: 1 }", ":1:3: expected a comment that ends with */"),
            ("{ jobs: 1", ":1:10: expected a comma or }"),
            ("{ jobs: \"\u{1}", "config.json:1:9: "),
        ])
    func refused(file: String, message: String) throws {
        let answer = try #require(try shown([], file: file, only: []).first)
        #expect(answer.hasPrefix("78 /etc/config.json"), "\(answer)")
        #expect(answer.contains(message), "\(answer)")
    }

    @Test(
        "a file without anything is no settings", arguments: ["", " \n\t", "{}", "/* none */ {} // really"])
    func empty(_ file: String) throws {
        #expect(try shown([], file: file, only: ["jobs"]) == ["jobs=8 from default"])
    }

    @Test("profiles that are not there, and variables that are nothing, are refused with 78")
    func missing() throws {
        let unknown = try shown(["--profile", "labb"], file: Self.sample, only: [])
        #expect(unknown == ["78 /etc/config.json: there is no profile 'labb'; did you mean lab?"])
        let none = try shown(
            ["--profile", "lab"], file: nil, environment: ["HOME": scratch("home")], only: [])
        #expect(none.first?.hasPrefix("78 no profile 'lab', since there is no configuration file") == true)
        let number = try shown(
            [], file: nil, environment: ["SYNCAGENT_JOBS": "many", "HOME": scratch("home")], only: [])
        #expect(number == ["78 $SYNCAGENT_JOBS wants a whole number from 1 to 256, not 'many'"])
        let word = try shown(
            [], file: nil, environment: ["SYNCAGENT_STRICT": "perhaps", "HOME": scratch("home")], only: [])
        #expect(word == ["78 $SYNCAGENT_STRICT is yes or no, not 'perhaps'"])
        let flag = try shown(["--jobs", "many"], file: nil, environment: ["HOME": scratch("home")], only: [])
        #expect(flag == ["64 --jobs wants a whole number from 1 to 256, not 'many'"])
    }

    @Test("the user's file beats the machine's, and a named one both")
    func places() throws {
        try write("{ jobs: 1 }", to: scratch("system.json"))
        func found(_ environment: [String: String], named: String? = nil) throws -> String? {
            try ConfigFile.find(
                named: named, environment: { environment[$0] }, system: scratch("system.json"))?.path
        }
        let home = ["HOME": scratch("home")]
        #expect(try found(home) == scratch("system.json"))
        try write("{ jobs: 2 }", to: scratch("home/.config/syncagent/config.json"))
        #expect(try found(home) == scratch("home/.config/syncagent/config.json"))
        #expect(
            try found(["HOME": scratch("home"), "XDG_CONFIG_HOME": scratch("xdg")]) == scratch("system.json"))
        try write("{}", to: scratch("xdg/syncagent/config.json"))
        let both = ["HOME": scratch("home"), "XDG_CONFIG_HOME": scratch("xdg")]
        #expect(try found(both) == scratch("xdg/syncagent/config.json"))
        #expect(try found(home, named: scratch("system.json")) == scratch("system.json"))
        #expect(try found(home, named: "/dev/null") == "/dev/null")
        #expect(throws: CommandError.self) { try found(home, named: scratch("none.json")) }
    }

    @Test("the sample has every setting that a profile wants, and is good")
    func sample() throws {
        let outcome = try Program.run([
            "config", "--config", Program.root + "/config/syncagent.json", "--profile", "lab",
        ])
        #expect(outcome.code == 78, "\(outcome)")
        #expect(outcome.errors.contains("$LAB_TOKEN, which is not set"), "\(outcome)")
        let child = try Child(
            Program.folder + "/syncagent",
            ["config", "--config", Program.root + "/config/syncagent.json", "--profile", "lab", "--json"],
            environment: Program.environment.merging(["LAB_TOKEN": "t0ken"]) { $1 })
        let good = child.wait()
        #expect(good.code == 0, "\(good)")
        #expect(!good.output.contains("t0ken"))
        for name in ["/etc/syncagent/lab.txt", "/var/cache/syncagent-lab", "Authorization: ***"] {
            #expect(good.output.contains(name), "\(good)")
        }
    }

    @Test("a netrc that others may read is refused, unless systemd's folder guards it")
    func credentials() throws {
        let path = scratch("credentials/netrc")
        try write("machine h login u password p\n", to: path)
        #expect(chmod(path, 0o440) == 0)
        let arguments = ["sync", "m", "--cache", "/c", "--netrc-file", path].map { Argument($0) }
        guard case .run(let words) = try Arguments.parse(arguments) else { return }
        func login(_ folder: String?) throws -> Bool {
            try SyncCommand.options(words, cache: "/c") { $0 == "CREDENTIALS_DIRECTORY" ? folder : nil }
                .netrc?.login(for: "h") != nil
        }
        #expect(try login(scratch("credentials")))
        #expect(throws: CommandError.self) { try login(scratch("cred")) }
        #expect(throws: CommandError.self) { try login(nil) }
    }

    @Test("a profile is all that a run needs")
    func profile() throws {
        let origin = try TestOrigin { $0.serve(Resource(seed: 1, size: 1000)) }
        try write("\(origin.url)/a.bin\n", to: scratch("etc/list.txt"))
        try write("t0ken", to: scratch("etc/token"))
        try write(
            """
            { profiles: { lab: {
                manifests: "list.txt", cache: "../cache",
                header: { "X-Token": { file: "token" } },
            } } }
            """, to: scratch("etc/config.json"))
        let words = ["--config", scratch("etc/config.json"), "--profile", "lab"]
        let outcome = try Program.run(["sync"] + words)
        #expect(outcome.description == "exit 0\n", "\(outcome)")
        #expect(Program.finished.count == 1)
        #expect(origin.log.map { $0.request.field("x-token") } == ["t0ken"])
        let path = try Program.run(["path", "\(origin.url)/a.bin"] + words)
        #expect(path.code == 0, "\(path)")
        let plan = try Program.run(["plan"] + words)
        #expect(plan.output.hasPrefix("entries   1\n"), "\(plan)")
        let bare = try Program.run(["sync"])
        #expect(bare.code == 64, "\(bare)")
    }
}
