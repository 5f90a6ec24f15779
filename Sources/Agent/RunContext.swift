import Posix
import Reconcile
import Storage
import Synchronization
import Transport
import Wire

/// What all transfers of one run share.
final class RunContext: Sendable {
    let options: SyncOptions
    let cache: CacheFolder
    let keeper: Keeper
    let scheduler: Scheduler
    let network: Network
    let stop: Stop
    /// Stored with each partial: whether its written bytes outlive a crash of ours.
    let boot: String?
    let mount: String?
    let counters = Counters()
    let habits = OriginHabits()
    let flights = Flights()
    let shaper: Shaper
    let pausing = Pausing()
    private let suspicions = Monitor(Doubts())
    private let left = Monitor<[String: (why: String, entries: Int)]>([:])

    private struct Doubts {
        var suspicions = Suspicions()
        var refused: [(Job, Setback)] = []
    }

    init(
        options: SyncOptions, cache: CacheFolder, keeper: Keeper, scheduler: Scheduler, network: Network,
        stop: Stop
    ) {
        self.options = options
        self.cache = cache
        self.keeper = keeper
        self.scheduler = scheduler
        self.network = network
        self.stop = stop
        shaper = Shaper(timetable: options.limitRate, bytes: options.maxBytes, stop: stop)
        boot = bootIdentifier()
        mount = cache.partials.mountIdentifier()
    }

    /// Tells the suspicions what was seen; ends the run when they find a portal.
    @discardableResult
    func suspect<Result: Sendable>(_ body: (inout Suspicions) -> Result) -> Result {
        let (result, finding) = suspicions.withLock { (body(&$0.suspicions), $0.suspicions.finding) }
        if finding == .portal { scheduler.close() }
        return result
    }

    /// What the run as a whole suffers from, when that was found.
    var finding: Suspicions.Finding? { suspicions.withLock { $0.suspicions.finding } }

    /// A refused certificate: whether it is the server's fault or the network's is known at the end.
    func hold(_ job: Job, _ setback: Setback) { suspicions.withLock { $0.refused.append((job, setback)) } }

    /// A host that is left for this run is one thing to tell, however many entries it has.
    ///
    /// - Parameter why: the sentence, when the entry itself was tried.
    func noteLeft(_ host: String, why: String?) {
        left.withLock { left in
            let known = left[host]
            left[host] = (why ?? known?.why ?? "\(host) could not be reached", (known?.entries ?? 0) + 1)
        }
    }

    /// The hosts that were left, why, and how many entries wait for them.
    var leftHosts: [(why: String, entries: Int)] {
        left.withLock { left in left.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// The jobs that ended with a refused certificate.
    var held: [(Job, Setback)] { suspicions.withLock { $0.refused } }

    /// Somebody needs bytes and none are left to receive: the run ends as at a signal.
    func spendAllowance() {
        counters.isAllowanceSpent.store(true, ordering: .relaxed)
        stop.raise()
    }

    /// Bytes that must stay free on the file system.
    func reserve(total: UInt64) -> UInt64 { options.reserve ?? min(64 << 20, total / 100) }
}

/// The run's figures, written by many threads.
final class Counters: Sendable {
    let entries = Atomic<Int>(0)
    let current = Atomic<Int>(0)
    let failed = Atomic<Int>(0)
    let deferred = Atomic<Int>(0)
    let requests = Atomic<Int>(0)
    let bytes = Atomic<UInt64>(0)
    let manifestEnded = Atomic<Bool>(false)
    /// Grows whenever anything comes from any host.
    var heard: UInt64 {
        bytes.load(ordering: .relaxed) &+ UInt64(requests.load(ordering: .relaxed))
    }
    /// Disk or ledger failed: the run ends with 74.
    let diskFailed = Atomic<Bool>(false)
    /// The run might have received more than it may.
    let isAllowanceSpent = Atomic<Bool>(false)
    private let answers = Mutex<[Int: UInt64]>([:])

    /// A request was answered with this status; nil: not at all, and then nothing was heard.
    func answered(_ status: Int?) {
        if status != nil { requests.add(1, ordering: .relaxed) }
        answers.withLock { $0[status ?? 0, default: 0] += 1 }
    }

    /// How many requests met which status.
    var requestsByCode: [(code: String, count: UInt64)] {
        answers.withLock { $0 }.sorted { $0.key < $1.key }
            .map { ($0.key == 0 ? "none" : "\($0.key)", $0.value) }
    }

    /// One more entry that is not current at the end of this run.
    func notCurrent(isPermanent: Bool) {
        if isPermanent {
            failed.add(1, ordering: .relaxed)
        } else {
            deferred.add(1, ordering: .relaxed)
        }
    }
}

/// What a run has learnt of servers' ways.
final class OriginHabits: Sendable {
    private let deaf = Monitor<Set<Origin>>([])

    /// The origin answers an If-Range with 200 although the version is the same.
    func noteIgnoresIfRange(_ origin: Origin) { deaf.withLock { _ = $0.insert(origin) } }

    func ignoresIfRange(_ origin: Origin) -> Bool { deaf.withLock { $0.contains(origin) } }
}

/// The files in flight, for whoever looks at the run.
final class Flights: Sendable {
    private let flights = Monitor<[Key: Flight]>([:])

    private struct Flight: Sendable {
        let url: String
        let partial: ActivePartial
        let started: Instant
    }

    func began(_ key: Key, url: String, _ partial: ActivePartial) {
        flights.withLock { $0[key] = Flight(url: url, partial: partial, started: .now) }
    }

    func ended(_ key: Key) { flights.withLock { $0[key] = nil } }

    var snapshot: [Snapshot.Transfer] {
        let now = flights.withLock { Array($0.values) }
        return now.map { flight in
            let row = flight.partial.snapshot
            return Snapshot.Transfer(
                url: flight.url, done: row.written, total: row.total, started: flight.started)
        }
        .sorted { $0.started < $1.started }
    }
}
