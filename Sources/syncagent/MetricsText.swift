/// What is told to Prometheus of the last run and of the cache.
struct MetricsText {
    /// Wall seconds.
    var lastRun: Int64
    var lastSuccess: Int64?
    var duration: Double
    var exitCode: Int32
    /// Nil when the ledger could not be read.
    var cache: Cache?
    /// For machines with several caches, whose files one collector reads.
    var profile: String?
    var version: String

    /// What the ledger says.
    struct Cache {
        var entries: [(state: String, count: Int)]
        var copyBytes: UInt64
        var partialBytes: UInt64
        var received: Int64
        var requests: [(code: String, count: Int64)]
        /// Seconds; 0 when nothing waits.
        var oldestPending: Int64
        var mismatches: Int64
    }

    /// In the text format of Prometheus (prometheus.io/docs/instrumenting/exposition_formats): base units, no label per
    /// URL.
    var text: String {
        var text = ""
        func family(
            _ name: String, _ type: String, _ help: String, _ samples: [([(String, String)], String)]
        ) {
            guard !samples.isEmpty else { return }
            text += "# HELP syncagent_\(name) \(help)\n# TYPE syncagent_\(name) \(type)\n"
            for (labels, value) in samples {
                let all = (profile.map { [("profile", $0)] } ?? []) + labels
                let list = all.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
                text += "syncagent_\(name)" + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
            }
        }
        func gauge(_ name: String, _ help: String, _ value: String?) {
            family(name, "gauge", help, value.map { [([], $0)] } ?? [])
        }
        gauge("last_run_timestamp_seconds", "When the last run ended.", "\(lastRun)")
        gauge(
            "last_success_timestamp_seconds", "When the last run ended in which every entry was current.",
            lastSuccess.map { "\($0)" })
        gauge("run_duration_seconds", "How long the last run took.", Self.number(duration))
        gauge("last_exit_code", "What the last run ended with.", "\(exitCode)")
        if let cache {
            family(
                "entries", "gauge", "Entries that the ledger knows, by state.",
                cache.entries.map { ([("state", $0.state)], "\($0.count)") })
            gauge("cache_bytes", "Bytes of the finished files.", "\(cache.copyBytes)")
            gauge("partial_bytes", "Bytes of unfinished files.", "\(cache.partialBytes)")
            gauge(
                "oldest_pending_seconds", "For how long the entry that waits longest has not been current.",
                "\(cache.oldestPending)")
            family(
                "downloaded_bytes_total", "counter", "Body bytes received, over all runs.",
                [([], "\(cache.received)")])
            family(
                "requests_total", "counter", "Requests by the status of their answer, over all runs.",
                cache.requests.map { ([("code", $0.code)], "\($0.count)") })
            family(
                "verify_mismatches_total", "counter",
                "Finished files found to hold other bytes than recorded.",
                [([], "\(cache.mismatches)")])
        }
        family(
            "build_info", "gauge", "The version that ran, as a label.", [([("version", version)], "1")])
        return text
    }

    private static func escaped(_ text: String) -> String {
        text.map { $0 == "\\" ? "\\\\" : $0 == "\"" ? "\\\"" : $0.isNewline ? "\\n" : String($0) }.joined()
    }

    /// With three decimals, and no exponent.
    private static func number(_ value: Double) -> String {
        guard value.isFinite, value > 0, value < 1e15 else { return "0" }
        let thousandths = Int64(value * 1000)
        let rest = thousandths % 1000
        return "\(thousandths / 1000).\(rest < 100 ? "0" : "")\(rest < 10 ? "0" : "")\(rest)"
    }
}
