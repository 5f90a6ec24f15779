import Posix
import Reconcile
import Wire

/// Who works on what: the queues of one run, behind one lock.
///
/// Jobs wait in a queue per origin, so that one that is paused holds up no other on its host; the bound on transfers at
/// once is the host's. A worker prefers the origin that it is connected to, so that a manifest that
/// alternates between hosts does not reconnect for each file. Retries wait in a list by their time. The number
/// of jobs held is bounded; who offers more waits.
final class Scheduler: Sendable {
    /// Jobs that may wait at once.
    static let capacity = 1024
    /// Jobs that may wait when workers have nothing to do: then all that wait are of hosts that are not asked at present,
    /// and others may come behind them.
    static let starvedCapacity = 16_384

    private let state: Monitor<State>
    private let perHost: Int
    private let stop: Stop

    init(perHost: Int, stop: Stop) {
        self.perHost = perHost
        self.stop = stop
        state = Monitor(State())
    }

    fileprivate struct State {
        var queues: [Origin: Queue] = [:]
        /// Origins that have a job, in turn.
        var turn: [Origin] = []
        var nextTurn = 0
        var delayed: [(due: Instant, job: Job)] = []
        var waiting = 0
        var active: [String: Int] = [:]
        var activeCount = 0
        var inputEnded = false
        var isClosed = false
        /// Workers that wait for a job, and whether the feeder waits for room.
        var idle = 0
        var isOffering = false
        var pauses: [Origin: Instant] = [:]
        var blocked: [Origin: Int64] = [:]
        var health = NetworkHealth()
        /// Hosts that the run before could not reach.
        var doubtful: Set<String> = []
    }

    /// A first-in-first-out queue; taken places are given back in bulk.
    fileprivate struct Queue {
        private var jobs: [Job?] = []
        private var head = 0

        var isEmpty: Bool { head == jobs.count }

        mutating func append(_ job: Job) { jobs.append(job) }

        mutating func popFirst() -> Job? {
            guard !isEmpty else { return nil }
            let job = jobs[head]
            jobs[head] = nil
            head += 1
            if head == jobs.count || head > 512 && head * 2 > jobs.count {
                jobs.removeFirst(head)
                head = 0
            }
            return job
        }
    }

    /// Hands a job in; waits while too many wait already. False when the run takes no more.
    func offer(_ job: Job) -> Bool {
        let stop = stop
        var isFull = false
        let fits: Bool = state.wait { state in
            if state.isClosed || stop.isRaised || state.health.isOffline {
                state.isOffering = false
                return .done(false)
            }
            // Once full, wait for half of the places, or each job taken would cost a switch of threads.
            if state.waiting < (isFull ? Self.capacity / 2 : Self.capacity)
                || state.idle > 0 && state.waiting < Self.starvedCapacity
            {
                state.isOffering = false
                return .done(true)
            }
            isFull = true
            state.isOffering = true
            // The bound wakes us when a signal, not a worker, ends the wait.
            return .wait(until: Instant.now.advanced(bySeconds: 0.2))
        }
        guard fits else { return false }
        state.change { state in
            state.enqueue(job)
            return state.idle > 0
        }
        return true
    }

    /// No more jobs will be offered.
    func endInput() { state.signal { $0.inputEnded = true } }

    /// Ends the waits of all workers; jobs that still wait stay as they are.
    func close() { state.signal { $0.isClosed = true } }

    /// The next job for a worker; nil when the run is over.
    func take(preferring origin: Origin?) -> Job? {
        let (perHost, stop) = (perHost, stop)
        var isIdle = false
        var wakesFeeder = false
        let job = state.wait { (state) -> Monitor<State>.Next<Job?> in
            func done(_ job: Job?) -> Monitor<State>.Next<Job?> {
                if isIdle { state.idle -= 1 }
                wakesFeeder = state.isOffering && state.waiting <= Self.capacity / 2
                return .done(job)
            }
            if state.isClosed || stop.isRaised || state.health.isOffline { return done(nil) }
            let now = Instant.now
            state.wakeDelayed(now)
            if let job = state.next(preferring: origin, perHost: perHost, now: now) { return done(job) }
            if state.inputEnded, state.waiting == 0, state.activeCount == 0 { return done(nil) }
            if !isIdle {
                isIdle = true
                state.idle += 1
            }
            var until = now.advanced(bySeconds: 1)
            for (due, _) in state.delayed where due < until { until = due }
            for (_, end) in state.pauses where end > now && end < until { until = end }
            return .wait(until: until)
        }
        if wakesFeeder { state.signal { _ in } }
        return job
    }

    /// A taken job is done with, for this run.
    func finished(_ job: Job, host: String) {
        state.change { state in
            state.release(host)
            // Idle workers look again when a place at the host is free for a job, or when all is done.
            return state.idle > 0 && (state.waiting > 0 || state.inputEnded && state.activeCount == 0)
        }
    }

