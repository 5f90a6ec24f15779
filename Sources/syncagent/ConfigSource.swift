internal import Posix

/// Where a text of the configuration file stands: in it, in a variable, or in a file of its own, so that the
/// configuration can be read by everybody and the secret by nobody else.
enum ConfigSource: Hashable {
    case literal(String)
    case variable(String, prefix: String)
    case file(String, prefix: String)

    /// Bytes; a longer file holds no option.
    private static let largest = 64 << 10

    /// The text; its line end is no part of it.
    ///
    /// - Parameter environment: a variable's value; nil when it is not set or empty.
    func text(_ environment: (String) -> String?) throws(ConfigSourceError) -> String {
        switch self {
        case .literal(let text): return text
        case .variable(let name, let prefix):
            guard let value = environment(name) else {
                throw ConfigSourceError(message: "takes its value from $\(name), which is not set")
            }
            return prefix + value
        case .file(let path, let prefix):
            guard let bytes = try Self.contents(of: path) else {
                throw ConfigSourceError(message: "takes its value from \(path), which is too long")
            }
            var text = Substring(String(decoding: bytes, as: UTF8.self))
            while let last = text.last, last.isNewline { text = text.dropLast() }
            return prefix + text
        }
    }

    private static func contents(of path: String) throws(ConfigSourceError) -> [UInt8]? {
        do throws(SystemError) {
            return try wholeFile(at: path, limit: largest)
        } catch {
            throw ConfigSourceError(message: "takes its value from \(path): \(error.reason)")
        }
    }
}

/// Why a text could not be had.
struct ConfigSourceError: Error {
    /// To follow the setting's name.
    let message: String
}
