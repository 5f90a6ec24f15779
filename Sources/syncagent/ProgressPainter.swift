internal import Agent
internal import Posix

/// Draws the progress over what it drew before.
struct ProgressPainter {
    /// What the other end can show.
    enum Means {
        /// A terminal that takes escape codes: several lines, drawn in place.
        case escapes
        /// A terminal without them: one line, drawn in place by a carriage return and blanks.
        case carriageReturn
        /// No terminal: a line now and then.
        case lines
    }

    /// Seconds between two drawings.
    var interval: Double {
        switch means {
        case .escapes, .carriageReturn: 0.1
        case .lines: 1
        }
    }

    private let means: Means
    private var clock = PaceClock()
    /// The widths of the lines that stand on the screen.
    private var drawn: [Int] = []
    private var columns = 80
    private var last: Instant?

    init(_ means: Means) { self.means = means }

    /// The bytes that bring the screen up to date; nil when it is too soon.
    mutating func draw(_ snapshot: Snapshot, columns: Int, now: Instant) -> String? {
        if let last, now.seconds(since: last) < interval { return nil }
        last = now
        let pace = clock.pace(
            bytes: snapshot.bytesReceived, files: snapshot.current + snapshot.failed, now: now)
        // A terminal wraps when its last column is written, so that one stays free.
        let room = max(1, columns - 1)
        let before = clear(columns: columns) ?? ""
        self.columns = columns
        switch means {
        case .lines: return ProgressText.run(snapshot, pace: pace, columns: 200) + "\n"
        case .carriageReturn:
            let line = ProgressText.run(snapshot, pace: pace, columns: room)
            drawn = [DisplayText.width(line)]
            return before + line
        case .escapes:
            let lines = ProgressText.lines(snapshot, pace: pace, columns: room)
            drawn = lines.map(DisplayText.width)
            return before + lines.joined(separator: "\n")
        }
    }

    /// The bytes that take the progress off the screen; nil when there is none on it.
    mutating func clear() -> String? { clear(columns: columns) }

    private mutating func clear(columns: Int) -> String? {
        guard let width = drawn.last else { return nil }
        defer { drawn = [] }
        switch means {
        case .lines: return nil
        case .carriageReturn: return "\r" + String(repeating: " ", count: min(width, columns - 1)) + "\r"
        case .escapes:
            // A terminal that became narrower has broken our lines into several rows each.
            let rows = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
            return "\r" + (rows > 1 ? "\u{1b}[\(rows - 1)A" : "") + "\u{1b}[J"
        }
    }
}
