internal import Reconcile

/// Option values as numbers; each refusal is a sentence that says what would do.
enum OptionValue {
    /// A whole number within bounds.
    static func count(
        _ arguments: Arguments, _ name: OptionName, within bounds: ClosedRange<Int>
    ) throws(CommandError) -> Int {
        let text = arguments.text(name)
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            bounds.contains(number)
        else {
            throw arguments.refusal(
                name,
                "wants a whole number from \(bounds.lowerBound) to \(bounds.upperBound), not \(quoted(text))")
        }
        return number
    }

    /// The longest time that an option takes, in seconds: ten years of 365 days.
    static let longest = 315_360_000.0

    /// A time in seconds: `90`, `1.5`, and with a unit `90s`, `10m`, `12h`, `7d`.
    static func seconds(
        _ arguments: Arguments, _ name: OptionName, allowsZero: Bool = false
    ) throws(CommandError) -> Double {
        let text = arguments.text(name)
        let refusal = arguments.refusal(
            name,
            "wants a time such as 90, 1.5, 10m, 12h or 7d" + (allowsZero ? "" : ", more than 0")
                + ", not \(quoted(text))")
        guard let seconds = seconds(text), seconds <= longest, allowsZero || seconds > 0 else {
            throw refusal
        }
        return seconds
    }

    private static func seconds(_ text: String) -> Double? {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let unit = text.last.flatMap { units[$0] }
        let number = unit == nil ? text[...] : text.dropLast()
        // Double() also reads nan, inf, hex and exponents, which are slips here.
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        let isDigits = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard (1...2).contains(parts.count), isDigits, number.utf8.count <= 20 else { return nil }
        return Double(number).map { $0 * (unit ?? 1) }
    }

    /// A size in bytes: `4096`, and with a unit of 1024, 1024² … `64k`, `64M`, `1G`, `2T`.
    static func bytes(_ arguments: Arguments, _ name: OptionName) throws(CommandError) -> UInt64 {
        let text = arguments.text(name)
        guard let count = bytes(text[...]) else {
            throw arguments.refusal(name, "wants a size such as 500k, 64M or 2G, not \(quoted(text))")
        }
        return count
    }

    private static func bytes(_ text: Substring) -> UInt64? {
        let shifts: [Character: UInt64] = ["k": 10, "m": 20, "g": 30, "t": 40]
        let shift = text.last.flatMap { shifts[Character($0.lowercased())] }
        let number = shift == nil ? text : text.dropLast()
        guard number.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = UInt64(number),
            count <= UInt64.max >> (shift ?? 0)
        else { return nil }
        return count << (shift ?? 0)
    }

    /// A rate, or one by the time of the day; nil when it was not given.
    static func timetable(
        _ arguments: Arguments, _ name: OptionName
    ) throws(CommandError) -> RateTimetable? {
        guard let text = arguments.value(name) else { return nil }
        guard let timetable = RateTimetable(text, size: bytes) else {
            throw arguments.refusal(
                name,
                "wants a rate such as 500k or 2M, or a timetable such as '08:00,512k 18:00,off', "
                    + "not \(quoted(text))")
        }
        return timetable == RateTimetable(rate: nil) ? nil : timetable
    }

    /// `Name: value`, as HTTP has it (RFC 9110 5.1): the name a token, the value without control characters.
    static func header(
        _ arguments: Arguments, _ name: OptionName, _ text: String
    ) throws(CommandError) -> (name: String, value: String) {
        do throws(HeaderError) {
            return try header(text)
        } catch {
            throw arguments.refusal(name, error.message)
        }
    }

    /// Why a header field cannot be sent.
    struct HeaderError: Error {
        /// To follow the option's name; no value is in it.
        let message: String
    }

    static func header(_ text: String) throws(HeaderError) -> (name: String, value: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let token = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        // The value may be a secret, so the sentence repeats the name at most.
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(token.contains) else {
            throw HeaderError(message: "wants 'Name: value'")
        }
        let name = String(parts[0])
        let blanks: Set<Character> = [" ", "\t"]
        var value = parts[1].drop(while: blanks.contains)
        while let last = value.last, blanks.contains(last) { value = value.dropLast() }
        guard value.utf8.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else {
            throw HeaderError(message: "\(name) holds a control character")
        }
        let ours: Set<String> = [
            "host", "content-length", "transfer-encoding", "range", "if-range", "if-match", "if-none-match",
            "if-modified-since", "if-unmodified-since", "accept-encoding", "connection",
        ]
        guard name.lowercased() != "proxy-authorization" else {
            throw HeaderError(
                message: "\(name) would go to the wrong place; write the user into the proxy's URL")
        }
        guard !ours.contains(name.lowercased()) else {
            throw HeaderError(message: "\(name) is set by syncagent itself")
        }
        return (name, String(value))
    }
}
