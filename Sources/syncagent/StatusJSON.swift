internal import Posix
internal import Storage

/// `status --json`; docs/status.schema.json describes it. Fields are added only, never renamed.
struct StatusJSON: Encodable {
    struct States: Encodable {
        let current, partial, pending, failed, deferred, paused: Int
    }

    struct Bytes: Encodable {
        let cached, partial: UInt64
    }

    struct Partial: Encodable {
        let url, file: String
        let done: UInt64
        let total: Nullable<UInt64>
        let percent: Nullable<Double>
        let paused: Bool
    }

    struct Failure: Encodable {
        let url, reason, message: String
        let permanent: Bool
        let since, last_try: String
        let not_before: Nullable<String>
        /// The origin has it no more; an older copy is here.
        let gone, copy: Bool
    }

    struct Entry: Encodable {
        let url: String
        let file: Nullable<String>
        let state: String
        let size: Nullable<UInt64>
        let remark: Nullable<String>
        let gone, paused: Bool
        let received, checked: Nullable<String>
        let fresh: Nullable<Fresh>
        let restarts: Int
    }

    struct Fresh: Encodable {
        let until: Nullable<String>
        let by: String
    }

    struct Pause: Encodable {
        let subject: String
        let pattern, paused: Bool
    }

    struct Run: Encodable {
        let started: String
        let ended: Nullable<String>
        let exit_code: Nullable<Int32>
        let entries, current, failed, pending, paused: Int
        let received: UInt64
    }

    let schema = 1
    let cache: String
    let running: Bool
    let entries: Int
    let states: States
    let bytes: Bytes
    let partials: [Partial]
    let failures: [Failure]
    let pauses: [Pause]
    let last_run: Nullable<Run>
    /// Only when URLs were given.
    let urls: [Entry]?

    init(_ report: StatusReport) {
        cache = report.cache
        running = report.isRunning
        entries = report.entries
        func count(_ standing: StatusReport.Standing) -> Int { report.counts[standing] ?? 0 }
        states = States(
            current: count(.current), partial: count(.partial), pending: count(.pending),
            failed: count(.failed),
            deferred: count(.deferred), paused: count(.paused))
        bytes = Bytes(cached: report.cachedBytes, partial: report.partialBytes)
        partials = report.partials.map { partial in
            Partial(
                url: partial.url, file: partial.file, done: partial.done, total: Nullable(partial.total),
                percent: Nullable(
                    partial.total.map { Double(Formats.hundredths(partial.done, of: $0)) / 100 }),
                paused: partial.isPaused)
        }
        failures = report.failures.map { failure in
            let row = failure.row
            return Failure(
                url: failure.url, reason: row.reason, message: row.message, permanent: row.isPermanent,
                since: Formats.time(row.since), last_try: Formats.time(row.lastTry),
                not_before: Nullable(row.notBefore.map(Formats.time)), gone: failure.isGone,
                copy: failure.hasCopy)
        }
        pauses = report.pauses.map { rule in
            var isPattern = false
            if case .pattern = rule.subject { isPattern = true }
            return Pause(subject: rule.text, pattern: isPattern, paused: rule.isPaused)
        }
        last_run = Nullable(
            report.lastRun.map { run in
                Run(
                    started: Formats.time(run.started), ended: Nullable(run.ended.map(Formats.time)),
                    exit_code: Nullable(run.exitCode), entries: run.entries, current: run.current,
                    failed: run.failed, pending: run.pending, paused: run.paused, received: run.received)
            })
        urls = report.selected.map { list in
            list.map { entry in
                Entry(
                    url: entry.url, file: Nullable(entry.file),
                    state: entry.file == nil ? "unknown" : entry.standing.rawValue,
                    size: Nullable(entry.size),
                    remark: Nullable(entry.remark), gone: entry.isGone, paused: entry.isPaused,
                    received: Nullable(entry.received.map(Formats.time)),
                    checked: Nullable(entry.checked.map(Formats.time)),
                    fresh: Nullable(
                        entry.freshness.map { fresh in
                            Fresh(until: Nullable(fresh.until.map(Formats.time)), by: fresh.word.rawValue)
                        }),
                    restarts: entry.restarts)
            }
        }
    }
}
