internal import Agent
internal import Posix
internal import Testing

@testable import syncagent

private func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

private func snapshot(
    entries: Int = 10, ended: Bool = true, current: Int = 3, failed: Int = 1, received: UInt64 = 5 << 20,
    transfers: [Snapshot.Transfer] = []
) -> Snapshot {
    var snapshot = Snapshot()
    snapshot.entries = entries
    snapshot.manifestEnded = ended
    snapshot.current = current
    snapshot.failed = failed
    snapshot.pending = entries - current - failed
    snapshot.bytesReceived = received
    snapshot.transfers = transfers
    return snapshot
}

private func transfer(
    _ name: String, done: UInt64, total: UInt64?, started: Double = 0
) -> Snapshot.Transfer {
    Snapshot.Transfer(url: "https://example.org/" + name, done: done, total: total, started: instant(started))
}

/// A terminal's screen, as far as the progress uses one: it wraps, goes up and clears.
private struct Screen {
    let columns: Int
    var rows: [String] = [""]
    var row = 0
    var column = 0

    init(columns: Int) { self.columns = columns }

    mutating func write(_ text: String) {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n":
                row += 1
                column = 0
                if row == rows.count { rows.append("") }
            case "\u{1b}":
                let code = rest.prefix { !"AJ".unicodeScalars.contains($0) }
                rest = rest.dropFirst(code.count)
                let verb = rest.popFirst()
                if verb == "A" {
                    row = max(0, row - (Int(String(String.UnicodeScalarView(code.dropFirst()))) ?? 1))
                } else {
                    rows = Array(rows.prefix(row)) + [String(rows[row].prefix(column))]
                }
            default:
                if column == columns {
                    row += 1
                    column = 0
                    if row == rows.count { rows.append("") }
                }
                var cells = Array(rows[row])
                while cells.count <= column { cells.append(" ") }
                cells[column] = Character(scalar)
                rows[row] = String(cells)
                column += 1
            }
        }
    }

    var visible: [String] { rows.filter { $0.contains { $0 != " " } } }
}

