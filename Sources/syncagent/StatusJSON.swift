internal import Posix
internal import Storage

/// `status --json`; docs/status.schema.json describes it. Fields are added only, never renamed.
struct StatusJSON: Encodable {
    struct States: Encodable {
        let current, partial, pending, failed, deferred: Int
    }

    struct Bytes: Encodable {
        let cached, partial: UInt64
    }

    struct Partial: Encodable {
        let url, file: String
        let done: UInt64
        let total: Nullable<UInt64>
        let percent: Nullable<Double>
    }

    struct Failure: Encodable {
        let url, reason, message: String
        let permanent: Bool
        let since, last_try: String
        let not_before: Nullable<String>
    }

    struct Entry: Encodable {
        let url: String
        let file: Nullable<String>
        let state: String
        let size: Nullable<UInt64>
        let remark: Nullable<String>
        let restarts: Int
    }

    struct Run: Encodable {
        let started: String
        let ended: Nullable<String>
        let exit_code: Nullable<Int32>
        let entries, current, failed, pending: Int
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
            deferred: count(.deferred))
        bytes = Bytes(cached: report.cachedBytes, partial: report.partialBytes)
        partials = report.partials.map { partial in
            Partial(
                url: partial.url, file: partial.file, done: partial.done, total: Nullable(partial.total),
                percent: Nullable(
                    partial.total.map { Double(Formats.hundredths(partial.done, of: $0)) / 100 }))
        }
        failures = report.failures.map { failure in
            let row = failure.row
            return Failure(
                url: failure.url, reason: row.reason, message: row.message, permanent: row.isPermanent,
                since: Formats.time(row.since), last_try: Formats.time(row.lastTry),
                not_before: Nullable(row.notBefore.map(Formats.time)))
        }
        last_run = Nullable(
            report.lastRun.map { run in
                Run(
                    started: Formats.time(run.started), ended: Nullable(run.ended.map(Formats.time)),
                    exit_code: Nullable(run.exitCode), entries: run.entries, current: run.current,
                    failed: run.failed, pending: run.pending, received: run.received)
            })
        urls = report.selected.map { list in
            list.map { entry in
                Entry(
                    url: entry.url, file: Nullable(entry.file),
                    state: entry.file == nil ? "unknown" : entry.standing.rawValue,
                    size: Nullable(entry.size),
                    remark: Nullable(entry.remark), restarts: entry.restarts)
            }
        }
    }
}
