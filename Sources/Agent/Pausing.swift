import Posix
import Storage
import Synchronization

/// Who is paused while a run is at work: the user may say so at any time, from another process, through the ledger.
///
/// A transfer that is paused ends with its bytes saved, as by a signal, and its worker goes on with another entry.
final class Pausing: Sendable {
    /// Jobs kept to be taken up again in this run, should they be resumed; the others wait for the next.
    static let heldLimit = 1024
    /// Seconds between two looks at the ledger.
    static let period = 0.5

    private let state = Mutex(State())

    private struct State {
        var rules = PauseRules()
        var held: [Job] = []
        var count = 0
        var transfers: [Int: Transfer] = [:]
    }

    private struct Transfer {
        let key: Key
        let url: String
        let stop: Stop
    }

    /// Entries put aside, whether or not they are held.
    var count: Int { state.withLock { $0.count } }

    func isPaused(_ row: EntryRow) -> Bool {
        state.withLock { $0.rules.isPaused(row.key, url: row.url) }
    }

    /// A worker begins with a job; false when it is paused. From now on the stop is raised when it is.
    func began(_ job: Job, worker: Int, stop: Stop) -> Bool {
        state.withLock { state in
            if state.rules.isPaused(job.row.key, url: job.row.url) { return false }
            // Under the lock, so that no raise that was meant for the job before can follow.
            stop.lower()
            state.transfers[worker] = Transfer(key: job.row.key, url: job.row.url, stop: stop)
            return true
        }
    }

    func ended(worker: Int) { state.withLock { $0.transfers[worker] = nil } }

    /// Puts a job aside.
    func hold(_ job: Job) {
        state.withLock { state in
            state.count += 1
            if state.held.count < Self.heldLimit { state.held.append(job) }
        }
    }

    /// The user said something; returns the jobs that are paused no more.
    func change(to rules: PauseRules) -> [Job] {
        state.withLock { state in
            state.rules = rules
            for transfer in state.transfers.values where rules.isPaused(transfer.key, url: transfer.url) {
                transfer.stop.raise()
            }
            let isPaused = { (job: Job) in rules.isPaused(job.row.key, url: job.row.url) }
            let resumed = state.held.filter { !isPaused($0) }
            state.held.removeAll { !isPaused($0) }
            state.count -= resumed.count
            return resumed
        }
    }
}

/// Looks at the ledger for what the user says, until it is told to end.
struct PauseWatch: ~Copyable {
    private let own: Stop
    private let thread: WorkerThread

    private init(own: Stop, thread: WorkerThread) {
        self.own = own
        self.thread = thread
    }

    /// - Parameter mark: of the rules that the run began with.
    static func begin(_ context: RunContext, mark: PauseMark) throws(SystemError) -> PauseWatch {
        let own = try Stop()
        let thread = try WorkerThread(name: "pauses") { watch(context, mark, own) }
        return PauseWatch(own: own, thread: thread)
    }

    private static func watch(_ context: RunContext, _ first: PauseMark, _ own: Stop) {
        var reader: LedgerReader?
        var mark = first
        while !own.wait(until: .now.advanced(bySeconds: Pausing.period)) {
            do throws(LedgerError) {
                if reader == nil { reader = try LedgerReader.open(in: context.cache.state) }
                guard let now = try reader?.pauseMark(), now != mark,
                    let rules = try reader?.pauseRules()
                else { continue }
                mark = now
                for job in context.pausing.change(to: rules) { context.scheduler.restore(job) }
                // They are put aside as they are taken, so that the run does not wait for them.
                context.scheduler.hasten { context.pausing.isPaused($0.row) }
            } catch {
                // A ledger in trouble is met, and told, by those who write it; a busy one is asked again.
                reader = nil
            }
        }
    }

    consuming func end() {
        own.raise()
        thread.join()
    }
}

extension RunContext {
    /// Leaves a job to another time; what it has learnt stays.
    func putAside(_ job: Job) {
        if job.isRowDirty { keeper.save(job.row) }
        job.isRowDirty = false
        pausing.hold(job)
    }
}