    /// A job that was put aside is taken up again; unlike `offer` it does not wait for room.
    func restore(_ job: Job) {
        state.change { state in
            state.enqueue(job)
            return state.idle > 0
        }
    }

    /// Jobs that wait for another try need not wait longer when something has changed for them.
    func hasten(_ isMeant: (Job) -> Bool) {
        let now = Instant.now
        state.signal { state in
            for index in state.delayed.indices where isMeant(state.delayed[index].job) {
                state.delayed[index].due = now
            }
        }
    }

    /// A taken job is to be tried again, in this many seconds.
    func again(_ job: Job, host: String, in seconds: Double) {
        state.change { state in
            state.release(host)
            state.waiting += 1
            state.delayed.append((Instant.now.advanced(bySeconds: seconds), job))
            return state.idle > 0
        }
    }

    /// Nobody asks this origin for so many seconds.
    func pause(_ origin: Origin, seconds: Double) {
        let end = Instant.now.advanced(bySeconds: seconds)
        state.withLock { $0.pauses[origin] = max($0.pauses[origin] ?? end, end) }
    }

    /// Nobody asks this origin in this run: it wants to be left alone until then (wall seconds).
    func block(_ origin: Origin, until wall: Int64) {
        state.withLock { $0.blocked[origin] = wall }
    }

    /// Wall seconds until which the origin wants to be left alone; nil when it may be asked.
    func blocked(_ origin: Origin) -> Int64? { state.withLock { $0.blocked[origin] } }

    func connected(host: String) { state.withLock { $0.health.connected(host: host) } }

    func connectFailed(host: String, _ failure: ConnectFailure, began: Instant, isAlive: Bool = false) {
        state.signal {
            $0.health.failed(
                host: host, failure, began: began.nanoseconds, ended: Instant.now.nanoseconds,
                isAlive: isAlive)
        }
    }

    /// The host is not asked any more in this run.
    func isLeft(host: String) -> Bool { state.withLock { $0.health.isLeft(host: host) } }

    /// The whole network is gone.
    var isOffline: Bool { state.withLock { $0.health.isOffline } }

    /// Nobody was reached for want of a network.
    var foundNobody: Bool { state.withLock { $0.health.isOffline || $0.health.foundNobody } }

    /// Whether any worker has a job, or might get one.
    var isIdle: Bool { state.withLock { $0.activeCount == 0 && $0.waiting == 0 } }

    /// The jobs that nobody took.
    func remaining() -> [Job] {
        state.withLock { state in
            var rest = state.delayed.map(\.job)
            for origin in state.turn {
                while let job = state.queues[origin]?.popFirst() { rest.append(job) }
            }
            state.delayed = []
            state.waiting = 0
            return rest
        }
    }
}

extension Scheduler.State {
    mutating func enqueue(_ job: Job) {
        waiting += 1
        if job.wasUnreachable { doubtful.insert(job.url.origin.host) }
        place(job)
    }

    private mutating func place(_ job: Job) {
        let origin = job.url.origin
        if queues[origin] == nil {
            queues[origin] = Scheduler.Queue()
            turn.append(origin)
        }
        queues[origin]?.append(job)
    }

    mutating func wakeDelayed(_ now: Instant) {
        guard delayed.contains(where: { $0.due <= now }) else { return }
        for (_, job) in delayed.filter({ $0.due <= now }) { place(job) }
        delayed.removeAll { $0.due <= now }
    }

    mutating func next(preferring origin: Origin?, perHost: Int, now: Instant) -> Job? {
        if let origin, let job = pop(origin, perHost: perHost, now: now) { return job }
        // Those that could not be reached the last time come after all others: a few dead hosts at the head of a manifest
        // would else make every run believe that it is offline before it asks anybody else.
        for isDoubtful in doubtful.isEmpty ? [false] : [false, true] {
            for step in 0..<turn.count {
                let index = (nextTurn + step) % turn.count
                guard doubtful.contains(turn[index].host) == isDoubtful else { continue }
                if let job = pop(turn[index], perHost: perHost, now: now) {
                    nextTurn = index + 1
                    return job
                }
            }
        }
        return nil
    }

    private mutating func pop(_ origin: Origin, perHost: Int, now: Instant) -> Job? {
        guard active[origin.host, default: 0] < perHost else { return nil }
        if let pause = pauses[origin], pause > now { return nil }
        guard let job = queues[origin]?.popFirst() else { return nil }
        waiting -= 1
        active[origin.host, default: 0] += 1
        activeCount += 1
        if queues[origin]?.isEmpty == true {
            queues[origin] = nil
            turn.removeAll { $0 == origin }
        }
        return job
    }

    mutating func release(_ host: String) {
        activeCount -= 1
        let left = active[host, default: 1] - 1
        active[host] = left == 0 ? nil : left
    }
}
