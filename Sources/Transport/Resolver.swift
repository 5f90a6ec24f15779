package import Posix

/// Turns host names into addresses, for all workers of a run.
///
/// The system's resolver can neither be stopped nor given a deadline, so it is asked on threads of its own that
/// a caller leaves behind when it cannot wait any longer. Look-ups of one name are made once for all who ask.
package final class Resolver: Sendable {
    /// Threads that may hang in the system's resolver at once.
    package static let maximumThreads = 16
    /// Names that may wait for such a thread.
    static let maximumQueue = 1024
    /// Names that are remembered.
    static let maximumCache = 1024
    /// Seconds that an address list is used; the system's resolver does not tell the TTL of the records.
    static let positiveLifetime = 60.0
    /// Seconds that a failure is believed.
    static let negativeLifetime = 2.0
    /// Addresses of one host that are tried.
    static let maximumAddresses = 20

    private struct Remembered {
        let answer: NameAnswer
        let expiry: Instant
    }

    private struct State {
        var cache: [String: Remembered] = [:]
        var pending: [String: Lookup] = [:]
        /// Callers per pending name.
        var waiters: [String: Int] = [:]
        var queue: [String] = []
        var threads = 0
    }

    private let state = Monitor(State())
    private let ask: @Sendable (String) -> NameAnswer

    package init() { ask = { askNameService($0) } }

    /// For tests: another name service.
    init(asking ask: @escaping @Sendable (String) -> NameAnswer) { self.ask = ask }

    /// The addresses of a host (a name in ASCII or a literal without brackets), families taking turns; never
    /// empty. Waits at most until the deadline. Throws `.unknownHost`, `.noNameService`, `.timedOut`, `.stopped`.
    package func addresses(
        host: String, port: UInt16, deadline: Instant, stop: Stop
    ) throws(TransportError) -> [Address] {
        if let literal = Address(literal: host, port: port) { return [literal] }
        let subject = "\(host):\(port)"
        guard Self.canBeName(host) else { throw TransportError(.resolve, subject, .unknownHost) }
        switch try answer(for: host.lowercased(), subject: subject, deadline: deadline, stop: stop) {
        case .addresses(let found):
            return interleaved(found).prefix(Self.maximumAddresses).map { $0.with(port: port) }
        case .unknown:
            throw TransportError(.resolve, subject, .unknownHost)
        case .noService(let words):
            throw TransportError(.resolve, subject, .noNameService(words))
        }
    }

    /// Drops what is remembered of a host: its addresses no longer answer.
    package func forget(host: String) {
        state.withLock { _ = $0.cache.removeValue(forKey: host.lowercased()) }
    }

    /// Lengths that DNS allows (RFC 1035 2.3.4). The rest is not worth a question, and some name services take
    /// it for a fault of theirs.
    private static func canBeName(_ host: String) -> Bool {
        let name = host.hasSuffix(".") ? host.dropLast() : host[...]
        return !name.isEmpty && name.utf8.count <= 253 && !name.utf8.contains(0)
            && name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
                (1...63).contains($0.utf8.count)
            }
    }

    private func answer(
        for name: String, subject: String, deadline: Instant, stop: Stop
    ) throws(TransportError) -> NameAnswer {
        let readiness: Readinesses
        let lookup: Lookup
        do throws(SystemError) {
            switch try begin(name) {
            case .known(let answer): return answer
            case .pending(let pending): lookup = pending
            }
            defer { leave(name, lookup) }
            readiness = try waitForAny([lookup.done.number], .read, until: deadline, stop: stop)
        } catch {
            throw TransportError(.resolve, subject, .system(error))
        }
        switch readiness {
        case .ready: return lookup.answer.withLock { $0 } ?? .noService("no answer")
        case .timedOut: throw TransportError(.resolve, subject, .timedOut)
        case .stopped: throw TransportError(.resolve, subject, .stopped)
        }
    }

    private enum Beginning {
        case known(NameAnswer)
        case pending(Lookup)
    }

    /// Finds the answer or the look-up under way, or begins one.
    private func begin(_ name: String) throws(SystemError) -> Beginning {
        let (beginning, startsThread) = try state.withLock { state throws(SystemError) -> (Beginning, Bool) in
            if let remembered = state.cache[name], Instant.now < remembered.expiry {
                return (.known(remembered.answer), false)
            }
            if let lookup = state.pending[name] {
                state.waiters[name, default: 0] += 1
                return (.pending(lookup), false)
            }
            if state.threads >= Self.maximumThreads && state.queue.count >= Self.maximumQueue {
                return (.known(.noService("too many look-ups are waiting")), false)
            }
            let fresh = Lookup(done: try Stop())
            state.pending[name] = fresh
            state.waiters[name] = 1
            if state.threads >= Self.maximumThreads {
                state.queue.append(name)
                return (.pending(fresh), false)
            }
            state.threads += 1
            return (.pending(fresh), true)
        }
        if startsThread { startThread(name) }
        return beginning
    }

    private func startThread(_ name: String) {
        do throws(SystemError) {
            try WorkerThread(name: "resolver") { [self] in
                var next: String? = name
                while let name = next { next = finish(name, with: ask(name)) }
            }.detach()
        } catch {
            var next: String? = name
            while let name = next { next = finish(name, with: .noService(error.reason)) }
        }
    }

    /// Hands the answer to all who wait; returns the next name to ask for, nil when the thread may end.
    private func finish(_ name: String, with answer: NameAnswer) -> String? {
        state.withLock { state in
            if state.cache.count >= Self.maximumCache { state.cache.removeAll(keepingCapacity: true) }
            let lifetime =
                switch answer {
                case .addresses: Self.positiveLifetime
                case .unknown, .noService: Self.negativeLifetime
                }
            state.cache[name] = Remembered(answer: answer, expiry: Instant.now.advanced(bySeconds: lifetime))
            if let lookup = state.pending.removeValue(forKey: name) {
                lookup.answer.withLock { $0 = answer }
                lookup.done.raise()
            }
            state.waiters[name] = nil
            if state.queue.isEmpty {
                state.threads -= 1
                return nil
            }
            return state.queue.removeFirst()
        }
    }

    /// One caller less waits; a name that nobody waits for any more leaves the queue.
    private func leave(_ name: String, _ lookup: Lookup) {
        state.withLock { state in
            guard state.pending[name] === lookup, let waiters = state.waiters[name] else { return }
            state.waiters[name] = waiters - 1
            if waiters == 1, let place = state.queue.firstIndex(of: name) {
                state.queue.remove(at: place)
                state.pending[name] = nil
                state.waiters[name] = nil
            }
        }
    }

    private final class Lookup: Sendable {
        /// Raised once the answer is there.
        let done: Stop
        let answer = Monitor<NameAnswer?>(nil)
        init(done: Stop) { self.done = done }
    }
}

/// Addresses in the order given but with the families taking turns, beginning with the first one's (RFC 8305 4).
package func interleaved(_ addresses: [Address]) -> [Address] {
    guard let first = addresses.first else { return [] }
    let same = addresses.filter { $0.family == first.family }
    let other = addresses.filter { $0.family != first.family }
    var order: [Address] = []
    for place in 0..<max(same.count, other.count) {
        if place < same.count { order.append(same[place]) }
        if place < other.count { order.append(other[place]) }
    }
    return order
}
