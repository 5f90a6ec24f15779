/// What a failed connection says about the network.
package enum ConnectFailure: Hashable, Sendable {
    /// No route to the host, or the network is down.
    case noRoute
    /// No name service answered.
    case noNameService
    /// The name does not exist.
    case unknownHost
    /// Nobody answered in time.
    case silent
    /// Somebody refused or reset: the network works.
    case refused
}

/// Judges from the order of connects whether a host, or the whole network, is worth asking.
package struct NetworkHealth: Sendable {
    /// Failed connects in a row after which a host is left for the run.
    package static let hostLimit = 3
    /// Different hosts unreachable in a row after which the run is offline.
    package static let hostsLimit = 3

    private var failures: [String: (count: Int, last: Int64)] = [:]
    private var unreachable: Set<String> = []
    private var nameless = 0
    package private(set) var isOffline = false

    package init() {}

    package mutating func connected(host: String) {
        failures[host] = nil
        unreachable = []
        nameless = 0
    }

    /// Counts a failed connect.
    ///
    /// Several workers that ran into the same hole at once are one failure: an attempt counts when it began after
    /// the last one that counted had ended.
    ///
    /// - Parameters: times on one monotonic clock, in nanoseconds.
    package mutating func failed(host: String, _ failure: ConnectFailure, began: Int64, ended: Int64) {
        let before = failures[host] ?? (0, .min)
        if began >= before.last { failures[host] = (before.count + 1, ended) }
        switch failure {
        case .noRoute, .silent:
            unreachable.insert(host)
        case .noNameService:
            unreachable.insert(host)
            nameless += 1
        case .unknownHost:
            // Somebody looked the name up.
            nameless = 0
        case .refused:
            unreachable = []
        }
        if failure == .noRoute && unreachable.count >= 2 || unreachable.count >= Self.hostsLimit
            || nameless >= 2
        {
            isOffline = true
        }
    }

    /// The host failed so often in a row that its entries wait for another run.
    package func isLeft(host: String) -> Bool { (failures[host]?.count ?? 0) >= Self.hostLimit }
}
