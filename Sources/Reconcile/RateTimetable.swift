/// What rate holds at which time of the day: `512k`, or `08:00,512k 18:00,off`.
package struct RateTimetable: Hashable, Sendable {
    package static let minutesADay = 1440

    /// Ascending minutes of the day, each with the rate from then on; nil for no bound. Never empty.
    private let steps: [Step]

    private struct Step: Hashable, Sendable {
        let minute: Int
        /// Bytes per second.
        let rate: UInt64?
    }

    /// One rate at all times, in bytes per second; nil for no bound.
    package init(rate: UInt64?) { self.init(steps: [Step(minute: 0, rate: rate)]) }

    private init(steps: [Step]) { self.steps = steps }

    /// Reads a rate, or `HH:MM,RATE` parted by blanks; a rate is a size with an optional unit, as in `512k`, or `off`.
    /// Nil when it is neither, when a time comes twice, or when a rate is 0.
    package init?(_ text: String, size: (Substring) -> UInt64?) {
        func rate(_ word: Substring) -> UInt64?? {
            if word == "off" { return .some(nil) }
            guard let size = size(word), size > 0 else { return nil }
            return .some(size)
        }
        if !text.utf8.contains(0x2C) {
            guard let rate = rate(text[...]) else { return nil }
            self.init(rate: rate)
            return
        }
        var steps: [Step] = []
        for entry in text.split(separator: " ") {
            let parts = entry.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count == 2, let minute = Self.minute(parts[0]), let rate = rate(parts[1]),
                !steps.contains(where: { $0.minute == minute }), steps.count < Self.minutesADay
            else { return nil }
            steps.append(Step(minute: minute, rate: rate))
        }
        guard !steps.isEmpty else { return nil }
        self.init(steps: steps.sorted { $0.minute < $1.minute })
    }

    /// The rate at a minute of the local day. What holds at its end holds on after midnight.
    package func rate(atMinute minute: Int) -> UInt64? {
        (steps.last { $0.minute <= minute } ?? steps.last)?.rate
    }

    /// Whether it depends on the time.
    package var changes: Bool { steps.contains { $0.rate != steps.first?.rate } }

    /// `HH:MM`, from 00:00 to 23:59.
    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hour = number(parts[0], below: 24),
            let minute = number(parts[1], below: 60)
        else { return nil }
        return hour * 60 + minute
    }

    private static func number(_ text: Substring, below bound: Int) -> Int? {
        guard text.utf8.count == 2, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(text), number < bound
        else { return nil }
        return number
    }
}