@Suite("Progress")
struct EdgeProgressTests {
    @Test("the run's line tells files, bytes, rate, time left and failures") func runLine() {
        let pace = Pace(bytesPerSecond: 1_048_576)
        let all = snapshot(
            entries: 5, transfers: [transfer("a", done: 10 << 20, total: 40 << 20)])
        #expect(
            ProgressText.run(all, pace: pace, columns: 100)
                == "4/5 files  5.0 MiB  1.0 MiB/s  30s left  1 failed")
        let open = snapshot(ended: false)
        #expect(ProgressText.run(open, pace: Pace(), columns: 100) == "4/10+ files  5.0 MiB  1 failed")
        let many = Pace(bytesPerSecond: 0, filesPerSecond: 2)
        #expect(ProgressText.run(snapshot(failed: 0), pace: many, columns: 100).hasSuffix("0 B/s  ~3s left"))
    }

    @Test("no time is told that cannot be known") func noTime() {
        let stalled = snapshot(entries: 5, transfers: [transfer("a", done: 1, total: 1 << 40)])
        #expect(!ProgressText.run(stalled, pace: Pace(bytesPerSecond: 0), columns: 100).contains("left"))
        let unknown = snapshot(entries: 5, transfers: [transfer("a", done: 1, total: nil)])
        #expect(!ProgressText.run(unknown, pace: Pace(bytesPerSecond: 9), columns: 100).contains("left"))
    }

    @Test("sizes that a server made up do not add up to a trap") func hugeSizes() {
        let huge = snapshot(
            entries: 6,
            transfers: [transfer("a", done: .max, total: .max), transfer("b", done: .max, total: .max)])
        for columns in [1, 20, 80] {
            for line in ProgressText.lines(huge, pace: Pace(bytesPerSecond: 1e300), columns: columns) {
                #expect(DisplayText.width(line) <= columns)
            }
        }
    }

    @Test("a file's line has its share, its size and its URL") func transferLine() {
        #expect(
            ProgressText.transfer(transfer("big.iso", done: 10 << 20, total: 40 << 20), columns: 60)
                == "   25.00 %    40.0 MiB  https://example.org/big.iso")
        #expect(
            ProgressText.transfer(transfer("x", done: 1024, total: nil), columns: 60)
                .hasSuffix("1.0 KiB  https://example.org/x"))
    }

    @Test("no line is wider than the terminal, at any width") func anyWidth() {
        let busy = snapshot(
            transfers: (0..<20).map { transfer("日本語/\($0)", done: 5, total: $0 % 2 == 0 ? 7 : nil) })
        for columns in 1...120 {
            let lines = ProgressText.lines(
                busy, pace: Pace(bytesPerSecond: 5e6, filesPerSecond: 1), columns: columns)
            #expect(lines.count <= ProgressText.transferLimit + 2)
            for line in lines { #expect(DisplayText.width(line) <= columns, "\(columns): \(line)") }
        }
    }

    @Test("the longest under way stand first, and many are counted") func order() {
        let many = snapshot(
            transfers: (0..<15).map { transfer("\($0)", done: 0, total: 1, started: Double(15 - $0)) })
        let lines = ProgressText.lines(many, pace: Pace(), columns: 80)
        #expect(lines[0].hasSuffix("/14"))
        #expect(lines[ProgressText.transferLimit] == "  and 3 more")
    }

    @Test("draws at most ten times a second") func often() {
        var painter = ProgressPainter(.escapes)
        var drawn = 0
        for step in 0..<1000
        where painter.draw(snapshot(), columns: 80, now: instant(Double(step) / 1000)) != nil {
            drawn += 1
        }
        #expect(drawn == 10)
    }

    @Test("leaves nothing behind on the screen", arguments: [20, 40, 80, 200])
    func clears(columns: Int) {
        for means in [ProgressPainter.Means.escapes, .carriageReturn] {
            var painter = ProgressPainter(means)
            var screen = Screen(columns: columns)
            screen.write("$ syncagent sync list\n")
            let before = screen.visible
            for step in 0..<6 {
                let busy = snapshot(
                    received: UInt64(step) << 22,
                    transfers: (0..<(step % 4)).map { transfer("file\($0)", done: 1, total: 2) })
                screen.write(painter.draw(busy, columns: columns, now: instant(Double(step))) ?? "")
                #expect(screen.visible.count <= before.count + step % 4 + 1)
            }
            screen.write(painter.clear() ?? "")
            #expect(screen.visible == before)
            #expect(painter.clear() == nil)
        }
    }

    @Test("sends no escape codes where none are wanted") func plain() {
        for means in [ProgressPainter.Means.carriageReturn, .lines] {
            var painter = ProgressPainter(means)
            var text = painter.draw(snapshot(), columns: 40, now: instant(0)) ?? ""
            text += painter.draw(snapshot(), columns: 40, now: instant(5)) ?? ""
            text += painter.clear() ?? ""
            #expect(text.contains("files"))
            #expect(!text.contains("\u{1b}"))
        }
    }
}

@Suite("Rates")
struct EdgeRateTests {
    @Test("come from the last seconds, and fall to nothing in a stall") func stall() {
        var meter = RateMeter()
        #expect(meter.rate(bytes: 0, now: instant(0)) == nil)
        #expect(meter.rate(bytes: 10, now: instant(0.1)) == nil)
        for step in 1...40 { _ = meter.rate(bytes: UInt64(step * 1000), now: instant(Double(step) / 4)) }
        let steady = meter.rate(bytes: 40_000, now: instant(10))
        #expect(steady.map { $0 > 3900 && $0 < 4100 } == true)
        for step in 41...70 { _ = meter.rate(bytes: 40_000, now: instant(Double(step) / 4)) }
        #expect(meter.rate(bytes: 40_000, now: instant(17.6)) == 0)
    }

    @Test("survive a count that shrinks and a clock that stands") func odd() {
        var meter = RateMeter()
        _ = meter.rate(bytes: 100, now: instant(1))
        #expect(meter.rate(bytes: 50, now: instant(2)) == nil)
        #expect(meter.rate(bytes: 200, now: instant(1)) == nil)
    }
}
