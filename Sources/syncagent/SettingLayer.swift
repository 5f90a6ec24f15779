/// Where the value of an option comes from, the first beating the others.
enum SettingOrigin: Hashable {
    case flag
    /// The variable's name.
    case environment(String)
    case profile(String, file: String)
    case file(String)
    /// Nobody said anything.
    case standard

    /// For people, behind "from".
    var words: String {
        switch self {
        case .flag: "the command line"
        case .environment(let name): "$\(name)"
        case .profile(let name, let file): "profile \(name) in \(file)"
        case .file(let file): file
        case .standard: "default"
        }
    }

    /// What to call an option that has its value from here, to be followed by what is wrong with it.
    func subject(_ name: OptionName) -> String {
        switch self {
        case .flag, .standard: name.typed
        case .environment(let variable): "$\(variable)"
        case .profile(let profile, let file): "\(file): profile \(profile): \(name.rawValue)"
        case .file(let file): "\(file): \(name.rawValue)"
        }
    }

    /// What a wrong value ends the program with.
    var refusal: ExitCode {
        switch self {
        case .flag, .standard: .usage
        case .environment, .profile, .file: .configuration
        }
    }
}

/// The options that one origin gives.
struct SettingLayer {
    /// In order of the table; an option that is switched off is there, without a value.
    var values: [OptionName: [String]] = [:]
    /// One per option, since each variable is an origin of its own.
    var origins: [OptionName: SettingOrigin] = [:]
    var manifests: [String] = []
    var manifestsOrigin = SettingOrigin.standard

    mutating func set(_ name: OptionName, _ values: [String], _ origin: SettingOrigin) {
        self.values[name] = values
        origins[name] = origin
    }

    /// What `$SYNCAGENT_CACHE`, `$SYNCAGENT_JOBS` and the like say.
    ///
    /// - Parameters:
    ///   - rows: the options that may be set so.
    ///   - environment: a variable's value; nil when it is not set or empty.
    init(of rows: [OptionRow], environment: (String) -> String?) throws(CommandError) {
        for row in rows {
            guard let text = environment(row.name.variable) else { continue }
            let origin = SettingOrigin.environment(row.name.variable)
            set(row.name, try Self.values(text, row, origin), origin)
        }
    }

    init() {}

    /// One text as the values of an option: a switch takes yes and no.
    private static func values(
        _ text: String, _ row: OptionRow, _ origin: SettingOrigin
    ) throws(CommandError) -> [String] {
        guard row.argument == nil else { return [text] }
        switch text.lowercased() {
        case "1", "true", "yes", "on": return [""]
        case "0", "false", "no", "off": return []
        default:
            throw CommandError(
                origin.refusal, "\(origin.subject(row.name)) is yes or no, not \(quoted(text))")
        }
    }
}

extension OptionName {
    /// The variable of the environment that gives its value.
    var variable: String {
        "SYNCAGENT_" + rawValue.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }
}

extension OptionRow {
    /// Whether the environment and the configuration file may give it: what a run needs, not what is asked of one call.
    var isSetting: Bool {
        switch name {
        case .config, .profile, .help, .version: false
        default: commands.contains(.sync)
        }
    }

    /// Its argument is a path.
    var isPath: Bool { argument == "FILE" || argument == "DIR" }
}
