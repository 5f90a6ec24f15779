/// How many lines a run may print: mail from cron is read when it is short.
///
/// Some lines are kept free for general words (offline, a captive portal, a rebuilt ledger), which may come late
/// and say more than one more failure. What is held back for them is printed at the end if none came.
struct NoticeBudget {
    /// Lines in all, and of these kept for general words.
    let limit: Int
    private let reserve: Int
    private var printed = 0
    private var held: [String] = []
    /// Lines that are not going to be printed.
    private(set) var dropped = 0

    init(limit: Int, reserve: Int = 3) {
        self.limit = limit
        self.reserve = min(reserve, limit)
    }

    /// Whether a line about an entry or a manifest line may be printed now.
    mutating func admits(_ line: String) -> Bool {
        if printed < limit - reserve {
            printed += 1
            return true
        }
        if held.count < reserve { held.append(line) } else { dropped += 1 }
        return false
    }

    /// Whether a general word may be printed now.
    mutating func admitsGeneral() -> Bool {
        guard printed < limit else {
            dropped += 1
            return false
        }
        printed += 1
        return true
    }

    /// The lines that were held back and still fit.
    mutating func rest() -> [String] {
        let fitting = Array(held.prefix(limit - printed))
        dropped += held.count - fitting.count
        printed += fitting.count
        held = []
        return fitting
    }
}
