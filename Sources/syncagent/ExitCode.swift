/// What the process ends with; the numbers are those of sysexits.h.
enum ExitCode: Int32 {
    case success = 0
    /// An entry failed for good or a manifest line was bad; for `path`, the file is not complete.
    case failure = 1
    case usage = 64
    case unusableManifest = 65
    case missingManifest = 66
    case cannotCreate = 73
    case inputOutput = 74
    /// Work remains, and running again will help.
    case tryAgain = 75
    case configuration = 78
}

/// Why a command could not do its work: a sentence and an exit code.
struct CommandError: Error {
    let code: ExitCode
    /// Lower case, without the program's name and without a full stop.
    let message: String

    init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }
}
