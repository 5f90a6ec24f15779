internal import Posix

/// The two streams that people and programs read.
enum Console {
    /// Writes data to standard output. A reader that went away has seen what it wanted.
    static func print(_ text: String) throws(CommandError) {
        do throws(SystemError) {
            try StandardStream.output.write(Array(text.utf8))
        } catch  where error.isBrokenPipe {
            return
        } catch {
            throw CommandError(.inputOutput, "cannot write to standard output: \(error.reason)")
        }
    }

    /// Writes one sentence to standard error, under the program's name.
    static func complain(_ message: String) { tell("syncagent: " + DisplayText.printable(message) + "\n") }

    /// Writes text to standard error as it is.
    static func tell(_ text: String) {
        do throws(SystemError) {
            try StandardStream.error.write(Array(text.utf8))
        } catch {
            // There is no other place left to say so; the exit code still tells.
            return
        }
    }

    /// Whether escape codes may be sent to standard error: no-color.org, and terminfo's `dumb`.
    static var allowsEscapes: Bool {
        environmentValue("NO_COLOR") == nil && environmentValue("TERM") != nil
            && environmentValue("TERM") != "dumb"
    }
}
