/// What the program can be told to do.
enum Command: String, CaseIterable {
    case sync, status, path, plan, config, pause, resume, verify, prune

    /// What stands behind the command's name.
    var operands: String {
        switch self {
        case .sync, .plan: "MANIFEST..."
        case .status: "[URL...]"
        case .path: "URL"
        case .config: ""
        case .pause, .resume: "[URL...]"
        case .verify, .prune: "[MANIFEST...]"
        }
    }

    /// How many operands it takes.
    var operandCount: ClosedRange<Int> {
        switch self {
        case .sync, .plan: 1...Int.max
        case .status, .pause, .resume, .verify, .prune: 0...Int.max
        case .path: 1...1
        case .config: 0...0
        }
    }

    /// Its operands may come from the configuration.
    var takesManifests: Bool {
        switch self {
        case .sync, .plan, .config: true
        case .status, .path, .pause, .resume, .verify, .prune: false
        }
    }

    /// One line for the list of commands.
    var summary: String {
        switch self {
        case .sync: "mirror the files that manifests name into the cache"
        case .status: "tell what is here, what is missing, how far and why"
        case .path: "print the path of a URL's file in the cache"
        case .plan: "tell what a sync would do, without asking the network"
        case .config: "tell which settings hold, and where each comes from"
        case .pause: "leave entries alone from now on, also in a sync that is at work"
        case .resume: "go on with paused entries, from the bytes that are there"
        case .verify: "read the files again and name those that have changed on the disk"
        case .prune: "remove what no manifest asks for any more"
        }
    }

    /// What its own help says more.
    var details: String {
        switch self {
        case .sync:
            """
            A manifest is a file with one URL a line; - reads standard input.
            Running it again resumes what was cut short and asks the servers whether files changed.
            """
        case .status:
            """
            Works while a sync runs, offline, and on a cache that does not exist yet; it changes nothing.
            With URLs, only these are told of.
            """
        case .path:
            """
            Exits with 1 when the file is not complete.
            """
        case .plan:
            """
            Reads manifests, ledger and the cache folder, and counts.
            """
        case .config:
            """
            The command line beats the environment ($SYNCAGENT_JOBS and the like), that the profile, that the rest
            of the file, that the defaults. Secrets are masked.
            """
        case .pause:
            """
            A sync at work puts them aside within a second, with their bytes saved, and goes on with the others.
            A sync whose only missing entries are paused ends with 0. In a pattern * stands for anything, ? for one
            character; the last word about an entry counts.
            """
        case .resume:
            """
            A sync at work takes up again what it had put aside; else the next one does.
            """
        case .verify:
            """
            Those whose last check is the longest ago come first, so that short runs get round to all.
            What is damaged is removed, and fetched again by the next sync; with --repair it is fetched at once,
            from the manifests named or else from those that were mirrored here. Exits with 1 when a file was damaged
            and is not repaired.
            """
        case .prune:
            """
            What a manifest asks for is what its last sync read; one that is named here is read now.
            Standard input counts as one manifest, of which the last stands. Nothing goes as long as a manifest is
            empty, has bad lines or was not read to its end. Off a terminal nothing goes without --yes.
            """
        }
    }
}

/// The name of an option; `OptionTable.rows` says everything else of it.
enum OptionName: String, CaseIterable {
    case cache
    case state
    case reserve
    case jobs
    case perHost = "per-host"
    case connectTimeout = "connect-timeout"
    case headTimeout = "head-timeout"
    case stallTimeout = "stall-timeout"
    case maxTime = "max-time"
    case retries
    case strict
    case refresh
    case maxAge = "max-age"
    case retryFailed = "retry-failed"
    case waitLock = "wait-lock"
    case caCertificates = "cacert"
    case certificate = "cert"
    case certificateKey = "key"
    case proxy
    case netrc
    case netrcFile = "netrc-file"
    case acceptCoded = "accept-coded"
    case acceptHTML = "accept-html"
    case header
    case userAgent = "user-agent"
    case quiet
    case progress
    case config
    case profile
    case limitRate = "limit-rate"
    case maxBytes = "max-bytes"
    case order
    case log
    case notifyChange = "notify-change"
    case textfile
    case ping
    case onRunEnd = "on-run-end"
    case prune
    case maxDelete = "max-delete"
    case grace
    case maxSize = "max-size"
    case forget
    case yes
    case dryRun = "dry-run"
    case repair
    case keepDamaged = "keep-damaged"
    case all
    case match
    case json
    case watch
    case id
    case help
    case version

