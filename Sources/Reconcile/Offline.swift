/// What a failed connection says about the network.
package enum ConnectFailure: Hashable, Sendable {
    /// No route to anybody: the network is down.
    case noRoute
    /// No route to this host, for instance to one that has only IPv6, though there is one to others.
    case noRouteToHost
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
    private var hasConnected = false
    private var hasFoundNoWay = false
    package private(set) var isOffline = false
    /// Nobody was reached, and the last failure was our own network's, so that a run that ends with this was offline
    /// although it asked all that there was to ask.
    package var foundNobody: Bool { hasFoundNoWay && !hasConnected }

    package init() {}

    package mutating func connected(host: String) {
        hasConnected = true
        failures[host] = nil
        unreachable = []
        nameless = 0
    }

    /// Counts a failed connect.
    ///
    /// Several workers that ran into the same hole at once are one failure: an attempt counts when it began after
    /// the last one that counted had ended.
    ///
    /// - Parameters:
    ///   - began: on one monotonic clock, in nanoseconds, as is `ended`.
    ///   - isAlive: something came from any host meanwhile, over a connection of before.
    package mutating func failed(
        host: String, _ failure: ConnectFailure, began: Int64, ended: Int64, isAlive: Bool = false
    ) {
        let before = failures[host] ?? (0, .min)
        if began >= before.last { failures[host] = (before.count + 1, ended) }
        hasFoundNoWay = failure == .noRoute || failure == .noNameService
        if isAlive { unreachable = [] }
        switch failure {
        case .noRoute, .silent:
            if !isAlive { unreachable.insert(host) }
        case .noNameService:
            unreachable.insert(host)
            nameless += 1
        case .unknownHost:
            // Somebody looked the name up.
            nameless = 0
        case .refused:
            unreachable = []
        case .noRouteToHost:
            break
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
