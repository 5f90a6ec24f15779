package import Posix
package import Storage

/// Something that happened during a run and that the edge may turn into a sentence.
package enum Notice: Sendable {
    /// The cache is ours, and the run begins.
    case began
    /// A bad line, a refused entry or a warning of a manifest.
    case problem(ManifestProblem)
    /// An entry will not be current at the end of this run. The URL is masked.
    case failed(url: String, place: Place?, isPermanent: Bool, reason: String, message: String)
    /// No failure: for the terminal and the log only.
    case remark(url: String, message: String)
    /// Published: bytes of the new file.
    case changed(url: String, bytes: UInt64)
    /// The run may go well, but something should be done about this: for the terminal, and for a run that fails.
    case warning(String)
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
    package var paused = 0
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
    package var paused = 0
    package var bytesReceived: UInt64 = 0
    package var requests = 0
    /// The manifests were read to their end.
    package var isWhole = true
    /// The network was gone, at the end at least.
    package var isOffline = false

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
    /// 78: `--cacert`, `--cert` and the like.
    case configuration(String)
}
