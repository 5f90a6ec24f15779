import Posix
import Reconcile
import Storage
import Testing
import Wire

@testable import Agent

/// A job for a URL.
private func job(_ text: String) throws -> Job {
    let url = try HTTPURL(parsing: text)
    let entry = Entry(
        key: Key(md5Of: text), fileExtension: "", written: text, url: url,
        place: Place(manifest: "-", line: 1))
    return Job(
        entry: entry, facts: EntryFacts(),
        row: EntryRow(key: entry.key, url: text, fileExtension: ""), partial: nil, retries: 4)
}

private func scheduler(perHost: Int = 100) throws -> (scheduler: Scheduler, stop: Stop) {
    let stop = try Stop()
    return (Scheduler(perHost: perHost, stop: stop), stop)
}

extension Scheduler {
    fileprivate func offer(_ urls: [String]) throws {
        for url in urls { #expect(offer(try job(url))) }
    }

    /// Takes so many and says which.
    fileprivate func take(_ count: Int, preferring origin: Origin? = nil) -> [String] {
        (0..<count).map { _ in take(preferring: origin)?.row.url ?? "nothing" }
    }

    fileprivate func finish(_ url: String) throws {
        let done = try job(url)
        finished(done, host: done.url.origin.host)
    }
}

private func origin(_ text: String) throws -> Origin { try HTTPURL(parsing: text).origin }

@Suite("The scheduler", .timeLimit(.minutes(5)))
struct SchedulerTests {
    @Test("takes the jobs of an origin in their order, and origins in turn")
    func order() throws {
        let (scheduler, _) = try scheduler()
        try scheduler.offer([
            "http://a/1", "http://a/2", "http://b/1", "http://a/3", "http://b/2", "http://c/1",
        ])
        let taken = scheduler.take(6)
        for host in ["a", "b", "c"] {
            let own = taken.filter { $0.hasPrefix("http://\(host)/") }
            #expect(own == own.sorted())
        }
        #expect(Set(taken.prefix(3).map { $0.dropLast(2) }).count == 3)
        #expect(Set(taken).count == 6)
    }

    @Test("prefers the origin that a worker is connected to")
    func preference() throws {
        let (scheduler, _) = try scheduler()
        try scheduler.offer([
            "http://a/1", "https://b/1", "http://a/2", "https://b/2", "http://b/1", "https://b:444/1",
            "https://b/3",
        ])
        let preferred = try origin("https://b/")
        #expect(scheduler.take(3, preferring: preferred) == ["https://b/1", "https://b/2", "https://b/3"])
        // Another scheme or port is another connection; they go on in turn.
        let rest = scheduler.take(4, preferring: preferred)
        #expect(Set(rest) == ["http://a/1", "http://a/2", "http://b/1", "https://b:444/1"])
    }

    @Test("gives no host more than its share, though its jobs come first")
    func perHost() throws {
        let (scheduler, _) = try scheduler(perHost: 2)
        try scheduler.offer(["http://a/1", "https://a/2", "http://a:81/3", "http://b/1"])
        #expect(Set(scheduler.take(3)).contains("http://b/1"))
        // The place that gets free is taken by the one that waits for it.
        let taken = Monitor<String?>(nil)
        let worker = try WorkerThread(name: "worker") {
            let url = scheduler.take(preferring: nil)?.row.url ?? "nothing"
            taken.signal { $0 = url }
        }
        try scheduler.finish("http://b/1")
        #expect(taken.withLock { $0 } == nil, "b has no job, and a no place")
        try scheduler.finish("http://a/1")
        worker.join()
        #expect(taken.withLock { $0 }?.contains("a") == true)
    }

