package import Posix
import Reconcile
import Storage
import Synchronization
import Transport
import Wire

/// One `syncagent sync`, from the lock to the exit code.
package final class SyncRun: Sendable {
    /// Entries that are read before the first of them is asked for, and looked up in the ledger together.
    static let batch = 8192

    private let options: SyncOptions
    private let stop: Stop
    private let notice: @Sendable (Notice) -> Void
    private let context = Monitor<RunContext?>(nil)

    /// - Parameters:
    ///   - stop: raised by a signal; the run saves and ends.
    ///   - notice: called from many threads.
    package init(options: SyncOptions, stop: Stop, notice: @escaping @Sendable (Notice) -> Void) {
        self.options = options
        self.stop = stop
        self.notice = notice
    }

    /// A look at the run, from any thread.
    package func snapshot() -> Snapshot {
        var snapshot = Snapshot()
        guard let context = context.withLock({ $0 }) else { return snapshot }
        let counters = context.counters
        snapshot.entries = counters.entries.load(ordering: .relaxed)
        snapshot.manifestEnded = counters.manifestEnded.load(ordering: .relaxed)
        snapshot.current = counters.current.load(ordering: .relaxed)
        snapshot.failed = counters.failed.load(ordering: .relaxed)
        snapshot.paused = context.pausing.count
        snapshot.pending = max(
            0, snapshot.entries - snapshot.current - snapshot.failed - snapshot.paused)
        snapshot.bytesReceived = counters.bytes.load(ordering: .relaxed)
        snapshot.transfers = context.flights.snapshot
        return snapshot
    }

    /// Does it all. Blocks until the run has ended.
    package func run() throws(SyncError) -> SyncOutcome {
        let timer = try startTimer()
        defer { timer.end() }
        var manifests = try openManifests()
        let cache: CacheFolder
        do throws(CacheError) {
            cache = try CacheFolder.open(path: options.cache, ledger: options.state, create: true)
        } catch {
            throw .cacheUnusable(error)
        }
        let lock = try cache.lock(waiting: options.waitLock, stop: stop)
        try warn(of: cache)
        notice(.began)
        let network = try makeNetwork()
        let opened = try OpenedLedger.open(in: cache, notice: notice)
        let (run, partials) = (opened.run, opened.partials)
        let writer = opened.writer
        var reader = opened.reader
        let scheduler = Scheduler(perHost: options.perHost, stop: stop)
        let context: RunContext
        do throws(SystemError) {
            let keeper = try Keeper(cache: cache, writer: writer, stop: stop) { [self] in published($0, $1) }
            context = RunContext(
                options: options, cache: cache, keeper: keeper, scheduler: scheduler, network: network,
                stop: stop)
        } catch {
            throw .storage(error)
        }
        self.context.withLock { $0 = context }
        var workers = Workers(context: context, notice: notice)
        var trouble: SyncError?
        let pauses = try watchPauses(context, &reader)
        do throws(SyncError) {
            if options.only == nil { try context.begin(options.manifests) }
            try feed(&manifests, to: context, workers: &workers, reader: &reader, partials: partials)
            if options.only == nil { try context.end(manifests, &reader) }
        } catch {
            trouble = error
            stopAfter(error, cache)
        }
        scheduler.endInput()
        workers.join()
        pauses.end()
        return try finish(context, run: run, manifests: manifests, trouble: trouble, lock: lock)
    }

    /// The way to the hosts. Files that the options name for TLS are read at once, so that a bad one ends the run.
    private func makeNetwork() throws(SyncError) -> Network {
        let network = options.network(stop: stop)
        guard options.caCertificates != nil || options.certificate != nil else { return network }
        do throws(TLSSetupError) {
            _ = try network.tls()
            return network
        } catch {
            throw .configuration("\(error.subject): \(error.text)")
        }
    }

    private func openManifests() throws(SyncError) -> Manifests {
        do throws(ManifestError) {
            return try Manifests(paths: options.manifests, stop: stop)
        } catch {
            throw .manifest(error)
        }
    }

    /// Tells when the ledger lies where it is not safe.
    private func warn(of cache: CacheFolder) throws(SyncError) {
        let kind: FileSystemKind
        do throws(SystemError) {
            kind = try cache.ledgerFileSystem()
        } catch {
            throw .storage(error)
        }
        let next = "; name a folder on a local disk with --state"
        switch kind {
        case .local: break
        case .network(let name):
            notice(.warning("\(cache.state.path) is on \(name), where a ledger is not safe\(next)"))
        case .fuse:
            notice(.warning("\(cache.state.path) is on FUSE, where a ledger may not be safe\(next)"))
        }
    }

    /// Reading the manifests or the ledger failed: what is under way need not come to its end when the ledger or the
    /// disk is the cause.
    private func stopAfter(_ error: SyncError, _ cache: CacheFolder) {
        switch error {
        case .ledger(let cause):
            cache.condemn(cause)
            stop.raise()
        case .storage: stop.raise()
        case .cacheUnusable, .manifest, .badLines, .lockHeld, .configuration: break
        }
    }

    /// Ends the run when its time is over.
    private func startTimer() throws(SyncError) -> Timer {
        do throws(SystemError) {
            return try Timer(seconds: options.maxTime, run: stop)
        } catch {
            throw .storage(error)
        }
    }

    /// What is paused now, and whatever will be said of it while the run is at work.
    private func watchPauses(
        _ context: RunContext, _ reader: inout LedgerReader
    ) throws(SyncError) -> PauseWatch {
        let mark: PauseMark
        do throws(LedgerError) {
            mark = try reader.pauseMark()
            _ = context.pausing.change(to: try reader.pauseRules())
        } catch {
            throw .ledger(error)
        }
        do throws(SystemError) {
            return try PauseWatch.begin(context, mark: mark)
        } catch {
            throw .storage(error)
        }
    }

    // MARK: From manifests to jobs

    private func feed(
        _ manifests: inout Manifests, to context: RunContext, workers: inout Workers,
        reader: inout LedgerReader,
        partials: [Key: PartialRow]
    ) throws(SyncError) {
        while true {
            let entries: [Entry]
            do throws(ManifestError) {
                let limit = options.isStrict || options.smallestFirst ? Int.max : Self.batch
                guard let batch = try manifests.next(limit: limit, problems: { notice(.problem($0)) }) else {
                    break
                }
                entries = options.only.map { only in batch.filter { only.contains($0.key) } } ?? batch
            } catch {
                throw .manifest(error)
            }
            if options.isStrict, manifests.badLines + manifests.refused > 0 {
                throw .badLines(manifests.badLines + manifests.refused)
            }
            context.counters.entries.add(entries.count, ordering: .relaxed)
            do {
                try admit(entries, to: context, workers: &workers, reader: &reader, partials: partials)
            } catch let error as LedgerError {
                throw .ledger(error)
            } catch let error as SystemError {
                throw .storage(error)
            } catch {
                throw .configuration("\(error)")
            }
        }
        context.counters.manifestEnded.store(true, ordering: .relaxed)
    }

    private func admit(
        _ entries: [Entry], to context: RunContext, workers: inout Workers, reader: inout LedgerReader,
        partials: [Key: PartialRow]
    ) throws {
        let order = entries.indices.sorted { entries[$0].key < entries[$1].key }
        let found = try reader.entries(for: order.map { entries[$0].key })
        var rows = [EntryRow?](repeating: nil, count: entries.count)
        var unknown: [EntryRow] = []
        for (place, index) in order.enumerated() {
            rows[index] = found[place]
            if found[place] == nil { unknown.append(entries[index].freshRow) }
        }
        if !unknown.isEmpty { context.keeper.introduce(unknown) }
        let turns = turns(of: entries, smallestFirst: options.smallestFirst) { index in
            entries[index].size ?? partials[entries[index].key]?.total ?? rows[index]?.copy?.size
        }
        for index in turns {
            let entry = entries[index]
            switch try context.admit(
                entry, row: rows[index], partial: partials[entry.key], now: wallSeconds())
            {
            case .current:
                context.counters.current.add(1, ordering: .relaxed)
            case .remembered(let isPermanent):
                context.counters.notCurrent(isPermanent: isPermanent)
            case .paused(let job): context.putAside(job)
            case .job(let job):
                if let wall = try reader.notBefore(of: entry.url.origin),
                    holdsBack(notBefore: wall, now: wallSeconds()),
                    !options.retryFailed
                {
                    context.scheduler.block(entry.url.origin, until: wall)
                }
                try workers.growth()
                if !context.scheduler.offer(job) { context.counters.deferred.add(1, ordering: .relaxed) }
            }
        }
    }

    // MARK: The end

    private func published(_ publication: Publication, _ setback: Setback?) {
        guard let context = context.withLock({ $0 }) else { return }
        guard let setback else {
            context.counters.current.add(1, ordering: .relaxed)
            notice(.changed(url: publication.row.url, bytes: publication.row.copy?.size ?? 0))
            return
        }
        switch setback.remedy {
        case .disk, .tooLarge: context.counters.diskFailed.store(true, ordering: .relaxed)
        case .retry, .later, .never, .gone, .stopped: break
        }
        context.counters.notCurrent(isPermanent: setback.isPermanent)
        notice(
            .failed(
                url: publication.row.url, place: publication.place, isPermanent: setback.isPermanent,
                reason: setback.reason, message: setback.message))
    }

    /// Refused certificates are the servers' own fault, unless all of them have the same trouble: then nothing is
    /// remembered, and the run says where to look.
    private func concludeRefused(_ context: RunContext) {
        switch context.finding {
        case .portal:
            notice(
                .general(
                    "somebody on the way answers for several servers, perhaps a captive portal: log in to the network and run again"
                ))
            context.counters.deferred.add(context.held.count, ordering: .relaxed)
        case .clock:
            notice(
                .general(
                    "no certificate is valid at this time for several hosts: check the clock and run again"))
            context.counters.deferred.add(context.held.count, ordering: .relaxed)
        case nil:
            for (job, setback) in context.held { notice(context.conclude(job, setback)) }
        }
    }

    private func finish(
        _ context: RunContext, run: RunRow, manifests: borrowing Manifests, trouble: SyncError?,
        lock: consuming CacheLock
    ) throws(SyncError) -> SyncOutcome {
        let counters = context.counters
        for job in context.scheduler.remaining() {
            counters.deferred.add(1, ordering: .relaxed)
            guard let setback = job.setback else { continue }
            job.remember(setback, now: wallSeconds())
            context.keeper.save(job.row)
        }
        let isOffline = context.scheduler.foundNobody
        if !isOffline {
            for (why, entries) in context.leftHosts {
                notice(
                    .general(
                        "\(why); \(entries == 1 ? "its entry waits" : "its \(entries) entries wait") for the next run"
                    ))
            }
        }
        concludeRefused(context)
        if counters.isAllowanceSpent.load(ordering: .relaxed), let bytes = options.maxBytes {
            notice(.general("the run may receive \(bytes) bytes (--max-bytes), and they are spent"))
        }
        var run = run
        func figures() -> SyncOutcome {
            var outcome = SyncOutcome(exitCode: 0)
            outcome.entries = counters.entries.load(ordering: .relaxed) + manifests.refused
            outcome.current = counters.current.load(ordering: .relaxed)
            outcome.failed = counters.failed.load(ordering: .relaxed) + manifests.refused
            outcome.paused = context.pausing.count
            outcome.pending = outcome.entries - outcome.current - outcome.failed - outcome.paused
            outcome.bytesReceived = counters.bytes.load(ordering: .relaxed)
            outcome.requests = counters.requests.load(ordering: .relaxed)
            outcome.isWhole = counters.manifestEnded.load(ordering: .relaxed)
            outcome.isOffline = isOffline
            // The order is the contract's: 74, then 1, then 75.
            outcome.exitCode =
                if counters.diskFailed.load(ordering: .relaxed)
                    || context.keeper.failure?.remedy == .disk
                {
                    74
                } else if outcome.failed > 0 || manifests.badLines > 0 {
                    1
                } else {
                    outcome.pending > 0 || !counters.manifestEnded.load(ordering: .relaxed) ? 75 : 0
                }
            return outcome
        }
        do throws(LedgerError) {
            try context.keeper.end { (ledger) throws(LedgerError) in
                let outcome = figures()
                run.ended = wallSeconds()
                run.exitCode = outcome.exitCode
                (run.entries, run.current, run.failed, run.pending) =
                    (outcome.entries, outcome.current, outcome.failed, outcome.pending)
                run.received = outcome.bytesReceived
                run.paused = outcome.paused
                try ledger.finishRun(run)
                try ledger.count(counters, exitCode: outcome.exitCode, at: run.ended)
            }
        } catch {
            context.cache.condemn(error)
            let setback = Setback(ledger: error)
            if context.keeper.failure == nil { notice(.general(setback.message)) }
            // Another program's lock kept only the row of the run from being written.
            if setback.remedy == .disk { counters.diskFailed.store(true, ordering: .relaxed) }
        }
        if let failure = context.keeper.failure { notice(.general(failure.message)) }
        proveCache(context)
        if let trouble { throw trouble }
        let outcome = figures()
        if outcome.entries == 0, manifests.badLines > 0 { throw .badLines(manifests.badLines) }
        return outcome
    }
}

