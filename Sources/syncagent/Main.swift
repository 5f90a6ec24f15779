internal import Posix

@main
struct Main {
    static func main() {
        // A file that is opened under the number of a closed standard stream would receive our messages.
        StandardStream.fillGaps()
        SignalWatch.ignoreBrokenPipes()
        endProcess(run(words()))
    }

    /// The words behind the program's name, byte by byte as the caller gave them.
    private static func words() -> [Argument] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            guard let word = CommandLine.unsafeArgv[index] else { return nil }
            return Argument(bytes: UnsafeRawBufferPointer(start: word, count: length(word)).map { $0 })
        }
    }

    private static func length(_ word: UnsafePointer<CChar>) -> Int {
        var count = 0
        while word[count] != 0 { count += 1 }
        return count
    }

    private static func run(_ words: [Argument]) -> Int32 {
        do throws(CommandError) {
            switch try Arguments.parse(words) {
            case .help(let command): try Console.print(Help.text(command))
            case .version: try Console.print("syncagent \(Help.version)\n")
            case .run(let arguments):
                switch arguments.command {
                case .sync: return try SyncCommand.run(arguments)
                case .status: return try StatusCommand.run(arguments)
                case .path: return try PathCommand.run(arguments)
                case .plan: return try PlanCommand.run(arguments)
                }
            }
            return 0
        } catch {
            Console.complain(error.message)
            return error.code.rawValue
        }
    }
}