    @Test("hands out each job once and never too many of a host, to many workers at once")
    func manyWorkers() throws {
        let (scheduler, _) = try scheduler(perHost: 2)
        let counts = Monitor((now: [String: Int](), most: [String: Int](), urls: [String: Int]()))
        let workers = try (0..<8).map { number in
            try WorkerThread(name: "worker \(number)") {
                var connected: Origin?
                while let job = scheduler.take(preferring: connected) {
                    let host = job.url.origin.host
                    connected = job.url.origin
                    counts.withLock { counts in
                        let now = counts.now[host, default: 0] + 1
                        counts.now[host] = now
                        counts.most[host] = max(counts.most[host, default: 0], now)
                        counts.urls[job.row.url, default: 0] += 1
                    }
                    let isFirst = job.source == 0 && job.patience == retryAfterPatience
                    counts.withLock { $0.now[host, default: 0] -= 1 }
                    // Each is tried twice.
                    if isFirst {
                        job.patience -= 1
                        scheduler.again(job, host: host, in: 0.0001)
                    } else {
                        scheduler.finished(job, host: host)
                    }
                }
            }
        }
        for number in 0..<600 { #expect(scheduler.offer(try job("http://h\(number % 3)/\(number)"))) }
        scheduler.endInput()
        for worker in workers { worker.join() }
        let (_, most, urls) = counts.withLock { $0 }
        #expect(urls.count == 600)
        #expect(urls.values.allSatisfy { $0 == 2 })
        #expect(most.values.allSatisfy { $0 <= 2 })
        #expect(scheduler.isIdle)
    }

    @Test("a retry comes when its time has come, not before, and holds nobody up")
    func delayedRetry() throws {
        let (scheduler, _) = try scheduler()
        try scheduler.offer(["http://a/1", "http://a/2"])
        let first = try #require(scheduler.take(preferring: nil))
        let due = Instant.now.advanced(bySeconds: 0.05)
        scheduler.again(first, host: "a", in: 0.05)
        scheduler.endInput()
        #expect(scheduler.take(1) == ["http://a/2"])
        try scheduler.finish("http://a/2")
        #expect(!scheduler.isIdle, "a job that waits for its time is not forgotten")
        #expect(scheduler.take(1) == ["http://a/1"])
        #expect(Instant.now >= due)
        try scheduler.finish("http://a/1")
        #expect(scheduler.take(preferring: nil) == nil)
    }

    @Test("a paused origin rests, also for the worker connected to it; others on its host go on")
    func pause() throws {
        let (scheduler, _) = try scheduler()
        try scheduler.offer(["http://a/1", "http://a:81/1", "http://b/1"])
        let paused = try origin("http://a/")
        let end = Instant.now.advanced(bySeconds: 0.2)
        scheduler.pause(paused, seconds: 0.2)
        scheduler.pause(paused, seconds: 0.001)
        #expect(Set(scheduler.take(2, preferring: paused)) == ["http://a:81/1", "http://b/1"])
        #expect(scheduler.take(1, preferring: paused) == ["http://a/1"])
        #expect(Instant.now >= end, "the longer pause holds")
    }

    @Test("remembers until when an origin is to be left alone")
    func block() throws {
        let (scheduler, _) = try scheduler()
        scheduler.block(try origin("http://a/"), until: 77)
        #expect(scheduler.blocked(try origin("http://a/x")) == 77)
        #expect(scheduler.blocked(try origin("https://a/")) == nil)
        #expect(scheduler.blocked(try origin("http://a:81/")) == nil)
    }

    @Test("holds a bounded number of jobs; who offers more waits for room")
    func capacity() throws {
        let (scheduler, _) = try scheduler(perHost: .max)
        for number in 0..<Scheduler.capacity { #expect(scheduler.offer(try job("http://a/\(number)"))) }
        let last = try job("http://a/last")
        let offered = Monitor<Bool?>(nil)
        let feeder = try WorkerThread(name: "feeder") {
            let fits = scheduler.offer(last)
            offered.signal { $0 = fits }
        }
        // Taking must make room before all are gone.
        var taken = 0
        while offered.withLock({ $0 }) == nil, taken < Scheduler.capacity {
            #expect(scheduler.take(preferring: nil) != nil)
            taken += 1
        }
        feeder.join()
        #expect(offered.withLock { $0 } == true)
        #expect(scheduler.remaining().count == Scheduler.capacity - taken + 1)
    }

    /// What ends a run while somebody waits.
    enum End: CaseIterable, Sendable { case closed, stopped, offline }

    private func end(_ scheduler: Scheduler, _ stop: Stop, by end: End) {
        switch end {
        case .closed: scheduler.close()
        case .stopped: stop.raise()
        case .offline:
            for host in ["x", "y"] { scheduler.connectFailed(host: host, .noRoute, began: .now) }
        }
    }

    @Test("an end of the run ends every wait, and no job is lost", arguments: End.allCases)
    func ends(_ end: End) throws {
        let (scheduler, stop) = try scheduler(perHost: 1)
        for number in 0..<Scheduler.capacity { #expect(scheduler.offer(try job("http://a/\(number)"))) }
        let active = try #require(scheduler.take(preferring: nil))
        let delayed = try #require(try makeDelayed(scheduler))
        let results = Monitor<[Bool]>([])
        let extra = [try job("http://a/x"), try job("http://a/y")]
        let worker = try WorkerThread(name: "worker") {
            let job = scheduler.take(preferring: nil)
            results.signal { $0.append(job == nil) }
        }
        let feeder = try WorkerThread(name: "feeder") {
            // One place is free, or none; the second offer waits in any case.
            for job in extra where !scheduler.offer(job) { results.signal { $0.append(true) } }
        }
        self.end(scheduler, stop, by: end)
        worker.join()
        feeder.join()
        #expect(results.withLock { $0.allSatisfy(\.self) })
        #expect(scheduler.take(preferring: nil) == nil)
        #expect(!scheduler.offer(active))
        let rest = scheduler.remaining()
        #expect(rest.contains { $0 === delayed })
        #expect(rest.count >= Scheduler.capacity - 1)
        #expect(Set(rest.map(\.row.url)).count == rest.count)
        #expect(scheduler.isOffline == (end == .offline))
    }

    /// A job of another host that waits for an hour.
    private func makeDelayed(_ scheduler: Scheduler) throws -> Job? {
        let job = try job("http://delayed/")
        guard scheduler.offer(job), let taken = scheduler.take(preferring: job.url.origin) else { return nil }
        scheduler.again(taken, host: "delayed", in: 3600)
        return taken
    }

    @Test("the run is over when nothing waits and nobody works, and not before")
    func over() throws {
        let (scheduler, _) = try scheduler()
        try scheduler.offer(["http://a/1"])
        scheduler.endInput()
        let active = try #require(scheduler.take(preferring: nil))
        let seen = Monitor<[String]>([])
        let worker = try WorkerThread(name: "worker") {
            while let job = scheduler.take(preferring: nil) {
                seen.signal { $0.append(job.row.url) }
                scheduler.finished(job, host: "a")
            }
            seen.signal { $0.append("over") }
        }
        #expect(seen.withLock { $0 }.isEmpty, "the active job may come back")
        scheduler.again(active, host: "a", in: 0)
        worker.join()
        #expect(seen.withLock { $0 } == ["http://a/1", "over"])
    }

    @Test("a host that failed three times in a row is left, and only that one")
    func leavesHosts() throws {
        let (scheduler, _) = try scheduler()
        for _ in 0..<3 {
            #expect(!scheduler.isLeft(host: "a"))
            scheduler.connectFailed(host: "a", .refused, began: .now)
        }
        #expect(scheduler.isLeft(host: "a"))
        #expect(!scheduler.isLeft(host: "b"))
        #expect(!scheduler.isOffline)
        scheduler.connected(host: "a")
        #expect(!scheduler.isLeft(host: "a"))
    }
}
