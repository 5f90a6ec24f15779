internal import Wire

/// A word of the command line: its bytes are what a URL is hashed by, its text is for people.
struct Argument: Hashable {
    let bytes: [UInt8]
    /// Bytes that are no UTF-8 are replaced.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    init(bytes: [UInt8]) { self.bytes = bytes }
    init(_ text: String) { bytes = Array(text.utf8) }
}

/// A parsed command line.
enum Invocation {
    case run(Arguments)
    case help(Command?)
    case version
}

/// What the user asked for, checked against the table of options.
struct Arguments {
    let command: Command
    var operands: [Argument] = []
    /// Where the operands come from.
    var operandsOrigin = SettingOrigin.flag
    private var values: [OptionName: [String]] = [:]
    /// What else says something, the first beating the others.
    var layers: [SettingLayer] = []
    /// The configuration file that was read, and the profile that was chosen from it.
    var configuration: String?
    var chosenProfile: String?

    init(command: Command) { self.command = command }

    /// Whether the switch, or the option, was given.
    func has(_ name: OptionName) -> Bool { found(name)?.isEmpty == false }

    /// The last value of an option: who repeats it changes their mind.
    func value(_ name: OptionName) -> String? { found(name)?.last }

    /// Where an option's value comes from.
    func origin(of name: OptionName) -> SettingOrigin {
        if values[name] != nil { return .flag }
        return layers.first { $0.values[name] != nil }?.origins[name] ?? .standard
    }

    private func found(_ name: OptionName) -> [String]? {
        values[name] ?? layers.first { $0.values[name] != nil }?.values[name]
    }

    /// The values of a repeatable option by their origins, the first beating the others.
    func layered(_ name: OptionName) -> [[String]] {
        ([values[name]] + layers.map { $0.values[name] }).compactMap { $0 }
    }

    /// A value that will not do, with what would; the message follows the option's name.
    func refusal(_ name: OptionName, _ message: String) -> CommandError {
        let origin = origin(of: name)
        return CommandError(origin.refusal, "\(origin.subject(name)) \(message)")
    }

    /// The last value of an option, else what the table says holds without it.
    func text(_ name: OptionName) -> String {
        value(name) ?? OptionTable.rows.first { $0.name == name }?.standard ?? ""
    }

    /// Every value of a repeatable option, in order.
    func all(_ name: OptionName) -> [String] { found(name) ?? [] }

    /// Reads the words behind the program's name. Options may stand before the command, before operands and
    /// behind them; `--` ends them; a lone `-` is an operand.
    ///
    /// - Parameter configure: adds what stands elsewhere, before operands are missed.
    static func parse(
        _ words: [Argument], configure: (inout Arguments) throws(CommandError) -> Void = { _ in }
    ) throws(CommandError) -> Invocation {
        var command: Command?
        var operands: [Argument] = []
        var given: [(row: OptionRow, value: String?)] = []
        var wantsHelp = false
        var optionsEnded = false
        var index = 0

        while index < words.count {
            let word = words[index]
            index += 1
            if optionsEnded || word.bytes.first != 0x2D || word.bytes == [0x2D] {
                if command != nil {
                    operands.append(word)
                } else if word.text == "help", !optionsEnded {
                    wantsHelp = true
                } else {
                    command = try self.command(named: word.text)
                }
                continue
            }
            if word.bytes == [0x2D, 0x2D] {
                optionsEnded = true
                continue
            }
            let text = word.text
            let (row, attached) = try option(text, for: command)
            if row.name == .version { return .version }
            if row.name == .help {
                wantsHelp = true
                continue
            }
            let typed = row.name.typed
            guard let placeholder = row.argument else {
                guard attached == nil else { throw CommandError(.usage, "\(typed) takes no value") }
                given.append((row, nil))
                continue
            }
            if let attached {
                given.append((row, attached))
            } else if index < words.count {
                given.append((row, words[index].text))
                index += 1
            } else {
                throw CommandError(.usage, "\(typed) wants a value: \(typed) \(placeholder)")
            }
        }
        if wantsHelp { return .help(command) }
        guard let command else {
            throw CommandError(.usage, "no command; syncagent --help lists them")
        }
        var arguments = try assembled(command, operands, given)
        try configure(&arguments)
        try arguments.checkOperands()
        return .run(arguments)
    }

