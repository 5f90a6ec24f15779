internal import Posix
internal import Wire

/// A TCP connection that one of the host's addresses accepted.
struct Dialed: ~Copyable {
    let socket: Descriptor
    let address: Address
    /// When the time of this address is over, what comes after TCP included.
    let deadline: Instant
}

/// Seconds between two attempts, the earlier one undecided (RFC 8305 5 and 8).
private let attemptDelay = 0.25

/// Connects to whichever address of a host accepts first (RFC 8305): a new attempt begins when the one
/// before has failed, or is undecided after `attemptDelay`; each address has `network.connectTimeout` seconds.
///
/// - Parameter subject: who that is, for errors.
func dial(
    _ origin: Origin, called subject: String, using network: Network, until limit: Instant
) throws(TransportError) -> Dialed {
    let addresses = try network.resolver.addresses(
        host: origin.bareHost, port: origin.port,
        deadline: min(limit, Instant.now.advanced(bySeconds: network.connectTimeout)), stop: network.stop)
    do {
        return try race(addresses, subject: subject, network, until: limit)
    } catch {
        // They may be another network's, or those of a host that has moved.
        network.resolver.forget(host: origin.bareHost)
        throw error
    }
}

private func race(
    _ addresses: [Address], subject: String, _ network: Network, until limit: Instant
) throws(TransportError) -> Dialed {
    var waiting = addresses[...]
    var attempts: [Attempt] = []
    var worst = TransportError.Cause.timedOut
    var worstRank = -1
    var nextBeginning = Instant.now

    func note(_ cause: TransportError.Cause) {
        let rank = tellingRank(cause)
        if rank > worstRank { (worst, worstRank) = (cause, rank) }
        // Nothing to wait for: the next address is tried at once (RFC 8305 5).
        nextBeginning = .now
    }

    while true {
        let now = Instant.now
        if now >= limit { throw TransportError(.connect, subject, .timedOut) }
        if let address = waiting.first, attempts.isEmpty || now >= nextBeginning {
            waiting.removeFirst()
            nextBeginning = now.advanced(bySeconds: attemptDelay)
            do throws(SystemError) {
                let attempt = Attempt(
                    try Descriptor.socket(for: address), to: address,
                    deadline: min(limit, now.advanced(bySeconds: network.connectTimeout)))
                if try attempt.begin(), let dialed = attempt.take() { return dialed }
                attempts.append(attempt)
            } catch {
                note(.system(error))
            }
            continue
        }
        if attempts.isEmpty { throw TransportError(.connect, subject, worst) }

        var wake = attempts.reduce(limit) { min($0, $1.deadline) }
        if !waiting.isEmpty { wake = min(wake, nextBeginning) }
        let readiness: Readinesses
        do throws(SystemError) {
            readiness = try waitForAny(attempts.map(\.number), .write, until: wake, stop: network.stop)
        } catch {
            throw TransportError(.connect, subject, .system(error))
        }
        switch readiness {
        case .stopped:
            throw TransportError(.connect, subject, .stopped)
        case .ready(let places):
            var failed: [Int] = []
            for place in places {
                if let error = attempts[place].error() {
                    note(.system(error))
                    failed.append(place)
                } else if let dialed = attempts[place].take() {
                    return dialed
                }
            }
            for place in failed.reversed() { attempts.remove(at: place) }
        case .timedOut:
            let now = Instant.now
            let before = attempts.count
            attempts.removeAll { $0.deadline <= now }
            if attempts.count < before { note(.timedOut) }
        }
    }
}

/// Which of several failures says most about the host: an answer beats silence, silence beats no way there.
private func tellingRank(_ cause: TransportError.Cause) -> Int {
    switch cause {
    case .system(let error):
        if error.isFamilyMissing { return 0 }
        if error.isUnreachable { return 1 }
        return error.isTimeout ? 2 : 3
    case .timedOut:
        return 2
    case .stopped, .unknownHost, .noNameService, .closed, .unexpectedEOF, .tls, .malformed, .badHost,
        .tooManyInterim, .refused:
        return 3
    }
}

/// One connect(2) under way. A class, since arrays hold no `~Copyable` values; the socket closes with it.
private final class Attempt {
    private var socket: Descriptor?
    private let address: Address
    let deadline: Instant
    /// To poll; valid as long as the socket was not taken.
    let number: Int32

    init(_ socket: consuming Descriptor, to address: Address, deadline: Instant) {
        number = socket.number
        self.socket = consume socket
        self.address = address
        self.deadline = deadline
    }

    /// True when it is connected already.
    func begin() throws(SystemError) -> Bool { try socket?.connect(to: address) ?? false }

    /// How it was decided; nil when it is connected.
    func error() -> SystemError? {
        do throws(SystemError) {
            guard let code = try socket?.pendingError(), code != 0 else { return nil }
            return SystemError("connect", address.description, code: code)
        } catch {
            return error
        }
    }

    func take() -> Dialed? {
        guard let socket = socket.take() else { return nil }
        return Dialed(socket: socket, address: address, deadline: deadline)
    }
}
