/// The help texts, made from the table of options.
enum Help {
    static let version = "0.1.0"

    /// For one command, or for the whole program.
    static func text(_ command: Command?) -> String {
        guard let command else { return overview }
        return """
            usage: syncagent \(command.rawValue) [options] \(command.operands)

            \(command.summary)

            \(command.details)

            options:
            \(options(OptionTable.rows(for: command)))

            """
    }

    private static var overview: String {
        let width = Command.allCases.map { "\($0.rawValue) \($0.operands)".count }.max() ?? 0
        let commands = Command.allCases.map { command in
            "  " + DisplayText.padded("\(command.rawValue) \(command.operands)", columns: width + 2)
                + command.summary
        }
        return """
            usage: syncagent COMMAND [options] ...

            syncagent mirrors lists of URLs into a folder, and resumes what was cut short.

            commands:
            \(commands.joined(separator: "\n"))

            options:
            \(options(OptionTable.rows.filter { $0.commands.count == Command.allCases.count }))

            syncagent COMMAND --help tells the options of a command.

            """
    }

    private static func options(_ rows: [OptionRow]) -> String {
        let heads = rows.map { row in
            (row.letter.map { "-\($0), " } ?? "    ") + row.name.typed + (row.argument.map { " \($0)" } ?? "")
        }
        let width = heads.map(\.count).max() ?? 0
        return zip(rows, heads).map { row, head in
            let standard = row.standard.map { " [\($0)]" } ?? ""
            return "  " + DisplayText.padded(head, columns: width + 2) + row.help + standard
        }.joined(separator: "\n")
    }
}
