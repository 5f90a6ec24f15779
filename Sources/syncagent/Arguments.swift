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
    private var values: [OptionName: [String]] = [:]

    init(command: Command) { self.command = command }

    /// Whether the switch was given.
    func has(_ name: OptionName) -> Bool { values[name] != nil }

    /// The last value of an option: who repeats it changes their mind.
    func value(_ name: OptionName) -> String? { values[name]?.last }

    /// The last value of an option, else what the table says holds without it.
    func text(_ name: OptionName) -> String {
        value(name) ?? OptionTable.rows.first { $0.name == name }?.standard ?? ""
    }

    /// Every value of a repeatable option, in order.
    func all(_ name: OptionName) -> [String] { values[name] ?? [] }

    /// Reads the words behind the program's name. Options may stand before the command, before operands and
    /// behind them; `--` ends them; a lone `-` is an operand.
    static func parse(_ words: [Argument]) throws(CommandError) -> Invocation {
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
        return .run(try assembled(command, operands, given))
    }

    private static func assembled(
        _ command: Command, _ operands: [Argument], _ given: [(row: OptionRow, value: String?)]
    ) throws(CommandError) -> Arguments {
        var arguments = Arguments(command: command)
        arguments.operands = operands
        for (row, value) in given {
            // An option before the command could not be checked when it was read.
            guard row.commands.contains(command) else { throw misplaced(row, command) }
            if let value, !row.choices.isEmpty, !row.choices.contains(value) {
                throw CommandError(
                    .usage,
                    "\(row.name.typed) is one of \(row.choices.joined(separator: ", ")), not \(quoted(value))"
                )
            }
            arguments.values[row.name, default: []].append(value ?? "")
        }
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
        return arguments
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
                if let command, !row.commands.contains(command) { throw misplaced(row, command) }
                return (row, value)
            }
            throw unknown("--" + name, for: command)
        }
        if text.count == 2, let letter = text.last,
            let row = OptionTable.rows.first(where: { $0.letter == letter })
        {
            if let command, !row.commands.contains(command) { throw misplaced(row, command) }
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
