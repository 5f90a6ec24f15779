internal import Posix

@main
struct Main {
    static func main() {
        // A file that is opened under the number of a closed standard stream would receive our messages.
        StandardStream.fillGaps()
        SignalWatch.ignoreFailedWrites()
        let words = processArguments().map { Argument(bytes: $0) }
        SecretWords.conceal(in: words)
        endProcess(run(words))
    }

    private static func run(_ words: [Argument]) -> Int32 {
        do throws(CommandError) {
            let invocation = try Arguments.parse(words) { (arguments) throws(CommandError) in
                try Configuration.apply(to: &arguments, environment: environmentValue)
            }
            switch invocation {
            case .help(let command): try Console.print(Help.text(command))
            case .version: try Console.print("syncagent \(Help.version)\n")
            case .run(let arguments):
                switch arguments.command {
                case .sync: return try SyncCommand.run(arguments)
                case .status: return try StatusCommand.run(arguments)
                case .path: return try PathCommand.run(arguments)
                case .plan: return try PlanCommand.run(arguments)
                case .config: return try ConfigCommand.run(arguments)
                case .pause, .resume: return try PauseCommand.run(arguments)
                case .verify: return try VerifyCommand.run(arguments)
                case .prune: return try PruneCommand.run(arguments)
                }
            }
            return 0
        } catch {
            Console.complain(error.message)
            return error.code.rawValue
        }
    }
}
