internal import Posix
internal import Storage
internal import Wire

/// A URL or an `id=` on the command line as a key.
enum KeyArgument {
    /// The MD5 of the bytes as given, blanks around them trimmed as in a manifest.
    static func key(of argument: Argument) -> Key {
        var bytes = argument.bytes[...]
        while let first = bytes.first, isBlank(first) { bytes = bytes.dropFirst() }
        while let last = bytes.last, isBlank(last) { bytes = bytes.dropLast() }
        return bytes.withUnsafeBytes { Key(md5Of: $0) }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// `syncagent path`: where a file is, if it is complete.
enum PathCommand {
    static func run(_ arguments: Arguments) throws(CommandError) -> Int32 {
        let cache = try CachePath.resolve(option: arguments.value(.cache), environment: environmentValue)
        guard let argument = arguments.operands.first else { return ExitCode.usage.rawValue }
        let subject = arguments.has(.id) ? argument.text : HTTPURL.maskedText(argument.text)
        var view = try CacheView(path: cache, ledger: try CachePath.ledger(arguments))
        let row: EntryRow?
        do throws(LedgerError) {
            row = try view.ledger?.entry(for: KeyArgument.key(of: argument)) ?? nil
        } catch {
            throw CacheView.failure(error)
        }
        guard let row else {
            throw CommandError(
                .failure, "\(subject): not in \(cache); put it in a manifest and run syncagent sync")
        }
        guard view.isComplete(row) else {
            let why = row.failure.map { ": \($0.message)" } ?? ""
            throw CommandError(.failure, "\(subject): not complete\(why); run syncagent sync")
        }
        try Console.print("\(cache)/\(row.fileName)\n")
        return ExitCode.success.rawValue
    }
}
