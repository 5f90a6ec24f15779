internal import Agent
internal import Posix
internal import Storage
internal import Testing

@testable import syncagent

/// What a reporter wrote.
private final class Sink: Sendable {
    private let text = Monitor("")
    func write(_ more: String) { text.withLock { $0 += more } }
    var lines: [String] { text.withLock { $0.split(separator: "\n").map(String.init) } }
}

private func failed(_ index: Int) -> Notice {
    .failed(
        url: "https://example.org/\(index)", place: Place(manifest: "list", line: index), isPermanent: true,
        reason: "404", message: "404 Not Found")
}

private func outcome(_ code: Int32, entries: Int = 100, current: Int = 0, failed: Int = 0, pending: Int = 0)
    -> SyncOutcome
{
    var outcome = SyncOutcome(exitCode: code)
    outcome.entries = entries
    outcome.current = current
    outcome.failed = failed
    outcome.pending = pending
    return outcome
}

@Suite("What a run prints")
struct EdgeReporterTests {
    private func report(
        terminal: Bool = false, quiet: Bool = false, _ notices: [Notice], _ outcome: SyncOutcome,
        signal: String? = nil
    ) -> [String] {
        let sink = Sink()
        let reporter = Reporter(
            Reporter.Manner(isTerminal: terminal, isQuiet: quiet, painter: nil), write: sink.write)
        for notice in notices { reporter.take(notice) }
        reporter.finish(outcome, signal: signal, seconds: 12)
        return sink.lines
    }

    @Test("nothing off a terminal when all is well") func silence() {
        let notices: [Notice] = [
            .changed(url: "https://example.org/a", bytes: 5),
            .remark(url: "https://example.org/a", message: "the server ignored Range"),
        ]
        #expect(report(notices, outcome(0, entries: 1, current: 1)).isEmpty)
        #expect(report(terminal: true, quiet: true, notices, outcome(0, entries: 1, current: 1)).isEmpty)
    }

    @Test("a warning is told on a terminal, and when the run fails") func warning() {
        let notices: [Notice] = [.warning("the ledger is on NFS")]
        #expect(report(notices, outcome(0, entries: 1, current: 1)).isEmpty)
        let terminal = report(terminal: true, notices, outcome(1, entries: 1, failed: 1))
        #expect(terminal.count { $0.contains("NFS") } == 1)
        let mail = report(notices + (0..<50).map(failed), outcome(1, failed: 50))
        #expect(mail.count { $0.contains("NFS") } == 1)
        #expect(mail.count <= 21)
    }

    @Test("remarks and one summary on a terminal when all is well") func terminal() {
        let notices: [Notice] = [
            .changed(url: "https://example.org/a", bytes: 5),
            .remark(url: "https://example.org/a", message: "the server ignored Range"),
        ]
        #expect(
            report(terminal: true, notices, outcome(0, entries: 1, current: 1)) == [
                "syncagent: https://example.org/a: the server ignored Range",
                "syncagent: 1 entry current, 1 fetched, 0 B received in 12s",
            ])
    }

    @Test("at most twenty lines, then a count", arguments: [1, 16, 17, 18, 19, 20, 21, 22, 1000])
    func bounded(count: Int) throws {
        let lines = report((1...count).map(failed), outcome(1, entries: count, failed: count))
        #expect(lines.count == min(count, 20) + 1)
        let last = try #require(lines.last)
        #expect(last.contains("\(count) failed; syncagent status tells why"))
        #expect(last.contains("more of these") == (count > 20))
        if count > 20 { #expect(last.contains("\(count - 20) more of these")) }
        #expect(lines[0] == "syncagent: list:1: https://example.org/1: 404 Not Found")
    }

    @Test("a general word is told however many failures came before it") func general() {
        let lines = report(
            (1...50).map(failed) + [.general("no route to any host")], outcome(75, failed: 50, pending: 50))
        #expect(lines.contains("syncagent: no route to any host"))
        #expect(lines.count == 21)
    }

    @Test("a signal is named, and the next step") func signal() {
        #expect(
            report([], outcome(75, current: 40, pending: 60), signal: "SIGTERM") == [
                "syncagent: stopped by SIGTERM: 40 of 100 entries current, 60 pending; run again to go on"
            ])
    }

    @Test("what is left after failures is to be gone on with") func pendingAfterFailures() {
        #expect(
            report([], outcome(1, current: 97, failed: 1, pending: 2)) == [
                "syncagent: 97 of 100 entries current, 1 failed, 2 pending; run again to go on, syncagent status tells why"
            ])
    }

    @Test("bad lines are told with their place, and counted") func badLines() {
        let place = Place(manifest: "-", line: 7)
        let lines = report(
            [
                .problem(ManifestProblem(.badLine, at: place, "no scheme")),
                .problem(ManifestProblem(.warning, at: place, "unknown option")),
            ],
            outcome(1, entries: 2, current: 2))
        #expect(
            lines == [
                "syncagent: standard input:7: no scheme",
                "syncagent: standard input:7: warning: unknown option",
                "syncagent: 2 of 2 entries current, 1 bad line",
            ])
    }

    @Test("a server's words cannot steer the terminal") func steering() {
        let lines = report(
            [
                .failed(
                    url: "u", place: nil, isPermanent: true, reason: "x",
                    message: "500 \u{1b}]0;owned\u{7}\r\nx")
            ],
            outcome(1, failed: 1))
        #expect(lines.first == "syncagent: u: 500 \\u{1b}]0;owned\\u{7}\\u{d}\\u{a}x")
    }

    @Test("why there was no run is the last line") func error() {
        let sink = Sink()
        let reporter = Reporter(
            Reporter.Manner(isTerminal: false, isQuiet: false, painter: nil), write: sink.write)
        reporter.finish(CommandError(.cannotCreate, "cannot use c: is a file"))
        #expect(sink.lines == ["syncagent: cannot use c: is a file"])
    }
}
