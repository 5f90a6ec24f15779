/// Where the cache is.
enum CachePath {
    /// The option, else the environment: `$SYNCAGENT_CACHE`, the first of `$CACHE_DIRECTORY` (systemd.exec(5)
    /// separates several by colons), `$XDG_CACHE_HOME/syncagent`, `~/.cache/syncagent`.
    ///
    /// - Parameter environment: a variable's value; nil when it is not set or empty.
    static func resolve(option: String?, environment: (String) -> String?) throws(CommandError) -> String {
        if let option {
            guard !option.isEmpty else {
                throw CommandError(.usage, "--cache wants a folder, not an empty word")
            }
            return trimmed(option)
        }
        if let path = environment("SYNCAGENT_CACHE") { return trimmed(path) }
        if let first = environment("CACHE_DIRECTORY")?.split(separator: ":").first {
            return trimmed(String(first))
        }
        // The XDG base directory specification: a relative path is invalid and to be ignored.
        if let base = environment("XDG_CACHE_HOME"), base.utf8.first == UInt8(ascii: "/") {
            return trimmed(base) + "/syncagent"
        }
        if let home = environment("HOME") { return trimmed(home) + "/.cache/syncagent" }
        throw CommandError(.usage, "no cache folder, since HOME is not set; pass --cache DIR")
    }

    /// The ledger's folder by its option; nil for the cache's own.
    static func ledger(_ arguments: Arguments) throws(CommandError) -> String? {
        guard let path = arguments.value(.state) else { return nil }
        guard !path.isEmpty else {
            throw CommandError(.usage, "--state wants a folder, not an empty word")
        }
        return trimmed(path)
    }

    /// Without the slashes at its end, so that paths below it read well; the root stays.
    private static func trimmed(_ path: String) -> String {
        var rest = path[...]
        while rest.utf8.count > 1, rest.utf8.last == UInt8(ascii: "/") { rest = rest.dropLast() }
        return String(rest)
    }
}
