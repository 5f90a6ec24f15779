/// One word of the user's about who is to be paused or resumed.
package struct PauseRule: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        case key(Key)
        /// Entries whose masked URL matches: `*` stands for anything, `?` for one character.
        case pattern(String)
    }

    /// Later rules have greater numbers.
    package let identifier: Int64
    package let subject: Subject
    /// For people: the masked URL, or the pattern.
    package let text: String
    /// False for an exception from an earlier rule.
    package let isPaused: Bool

    package init(identifier: Int64, subject: Subject, text: String, isPaused: Bool) {
        self.identifier = identifier
        self.subject = subject
        self.text = text
        self.isPaused = isPaused
    }
}

/// Equal as long as nobody pauses or resumes anything.
package struct PauseMark: Hashable, Sendable {
    let newest: Int64
    let count: Int64
}

/// All that the user said about pausing. The last word about an entry counts.
package struct PauseRules: Sendable {
    private var keys: [Key: PauseRule] = [:]
    private var patterns: [PauseRule] = []

    package init(_ rules: [PauseRule] = []) {
        for rule in rules.sorted(by: { $0.identifier < $1.identifier }) {
            switch rule.subject {
            case .key(let key): keys[key] = rule
            case .pattern: patterns.append(rule)
            }
        }
    }

    package var isEmpty: Bool { keys.isEmpty && patterns.isEmpty }
    /// Whether entries can be paused without being named by themselves.
    package var hasPatterns: Bool { !patterns.isEmpty }
    /// In the order of their numbers.
    package var all: [PauseRule] { (Array(keys.values) + patterns).sorted { $0.identifier < $1.identifier } }
    /// The keys that are named by themselves.
    package var namedKeys: [Key] { Array(keys.keys) }

    /// - Parameter url: masked.
    package func isPaused(_ key: Key, url: String) -> Bool {
        if isEmpty { return false }
        let own = keys[key]
        for rule in patterns.reversed() {
            if let own, own.identifier > rule.identifier { break }
            if case .pattern(let pattern) = rule.subject, matches(url, pattern: pattern) {
                return rule.isPaused
            }
        }
        return own?.isPaused ?? false
    }
}

/// Whether a pattern stands for the whole of a text: `*` for any bytes, `?` for any one, all else for itself. The time
/// is bounded by the product of the lengths.
package func matches(_ text: String, pattern: String) -> Bool {
    let text = Array(text.utf8)
    let pattern = Array(pattern.utf8)
    var (index, mark) = (0, 0)
    /// Behind the last star, and where in the text what it stands for ends.
    var star: (pattern: Int, text: Int)?
    while index < text.count {
        if mark < pattern.count, pattern[mark] == UInt8(ascii: "*") {
            star = (mark + 1, index)
            mark += 1
        } else if mark < pattern.count, pattern[mark] == UInt8(ascii: "?") || pattern[mark] == text[index] {
            (index, mark) = (index + 1, mark + 1)
        } else if let last = star {
            star = (last.pattern, last.text + 1)
            (index, mark) = (last.text + 1, last.pattern)
        } else {
            return false
        }
    }
    return pattern[mark...].allSatisfy { $0 == UInt8(ascii: "*") }
}
