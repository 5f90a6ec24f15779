// STUB: what the edge is written against until the real agent is merged; drop this file then.
package import Posix
package import Storage

package struct SyncOptions: Sendable {
    package var manifests: [String]
    package var cache: String
    package var jobs = 8
    package var perHost = 4
    package var connectTimeout = 10.0
    package var headTimeout = 30.0
    package var stallTimeout = 30.0
    package var maxTime: Double?
    package var retries = 4
    package var isStrict = false
    package var refresh = false
    package var maxAge: MaxAge?
    package var retryFailed = false
    package var waitLock: Double = 0
    package var caCertificates: String?
    package var acceptCoded = false
    package var acceptHTML = false
    package var headers: [(name: String, value: String)] = []
    package var userAgent = "syncagent"

    package init(manifests: [String], cache: String) {
        self.manifests = manifests
        self.cache = cache
    }
}

package enum Notice: Sendable {
    case problem(ManifestProblem)
    case failed(url: String, place: Place?, isPermanent: Bool, reason: String, message: String)
    case remark(url: String, message: String)
    case changed(url: String, bytes: UInt64)
    case general(String)
}

package struct Snapshot: Sendable {
    package struct Transfer: Sendable {
        package var url: String
        package var done: UInt64
        package var total: UInt64?
        package var started: Instant

        package init(url: String, done: UInt64, total: UInt64?, started: Instant) {
            self.url = url
            self.done = done
            self.total = total
            self.started = started
        }
    }

    package var entries = 0
    package var manifestEnded = false
    package var current = 0
    package var failed = 0
    package var pending = 0
    package var bytesReceived: UInt64 = 0
    package var bytesKnownTotal: UInt64 = 0
    package var transfers: [Transfer] = []

    package init() {}
}

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

package enum SyncError: Error, Sendable {
    case cacheUnusable(String)
    case ledgerNewer(String)
    case diskFull(String)
    case inputOutput(String)
    case manifestMissing(String)
    case manifestUnusable(String)
    case lockHeld(cache: String)
    case usage(String)
}

package final class SyncRun: Sendable {
    private let stop: Stop

    package init(options: SyncOptions, stop: Stop, notice: @escaping @Sendable (Notice) -> Void) {
        self.stop = stop
    }

    package func run() throws(SyncError) -> SyncOutcome { SyncOutcome(exitCode: stop.isRaised ? 75 : 0) }

    package func snapshot() -> Snapshot { Snapshot() }
}

package struct ManifestProblem: Sendable {
    package let place: Place
    package let isWarning: Bool
    package let message: String

    package init(place: Place, isWarning: Bool, message: String) {
        self.place = place
        self.isWarning = isWarning
        self.message = message
    }
}
