// STUB: what the edge is written against until the real agent is merged; drop this file then.
package import Posix
package import Storage

/// What one `sync` is asked to do.
package struct SyncOptions: Sendable {
    /// Paths; `-` is standard input.
    package var manifests: [String]
    package var cache: String
    /// Transfers at once, in all and to one host; at least 1.
    package var jobs = 8
    package var perHost = 4
    /// Seconds: for one address until the connection (TLS included) stands; for a response head; and the time in
    /// which at least 1 KiB must come.
    package var connectTimeout = 10.0
    package var headTimeout = 30.0
    package var stallTimeout = 30.0
    /// Seconds for the whole run; nil for no bound.
    package var maxTime: Double?
    /// Tries after the first.
    package var retries = 4
    /// Any bad line ends the run before its first transfer.
    package var isStrict = false
    /// Ask for every entry, whatever is fresh or immutable.
    package var refresh = false
    /// For entries whose manifest says nothing.
    package var maxAge: MaxAge?
    /// Ask for remembered failures now.
    package var retryFailed = false
    /// Seconds to wait for another run's lock.
    package var waitLock = 0.0
    /// A file of CA certificates in place of the system's.
    package var caCertificates: String?
    package var acceptCoded = false
    package var acceptHTML = false
    /// Sent to every entry's own origin.
    package var headers: [(name: String, value: String)] = []
    package var userAgent = "syncagent"
    /// Bytes to leave free on the file system; nil: the smaller of 64 MiB and 1 %.
    package var reserve: UInt64?

    package init(manifests: [String], cache: String) {
        self.manifests = manifests
        self.cache = cache
    }
}

/// Something that happened during a run and that the edge may turn into a sentence.
package enum Notice: Sendable {
    /// A bad line, a refused entry or a warning of a manifest.
    case problem(ManifestProblem)
    /// An entry will not be current at the end of this run. The URL is masked.
    case failed(url: String, place: Place?, isPermanent: Bool, reason: String, message: String)
    /// No failure: for the terminal and the log only.
    case remark(url: String, message: String)
    /// Published: bytes of the new file.
    case changed(url: String, bytes: UInt64)
    /// About the run as a whole: offline, a rebuilt ledger.
    case general(String)
}

/// A look at a run in progress.
package struct Snapshot: Sendable {
    /// A file in flight.
    package struct Transfer: Sendable {
        /// Masked.
        package let url: String
        /// Bytes that are there, and the whole size when it is known.
        package let done: UInt64
        package let total: UInt64?
        package let started: Instant

        package init(url: String, done: UInt64, total: UInt64?, started: Instant) {
            self.url = url
            self.done = done
            self.total = total
            self.started = started
        }
    }

    /// Entries read so far, and whether that is all of them.
    package var entries = 0
    package var manifestEnded = false
    package var current = 0
    package var failed = 0
    package var pending = 0
    /// Body bytes.
    package var bytesReceived: UInt64 = 0
    package var transfers: [Transfer] = []

    package init() {}
}

/// How a run ended.
package struct SyncOutcome: Sendable {
    package var exitCode: Int32
    package var entries = 0
    package var current = 0
    package var failed = 0
    package var pending = 0
    package var bytesReceived: UInt64 = 0
    package var requests = 0

    package init(exitCode: Int32) { self.exitCode = exitCode }
}

/// Why a run could not begin, or not go on.
package enum SyncError: Error, Sendable {
    /// 73
    case cacheUnusable(CacheError)
    /// 73 or 74, see the error's kind.
    case ledger(LedgerError)
    /// 74
    case storage(SystemError)
    /// 65 or 66
    case manifest(ManifestError)
    /// 65: with `--strict`, how many lines were bad.
    case badLines(Int)
    /// 75
    case lockHeld(cache: String)
    /// 78: `--cacert` and the like.
    case configuration(String)
}

package final class SyncRun: Sendable {
    private let stop: Stop

    package init(options: SyncOptions, stop: Stop, notice: @escaping @Sendable (Notice) -> Void) {
        self.stop = stop
    }

    package func run() throws(SyncError) -> SyncOutcome { SyncOutcome(exitCode: stop.isRaised ? 75 : 0) }

    package func snapshot() -> Snapshot { Snapshot() }
}
