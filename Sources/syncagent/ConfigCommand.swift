internal import Posix
internal import Wire

/// `syncagent config`: which settings hold, and where each comes from.
enum ConfigCommand {
    /// One setting as it is shown.
    struct Row: Equatable {
        let name: String
        /// Secrets masked; nil when nothing is set.
        let value: String?
        let origin: SettingOrigin
    }

    static func run(_ arguments: Arguments) throws(CommandError) -> Int32 {
        let rows = try rows(arguments, environment: environmentValue)
        if arguments.has(.json) {
            try Console.print(try JSONText.text(ConfigJSON(arguments, rows)))
        } else {
            try Console.print(text(rows, arguments.configuration))
        }
        return ExitCode.success.rawValue
    }

    /// All settings, in the order of the help; each value is checked as a run would check it.
    static func rows(
        _ arguments: Arguments, environment: (String) -> String?
    ) throws(CommandError) -> [Row] {
        let cache = try CachePath.resolve(option: arguments.value(.cache), environment: environment)
        _ = try SyncCommand.options(arguments, cache: cache, environment: environment)
        try RunReports.check(arguments)
        var rows = [
            Row(
                name: "manifests",
                value: arguments.operands.isEmpty
                    ? nil : arguments.operands.map { HTTPURL.maskedWord($0.text) }.joined(separator: " "),
                origin: arguments.operands.isEmpty ? .standard : arguments.operandsOrigin)
        ]
        for row in OptionTable.rows(for: .config) where row.isSetting {
            let value: String? =
                switch row.name {
                case .cache: cache
                case .header: headers(arguments)
                default: shown(arguments, row)
                }
            rows.append(Row(name: row.name.rawValue, value: value, origin: arguments.origin(of: row.name)))
        }
        return rows
    }

    private static func shown(_ arguments: Arguments, _ row: OptionRow) -> String? {
        guard row.argument != nil else { return arguments.has(row.name) ? "yes" : "no" }
        guard let value = arguments.value(row.name) else { return row.standard }
        guard row.isSecret else { return value }
        guard row.name == .ping else { return HTTPURL.maskedText(value) }
        // Whoever knows the path may ping.
        let end = value.firstRange(of: "://").flatMap { value[$0.upperBound...].firstIndex(of: "/") }
        return HTTPURL.maskedText(String(value[..<(end ?? value.endIndex)])) + (end == nil ? "" : "/***")
    }

    private static func headers(_ arguments: Arguments) -> String? {
        let names = arguments.layered(.header).flatMap { $0 }.map { text in
            String(text.prefix { $0 != ":" }) + ": ***"
        }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    private static func text(_ rows: [Row], _ file: String?) -> String {
        let names = rows.map(\.name.count).max() ?? 0
        let width = min(rows.map { DisplayText.width($0.value ?? "-") }.max() ?? 0, 40)
        return "# " + (file ?? "no configuration file") + "\n"
            + rows.map { row in
                DisplayText.padded(row.name, columns: names + 2)
                    + DisplayText.padded(DisplayText.printable(row.value ?? "-"), columns: width + 2)
                    + row.origin.words + "\n"
            }.joined()
    }
}

/// `config --json`. Fields are added only, never renamed.
struct ConfigJSON: Encodable {
    struct Setting: Encodable {
        let value: Nullable<String>
        let from: String
    }

    let schema = 1
    let file: Nullable<String>
    let profile: Nullable<String>
    let settings: [String: Setting]

    init(_ arguments: Arguments, _ rows: [ConfigCommand.Row]) {
        file = Nullable(arguments.configuration)
        profile = Nullable(arguments.chosenProfile)
        settings = Dictionary(
            uniqueKeysWithValues: rows.map {
                ($0.name, Setting(value: Nullable($0.value), from: $0.origin.words))
            })
    }
}
