internal import Posix

/// The two streams that people and programs read.
enum Console {
    /// Writes data to standard output; false when its reader went away, who then has seen what it wanted.
    @discardableResult
    static func print(_ text: String) throws(CommandError) -> Bool {
        do throws(SystemError) {
            try StandardStream.output.write(Array(text.utf8))
            return true
        } catch {
            if error.isBrokenPipe { return false }
            throw CommandError(.inputOutput, "cannot write to standard output: \(error.reason)")
        }
    }

    /// How bad it is, in the numbers of syslog(3).
    enum Severity: Int { case error = 3, warning = 4, info = 6 }

    /// Whether standard error goes to the journal, which takes a severity before each line (sd-daemon(3)).
    static let isJournal = StandardStream.error.isJournal(environmentValue("JOURNAL_STREAM"))

    /// One sentence under the program's name, as a line.
    static func line(_ message: String, _ severity: Severity, isJournal: Bool = isJournal) -> String {
        (isJournal ? "<\(severity.rawValue)>" : "") + "syncagent: " + DisplayText.printable(message) + "\n"
    }

    /// Writes one sentence to standard error, under the program's name.
    static func complain(_ message: String) { tell(line(message, .error)) }

    /// Writes text to standard error as it is.
    static func tell(_ text: String) {
        do throws(SystemError) {
            try StandardStream.error.write(Array(text.utf8))
        } catch {
            // There is no other place left to say so; the exit code still tells.
            return
        }
    }

    /// Whether escape codes may be sent to a terminal: no-color.org, and terminfo's `dumb`.
    static var allowsEscapes: Bool {
        environmentValue("NO_COLOR") == nil && environmentValue("TERM") != nil
            && environmentValue("TERM") != "dumb"
    }
}