    private static func assembled(
        _ command: Command, _ operands: [Argument], _ given: [(row: OptionRow, value: String?)]
    ) throws(CommandError) -> Arguments {
        var arguments = Arguments(command: command)
        arguments.operands = operands
        for (row, value) in given {
            // An option before the command could not be checked when it was read.
            guard row.isKnown(to: command) else { throw misplaced(row, command) }
            if let value, !row.choices.isEmpty, !row.choices.contains(value) {
                throw CommandError(
                    .usage,
                    "\(row.name.typed) is one of \(row.choices.joined(separator: ", ")), not \(quoted(value))"
                )
            }
            arguments.values[row.name, default: []].append(value ?? "")
        }
        return arguments
    }

    private func checkOperands() throws(CommandError) {
        if command == .config, operandsOrigin != .flag { return }
        guard operands.count >= command.operandCount.lowerBound else {
            throw CommandError(
                .usage,
                "\(command.rawValue) wants an argument: syncagent \(command.rawValue) \(command.operands)")
        }
        guard operands.count <= command.operandCount.upperBound else {
            let extra = quoted(operands[command.operandCount.upperBound].text)
            throw CommandError(
                .usage, "one argument too many: \(extra); syncagent \(command.rawValue) --help")
        }
    }

    private static func command(named name: String) throws(CommandError) -> Command {
        if let command = Command(rawValue: name) { return command }
        let nearest = Suggestion.nearest(to: name, among: Command.allCases.map(\.rawValue))
        let next = nearest.map { "did you mean \($0)?" } ?? "syncagent --help lists them"
        throw CommandError(.usage, "no command \(quoted(name)); \(next)")
    }

    /// The option of a word that begins with a hyphen, and the value that hangs on it by `=`.
    private static func option(
        _ text: String, for command: Command?
    ) throws(CommandError) -> (row: OptionRow, value: String?) {
        if text.hasPrefix("--") {
            let parts = text.dropFirst(2).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map(String.init) ?? ""
            let value = parts.count > 1 ? String(parts[1]) : nil
            if let row = OptionTable.rows.first(where: { $0.name.rawValue == name }) {
                if let command, !row.isKnown(to: command) { throw misplaced(row, command) }
                return (row, value)
            }
            throw unknown("--" + name, for: command)
        }
        if text.count == 2, let letter = text.last,
            let row = OptionTable.rows.first(where: { $0.letter == letter })
        {
            if let command, !row.isKnown(to: command) { throw misplaced(row, command) }
            return (row, nil)
        }
        throw unknown(text, for: command)
    }

    private static func unknown(_ typed: String, for command: Command?) -> CommandError {
        let rows = command.map { OptionTable.rows(for: $0) } ?? OptionTable.rows
        let nearest = Suggestion.nearest(to: typed, among: rows.map(\.name.typed))
        let help = command.map { "syncagent \($0.rawValue) --help" } ?? "syncagent --help"
        return CommandError(
            .usage,
            "no option \(quoted(typed)); " + (nearest.map { "did you mean \($0)?" } ?? "\(help) lists them"))
    }

    private static func misplaced(_ row: OptionRow, _ command: Command) -> CommandError {
        let owners = row.commands.map(\.rawValue).joined(separator: " and ")
        return CommandError(.usage, "\(command.rawValue) has no \(row.name.typed); it belongs to \(owners)")
    }
}

/// A word as it was typed, within quotes, safe for a terminal; a URL in it without its secrets.
func quoted(_ text: String) -> String { "'" + DisplayText.printable(HTTPURL.maskedWord(text)) + "'" }