    /// As it is typed.
    var typed: String { "--" + rawValue }
}

/// One option: everything that parsing, help, man page and completions need of it.
struct OptionRow {
    let name: OptionName
    /// A one-letter form.
    var letter: Character?
    /// The placeholder of its argument; nil for a switch.
    var argument: String?
    /// The words that it takes, when only these will do.
    var choices: [String] = []
    /// The commands that know it.
    let commands: [Command]
    /// One line, without the default.
    let help: String
    /// What holds when it is not given, as it would be typed.
    var standard: String?
    var isRepeatable = false
    /// Its argument may be a secret, or hold one.
    var isSecret = false

    /// `config` takes what `sync` takes, to tell what would hold.
    func isKnown(to command: Command) -> Bool {
        commands.contains(command) || command == .config && commands.contains(.sync)
    }
}

/// All options, in the order of the help.
enum OptionTable {
    static let rows: [OptionRow] = [
        OptionRow(
            name: .cache, argument: "DIR", commands: Command.allCases,
            help: "the cache folder", standard: "$SYNCAGENT_CACHE or ${XDG_CACHE_HOME:-~/.cache}/syncagent"),
        OptionRow(
            name: .state, argument: "DIR", commands: Command.allCases,
            help: "the folder of the ledger, on a local disk when the cache is not", standard: "in the cache"),
        OptionRow(name: .jobs, argument: "N", commands: [.sync], help: "transfers at a time", standard: "8"),
        OptionRow(
            name: .perHost, argument: "N", commands: [.sync], help: "transfers at a time from one host",
            standard: "4"),
        OptionRow(
            name: .strict, commands: [.sync],
            help: "read all manifests first and do nothing when a line is bad"),
        OptionRow(
            name: .refresh, commands: [.sync, .plan],
            help: "ask about every file, whatever was said of its age"),
        OptionRow(
            name: .maxAge, argument: "TIME", commands: [.sync, .plan],
            help: "do not ask about files received this lately; \"server\" trusts Cache-Control",
            standard: "0"),
        OptionRow(
            name: .retryFailed, commands: [.sync, .plan], help: "ask again for what failed for good, now"),
        OptionRow(
            name: .retries, argument: "N", commands: [.sync],
            help: "tries after the first that bring nothing",
            standard: "4"),
        OptionRow(
            name: .connectTimeout, argument: "TIME", commands: [.sync], help: "for one address, TLS included",
            standard: "10"),
        OptionRow(
            name: .headTimeout, argument: "TIME", commands: [.sync], help: "for the head of an answer",
            standard: "30"),
        OptionRow(
            name: .stallTimeout, argument: "TIME", commands: [.sync],
            help: "give up on a transfer that brings less than 1 KiB in this", standard: "30"),
        OptionRow(name: .maxTime, argument: "TIME", commands: [.sync, .verify], help: "for the whole run"),
        OptionRow(
            name: .waitLock, argument: "TIME", commands: [.sync, .verify, .prune],
            help: "wait for another run on the cache to end",
            standard: "0"),
        OptionRow(
            name: .reserve, argument: "SIZE", commands: [.sync],
            help: "leave so much of the disk free", standard: "1 %, at most 64M"),
        OptionRow(
            name: .caCertificates, argument: "FILE", commands: [.sync, .verify],
            help: "certificates (PEM) to trust instead of the system's"),
        OptionRow(
            name: .certificate, argument: "FILE", commands: [.sync, .verify],
            help: "our certificate (PEM) for servers that want one"),
        OptionRow(
            name: .certificateKey, argument: "FILE", commands: [.sync, .verify],
            help: "its key (PEM, not encrypted), when --cert does not hold it"),
        OptionRow(
            name: .proxy, argument: "URL", commands: [.sync, .verify],
            help: "the proxy (http://) to ask; \"none\" for none", standard: "$http_proxy, $https_proxy",
            isSecret: true),
        OptionRow(
            name: .netrc, commands: [.sync, .verify], help: "take users and passwords from ~/.netrc"),
        OptionRow(
            name: .netrcFile, argument: "FILE", commands: [.sync, .verify],
            help: "take users and passwords from this file"),
        OptionRow(
            name: .header, argument: "FIELD", commands: [.sync, .verify],
            help: "send \"Name: value\" to the entries' hosts",
            isRepeatable: true, isSecret: true),
        OptionRow(
            name: .userAgent, argument: "TEXT", commands: [.sync], help: "the User-Agent to send",
            standard: "syncagent/" + Help.version),
        OptionRow(
            name: .acceptCoded, commands: [.sync], help: "store answers with a Content-Encoding as they come"),
        OptionRow(name: .acceptHTML, commands: [.sync], help: "take html at names that are not html"),
        OptionRow(
            name: .quiet, letter: "q", commands: [.sync], help: "tell of failures only, on a terminal too"),
        OptionRow(
            name: .progress, argument: "WHEN", choices: ["auto", "always", "never"], commands: [.sync],
            help: "show progress: auto, always or never", standard: "auto"),
        OptionRow(
            name: .limitRate, argument: "RATE", commands: [.sync, .verify],
            help: "bytes per second for the whole run: 500k, or '08:00,512k 18:00,off'", standard: "off"),
        OptionRow(
            name: .maxBytes, argument: "SIZE", commands: [.sync],
            help: "end the run when it has received so much"),
        OptionRow(
            name: .order, argument: "ORDER", choices: ["manifest", "smallest"], commands: [.sync],
            help: "take entries as the manifest has them, or small ones first", standard: "manifest"),
        OptionRow(
            name: .log, argument: "FILE", commands: [.sync], help: "append a line (logfmt) for each event"),
        OptionRow(
            name: .notifyChange, commands: [.sync],
            help: "off a terminal, tell of a failure when it begins and when it is over"),
        OptionRow(
            name: .textfile, argument: "FILE", commands: [.sync],
            help: "write metrics for Prometheus' textfile collector (*.prom)"),
        OptionRow(
            name: .ping, argument: "URL", commands: [.sync],
            help: "ask URL/start, then URL or URL/EXITCODE, as healthchecks.io wants it", isSecret: true),
        OptionRow(
            name: .onRunEnd, argument: "COMMAND", commands: [.sync],
            help: "run this by /bin/sh at the end, with $SYNCAGENT_EXIT and more"),
        OptionRow(
            name: .prune, commands: [.sync],
            help: "after a run that ended with 0, remove what no manifest asks for any more"),
        OptionRow(
            name: .maxDelete, argument: "N", commands: [.sync, .prune],
            help: "remove nothing when more files than this, or N%, would go", standard: "10%"),
        OptionRow(
            name: .grace, argument: "DAYS", commands: [.sync, .prune],
            help: "remove what a prune found unasked so long ago", standard: "0"),
        OptionRow(
            name: .maxSize, argument: "SIZE", commands: [.sync, .prune],
            help: "remove only as much, the longest unused first, as is too much for this"),
        OptionRow(
            name: .forget, argument: "MANIFEST", commands: [.prune],
            help: "let a manifest go: it asks for nothing any more", isRepeatable: true),
        OptionRow(name: .yes, letter: "y", commands: [.prune], help: "remove without asking"),
        OptionRow(name: .dryRun, letter: "n", commands: [.prune], help: "list what would go; change nothing"),
        OptionRow(name: .repair, commands: [.verify], help: "fetch what is damaged again, now"),
        OptionRow(
            name: .keepDamaged, commands: [.verify],
            help: "keep damaged files in .syncagent/damaged"),
        OptionRow(name: .all, commands: [.pause, .resume], help: "all entries"),
        OptionRow(
            name: .match, argument: "GLOB", commands: [.pause, .resume],
            help: "entries whose URL is like this", isRepeatable: true),
        OptionRow(name: .json, commands: [.status, .plan, .config], help: "write JSON"),
        OptionRow(name: .watch, commands: [.status], help: "tell again every second, until interrupted"),
        OptionRow(name: .id, commands: [.path], help: "the argument is an entry's id= instead of its URL"),
        OptionRow(
            name: .config, argument: "FILE", commands: Command.allCases, help: "the configuration file",
            standard: "~/.config/syncagent/config.json, or in /etc"),
        OptionRow(
            name: .profile, argument: "NAME", commands: Command.allCases,
            help: "take the settings of this profile in it"),
        OptionRow(name: .help, letter: "h", commands: Command.allCases, help: "print this help"),
        OptionRow(name: .version, letter: "V", commands: Command.allCases, help: "print the version"),
    ]

    /// The options that a command knows.
    static func rows(for command: Command) -> [OptionRow] { rows.filter { $0.isKnown(to: command) } }
}
