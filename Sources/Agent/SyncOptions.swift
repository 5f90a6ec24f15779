package import Reconcile
package import Storage
package import Wire

/// What one `sync` is asked to do.
package struct SyncOptions: Sendable {
    /// Paths; `-` is standard input.
    package var manifests: [String]
    package var cache: String
    /// The ledger's folder; nil for the one in the cache.
    package var state: String?
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
    /// PEM files of our own certificate and its key, for servers that ask for one.
    package var certificate: String?
    package var certificateKey: String?
    package var proxies = ProxyRules()
    /// Users and passwords for entries that bring none of their own.
    package var netrc: Netrc?
    package var acceptCoded = false
    package var acceptHTML = false
    /// Sent to every entry's own origin.
    package var headers: [(name: String, value: String)] = []
    package var userAgent = "syncagent"
    /// Only these entries of the manifests; nil for all. Then nothing is learnt of what the manifests ask for.
    package var only: Set<Key>?
    /// Bytes to leave free on the file system; nil: the smaller of 64 MiB and 1 %.
    package var reserve: UInt64?

    /// Bytes per second that the run receives, by the time of the day; nil for no bound.
    package var limitRate: RateTimetable?
    /// Body bytes that the run receives at most; then it ends as at a signal.
    package var maxBytes: UInt64?
    /// Small files first, by the manifest's size or the ledger's; needs all manifests before the first transfer.
    package var smallestFirst = false

    package init(manifests: [String], cache: String) {
        self.manifests = manifests
        self.cache = cache
    }
}
