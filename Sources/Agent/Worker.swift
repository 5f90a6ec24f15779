import Posix
import Reconcile
import Storage
import Synchronization
import Transport
import Wire

/// One of the run's workers: takes a job, tries it, decides what follows; its connection goes from job to job.
struct Worker: ~Copyable {
    private let context: RunContext
    private let notice: @Sendable (Notice) -> Void
    private var transfer: Transfer
    private var connection: Connection?
    private let number: Int

    /// - Parameters:
    ///   - number: no other worker of the run has it.
    ///   - stop: below the run's; nobody else's.
    init(context: RunContext, number: Int, stop: Stop, notice: @escaping @Sendable (Notice) -> Void) {
        self.context = context
        self.number = number
        self.notice = notice
        transfer = Transfer(context: context, stop: stop)
    }

    /// Works until there is nothing left to do.
    mutating func run() {
        while let job = context.scheduler.take(preferring: connection?.origin) {
            guard context.pausing.began(job, worker: number, stop: transfer.stop) else {
                context.putAside(job)
                context.scheduler.finished(job, host: job.url.origin.host)
                continue
            }
            work(on: job)
            context.pausing.ended(worker: number)
        }
    }

    private mutating func work(on job: Job) {
        let host = job.url.origin.host
        while true {
            if let left = unreachable(job.url.origin) {
                var setback = Setback(.later, "unreachable", "\(left) could not be reached")
                if let before = job.setback, before.connect != nil { setback.message = before.message }
                setback.leftHost = left
                return end(job, setback, host)
            }
            if let wall = context.scheduler.blocked(job.url.origin) {
                var setback = Setback(.later, "not before", "\(host) asked to be left alone for now")
                setback.wait = max(0, wall - wallSeconds())
                return end(job, setback, host)
            }
            do throws(Setback) {
                switch try transfer.attempt(job, over: &connection) {
                case .current:
                    if job.partial != nil { transfer.forgetPartial(job) }
                    if job.row.failure != nil || job.row.isGone { job.isRowDirty = true }
                    job.row.failure = nil
                    job.row.isGone = false
                    context.keeper.save(job)
                    context.counters.current.add(1, ordering: .relaxed)
                    return context.scheduler.finished(job, host: host)
                case .handedIn:
                    return context.scheduler.finished(job, host: host)
                case .unfinished(let setback):
                    let why =
                        setback ?? Setback(.retry, "incomplete", "the server sends it in parts too small")
                    guard follow(job, after: why, host) else { return }
                }
            } catch {
                guard error.remedy == .retry else { return end(job, error, host) }
                guard follow(job, after: error, host) else { return }
            }
        }
    }

    /// The host, or the proxy before it, when it is left alone for the rest of the run.
    private func unreachable(_ origin: Origin) -> String? {
        let scheduler = context.scheduler
        let proxy = context.network.route(to: origin).proxy?.subject
        if let proxy, scheduler.isLeft(host: proxy) { return proxy }
        return scheduler.isLeft(host: origin.host) ? origin.host : nil
    }

    /// Decides what follows a try that may be repeated; true to go on at once.
    private func follow(_ job: Job, after setback: Setback, _ host: String) -> Bool {
        job.setback = setback
        if let wait = setback.wait {
            if wait > job.patience {
                let wall = wallSeconds() + wait
                context.scheduler.block(job.url.origin, until: wall)
                context.keeper.save(notBefore: wall, of: job.url.origin)
                end(job, setback, host)
                return false
            }
            // A server that says 0 is not taken at its word for ever.
            let seconds = max(Double(wait), 0.5)
            job.patience -= max(wait, 1)
            context.scheduler.pause(job.url.origin, seconds: seconds)
            context.scheduler.again(job, host: host, in: seconds)
            return false
        }
        switch job.budget.ended(holding: job.reached) {
        case .now:
            return true
        case .retry(let number):
            let seconds = backoff(retry: number, random: .random(in: 0..<1))
            context.scheduler.again(job, host: host, in: seconds)
        case .giveUp:
            end(job, setback, host)
        }
        return false
    }

    /// The job's present URL is given up: the next mirror has its turn, or the entry ends here for this run.
    private func end(_ job: Job, _ setback: Setback, _ host: String) {
        switch setback.remedy {
        case .stopped:
            if !context.stop.isRaised {
                if !context.pausing.isPaused(job.row) {
                    return context.scheduler.again(job, host: host, in: 0)
                }
                context.putAside(job)
                return context.scheduler.finished(job, host: host)
            }
            if job.isRowDirty { context.keeper.save(job.row) }
            context.counters.deferred.add(1, ordering: .relaxed)
            return context.scheduler.finished(job, host: host)
        case .tooLarge:
            context.counters.diskFailed.store(true, ordering: .relaxed)
        case .disk:
            context.counters.diskFailed.store(true, ordering: .relaxed)
            context.stop.raise()
        case .retry, .later, .never, .gone:
            if job.source < job.entry.mirrors.count {
                // What all of them said decides in the end: one that may come back beats one that will not.
                job.worst = job.worst.map { $0.isPermanent ? setback : $0 } ?? setback
                job.source += 1
                job.wasAskedAgain = false
                job.asksPastCaches = false
                job.budget = RetryBudget(retries: context.options.retries, held: job.partial?.written ?? 0)
                return context.scheduler.again(job, host: host, in: 0)
            }
        }
        let last = job.worst.map { setback.isPermanent ? $0 : setback } ?? setback
        if last.certificate != nil {
            context.hold(job, last)
        } else if let left = last.leftHost {
            _ = context.conclude(job, last)
            context.noteLeft(left, why: job.setback?.connect == nil ? nil : last.message)
        } else {
            notice(context.conclude(job, last))
        }
        context.scheduler.finished(job, host: host)
    }
}

extension RunContext {
    /// Remembers how an entry failed, counts it, and says so.
    func conclude(_ job: Job, _ why: Setback) -> Notice {
        var setback = why
        setback.message = job.secrets(options).hidden(in: why.message)
        job.remember(setback, now: wallSeconds())
        if setback.remedy == .gone, job.row.copy != nil { job.row.isGone = true }
        keeper.save(job.row)
        counters.notCurrent(isPermanent: setback.isPermanent)
        return .failed(
            url: job.maskedURL, place: job.entry.place, isPermanent: setback.isPermanent,
            reason: setback.reason,
            message: setback.message + (job.row.copy == nil ? "" : "; the copy in the cache stays"))
    }
}

extension Setback {
    /// Failed for good (1) rather than for now (75).
    var isPermanent: Bool {
        switch remedy {
        case .never, .gone: true
        case .retry, .later, .stopped, .tooLarge, .disk: false
        }
    }
}

extension Job {
    /// Notes the failure that ends this entry for this run.
    func remember(_ setback: Setback, now: Int64) {
        let before = row.failure
        row.failure = FailureRow(
            since: before?.since ?? now, lastTry: now, tries: (before?.tries ?? 0) &+ 1,
            notBefore: setback.wait.map { $0 > retryAfterPatience ? now + $0 : now },
            isPermanent: setback.isPermanent,
            reason: setback.reason, message: setback.message, fingerprint: entry.fingerprint)
    }
}

extension Keeper {
    /// Remembers what a job learnt about a copy that is current.
    fileprivate func save(_ job: Job) {
        if job.isRowDirty {
            save(job.row)
        } else if job.isConfirmed, let copy = job.row.copy {
            save(
                Confirmation(key: job.entry.key, copy: copy, trust: job.row.trust))
        }
    }
}