extension SyncRun {
    /// A cache that was taken away under the run holds nothing of what the run did.
    private func proveCache(_ context: RunContext) {
        do throws(SystemError) {
            if try context.cache.isStillThere() { return }
        } catch {
            notice(.general("\(error.subject): \(error.reason)"))
        }
        context.counters.diskFailed.store(true, ordering: .relaxed)
        notice(
            .general(
                "\(context.cache.path) was removed or moved while the run was at work, or a part of it; run again"
            ))
    }
}

/// The worker threads of a run; they start as there are jobs for them.
struct Workers: ~Copyable {
    private let context: RunContext
    private let notice: @Sendable (Notice) -> Void
    private var threads: [WorkerThread] = []

    init(context: RunContext, notice: @escaping @Sendable (Notice) -> Void) {
        self.context = context
        self.notice = notice
    }

    /// One more, unless there are enough.
    mutating func growth() throws(SystemError) {
        guard threads.count < context.options.jobs else { return }
        let (context, notice) = (context, notice)
        let number = threads.count + 1
        let stop = try Stop(below: context.stop)
        threads.append(
            try WorkerThread(name: "worker \(number)") {
                var worker = Worker(context: context, number: number, stop: stop, notice: notice)
                worker.run()
            })
    }

    /// Waits until all have nothing left to do.
    mutating func join() {
        for thread in threads { thread.join() }
        threads = []
    }
}

/// Raises the run's stop when its time is over.
struct Timer {
    private let own: Stop
    private let thread: WorkerThread?

    /// - Parameter seconds: nil for never.
    init(seconds: Double?, run: Stop) throws(SystemError) {
        let own = try Stop()
        let thread = try seconds.map { (seconds) throws(SystemError) in
            let deadline = Instant.now.advanced(bySeconds: seconds)
            return try WorkerThread(name: "timer") {
                if !own.wait(until: deadline) { run.raise() }
            }
        }
        self.own = own
        self.thread = thread
    }

    func end() {
        own.raise()
        thread?.join()
    }
}
