/// Users and passwords by host, as ftp(1), curl(1) and others read them from a `.netrc`.
///
/// Words are separated by blanks and line ends; a word in double quotes may hold blanks and `\"`, `\\`, `\n`, `\r`,
/// `\t`. `#` where a keyword would stand begins a comment that lasts to the end of the line. A `macdef` lasts to the
/// next empty line and means nothing here, nor does an `account`.
package struct Netrc: Sendable {
    package struct Login: Hashable, Sendable {
        package var user: [UInt8] = []
        package var password: [UInt8] = []

        package init(user: [UInt8] = [], password: [UInt8] = []) {
            self.user = user
            self.password = password
        }
    }

    private var machines: [String: Login] = [:]
    private var fallback: Login?

    /// What stands there for a host (without brackets): for exactly this one, else what `default` says.
    package func login(for host: String) -> Login? { machines[host.lowercased()] ?? fallback }

    /// Reads the bytes of a file.
    package init(parsing bytes: [UInt8]) throws(NetrcError) {
        var words = NetrcWords(bytes)
        /// nil before the first entry; its host is nil for `default`.
        var entry: (host: String?, login: Login)?
        while let keyword = try words.nextKeyword() {
            switch String(decoding: keyword, as: UTF8.self) {
            case "machine":
                keep(entry)
                let host = String(decoding: try words.value(), as: UTF8.self).lowercased()
                entry = (host, Login())
            case "default":
                keep(entry)
                entry = (nil, Login())
            case "login":
                guard entry != nil else { throw words.error(.noMachine) }
                entry?.login.user = try words.value()
            case "password":
                guard entry != nil else { throw words.error(.noMachine) }
                entry?.login.password = try words.value()
            case "account":
                _ = try words.value()
            case "macdef":
                _ = try words.value()
                words.skipMacro()
            default:
                throw words.error(.unknownWord)
            }
        }
        keep(entry)
    }

    /// Of two entries for one host the first counts.
    private mutating func keep(_ entry: (host: String?, login: Login)?) {
        guard let entry else { return }
        if let host = entry.host {
            if machines[host] == nil { machines[host] = entry.login }
        } else if fallback == nil {
            fallback = entry.login
        }
    }
}

/// Why a text is no netrc; none of its words is in it, since any may be a password.
package struct NetrcError: Error, Hashable, Sendable {
    package enum Cause: Hashable, Sendable { case unknownWord, noMachine, noValue, openQuote }
    /// Counted from 1.
    package let line: Int
    package let cause: Cause
}

extension NetrcError: CustomStringConvertible {
    /// `line N: ` and a clause without capital and full stop.
    package var description: String {
        let words =
            switch cause {
            case .unknownWord:
                "neither machine, default, login nor password; quote values with blanks in them"
            case .noMachine: "a login or password before the first machine"
            case .noValue: "a word without its value"
            case .openQuote: "a quote that does not end in its line"
            }
        return "line \(line): \(words)"
    }
}

/// The words of a netrc.
private struct NetrcWords {
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func error(_ cause: NetrcError.Cause) -> NetrcError { NetrcError(line: line, cause: cause) }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = current, byte.isBlank || byte == .lineFeed || byte == .carriageReturn {
            if byte == .lineFeed { line += 1 }
            position += 1
        }
    }

    /// nil at the end.
    mutating func nextKeyword() throws(NetrcError) -> [UInt8]? {
        skipBlanks()
        while current == 0x23 {
            while let byte = current, byte != .lineFeed { position += 1 }
            skipBlanks()
        }
        return current == nil ? nil : try word()
    }

    mutating func value() throws(NetrcError) -> [UInt8] {
        let start = line
        skipBlanks()
        guard current != nil else { throw NetrcError(line: start, cause: .noValue) }
        return try word()
    }

    /// Skips the lines of a macro and the empty one that ends it.
    mutating func skipMacro() {
        var length = 1
        while let byte = current {
            position += 1
            if byte == .lineFeed {
                line += 1
                if length == 0 { return }
                length = 0
            } else if byte != .carriageReturn {
                length += 1
            }
        }
    }

    private mutating func word() throws(NetrcError) -> [UInt8] {
        guard current == 0x22 else {
            let start = position
            while let byte = current, !byte.isBlank, byte != .lineFeed, byte != .carriageReturn {
                position += 1
            }
            return Array(bytes[start..<position])
        }
        position += 1
        var word: [UInt8] = []
        while let byte = current, byte != .lineFeed {
            position += 1
            switch byte {
            case 0x22: return word
            case 0x5C:
                guard let escaped = current, escaped != .lineFeed else { throw error(.openQuote) }
                position += 1
                switch escaped {
                case 0x6E: word.append(.lineFeed)
                case 0x72: word.append(.carriageReturn)
                case 0x74: word.append(0x09)
                default: word.append(escaped)
                }
            default: word.append(byte)
            }
        }
        throw error(.openQuote)
    }
}
