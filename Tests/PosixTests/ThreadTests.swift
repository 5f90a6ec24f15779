import Foundation
import Posix
import Testing

@Suite("A stop", .timeLimit(.minutes(2)))
struct StopTests {
    @Test("once raised stays raised, for everybody")
    func staysRaised() throws {
        let stop = try Stop()
        #expect(!stop.isRaised)
        #expect(!stop.wait(until: .now))
        for _ in 0..<3 {
            stop.raise()
            #expect(stop.isRaised)
            #expect(stop.wait(until: .now), "it wins over a deadline that has passed")
            #expect(stop.wait(until: .never))
        }
    }

    @Test("a wait for it ends when another thread raises it")
    func wakes() throws {
        let stop = try Stop()
        let began = Monitor(false)
        let thread = try WorkerThread(name: "waiter") {
            began.signal { $0 = true }
            if !stop.wait(until: .never) { Issue.record("ended without a stop") }
        }
        began.wait { $0 ? .done(()) : .wait(until: .never) }
        stop.raise()
        thread.join()
    }

    @Test("a wait never ends before its deadline")
    func waitsLongEnough() throws {
        let stop = try Stop()
        let deadline = Instant.now.advanced(bySeconds: 0.0123)
        #expect(!stop.wait(until: deadline))
        #expect(Instant.now >= deadline)
    }

    @Test("wins over a descriptor that is ready and a deadline that has passed")
    func winsOverReadiness() throws {
        let (stop, other) = (try Stop(), try Stop())
        let pipe = try TestPipe()
        let past = Instant(nanoseconds: 0)
        #expect(try pipe.reader.wait(.read, until: past, stop: stop) == .timedOut)
        #expect(
            try pipe.writer?.wait(.write, until: past, stop: stop) == .ready,
            "what is ready wins over the deadline"
        )
        try pipe.write([1])
        #expect(try pipe.reader.wait(.read, until: .late, stop: stop) == .ready)
        stop.raise()
        #expect(try pipe.reader.wait(.read, until: .never, stop: stop) == .stopped)
        #expect(try pipe.writer?.wait(.write, until: past, stop: stop) == .stopped)
        #expect(try pipe.reader.wait(.read, until: past, stop: other) == .ready)
    }

    @Test("an end at the other side is something to read")
    func endOfPeer() throws {
        let stop = try Stop()
        let pipe = try TestPipe()
        pipe.closeWriter()
        #expect(try pipe.reader.wait(.read, until: .late, stop: stop) == .ready)
    }

    @Test("of several descriptors those that are ready are told")
    func severalDescriptors() throws {
        let stop = try Stop()
        let first = try TestPipe()
        let second = try TestPipe()
        let numbers = [first.reader.number, second.reader.number]
        func ready(_ readiness: Readinesses) -> [Int]? {
            if case .ready(let places) = readiness { places } else { nil }
        }
        guard case .timedOut = try waitForAny(numbers, .read, until: .now, stop: stop) else {
            Issue.record("nothing was ready")
            return
        }
        try second.write([1])
        #expect(ready(try waitForAny(numbers, .read, until: .late, stop: stop)) == [1])
        try first.write([1])
        #expect(ready(try waitForAny(numbers, .read, until: .late, stop: stop)) == [0, 1])
        stop.raise()
        guard case .stopped = try waitForAny(numbers, .read, until: .never, stop: stop) else {
            Issue.record("the stop wins")
            return
        }
        guard case .stopped = try waitForAny([], .read, until: .never, stop: stop) else {
            Issue.record("with nothing to wait for there is still the stop")
            return
        }
    }
}

@Suite("A monitor", .timeLimit(.minutes(2)))
struct MonitorTests {
    @Test("lets one in at a time")
    func excludes() throws {
        let counter = Monitor(0)
        let threads = try (0..<4).map { number in
            try WorkerThread(name: "counter \(number)") {
                for _ in 0..<10_000 { counter.withLock { $0 += 1 } }
            }
        }
        for thread in threads { thread.join() }
        #expect(counter.withLock { $0 } == 40_000)
    }

    @Test("wakes all who wait, when a signal changes what they wait for")
    func wakesAll() throws {
        let (waiting, gate, passed) = (Monitor(0), Monitor(false), Monitor(0))
        let threads = try (0..<3).map { number in
            try WorkerThread(name: "waiter \(number)") {
                waiting.signal { $0 += 1 }
                gate.wait { $0 ? .done(()) : .wait(until: .never) }
                passed.withLock { $0 += 1 }
            }
        }
        waiting.wait { $0 == 3 ? .done(()) : .wait(until: .never) }
        #expect(passed.withLock { $0 } == 0)
        gate.signal { $0 = true }
        for thread in threads { thread.join() }
        #expect(passed.withLock { $0 } == 3)
    }

    @Test("a signal that changes nothing of interest leaves the waiter waiting")
    func spuriousWake() throws {
        let state = Monitor((asked: 0, isOpen: false))
        let thread = try WorkerThread(name: "waiter") {
            state.wait { state in
                state.asked += 1
                return state.isOpen ? .done(()) : .wait(until: .never)
            }
        }
        // Each signal is answered by one more look, until it opens.
        for _ in 0..<3 {
            let before = state.withLock { $0.asked }
            let deadline = Instant.now.advanced(bySeconds: 60)
            while state.withLock({ $0.asked }) <= before, Instant.now < deadline { state.signal { _ in } }
        }
        state.signal { $0.isOpen = true }
        thread.join()
        #expect(state.withLock { $0.asked } >= 4)
    }

    @Test(
        "asks again at the deadline, also one that has passed or lies before the clock's start",
        arguments: [
            Instant(nanoseconds: .min), Instant(nanoseconds: -1), Instant(nanoseconds: 0), .now,
            Instant.now.advanced(bySeconds: 0.01),
        ])
    func deadlines(_ deadline: Instant) {
        let monitor = Monitor(0)
        let looks = monitor.wait { count -> Monitor<Int>.Next<Int> in
            count += 1
            return count > 1 && Instant.now >= deadline ? .done(count) : .wait(until: deadline)
        }
        #expect(looks >= 2)
        #expect(Instant.now >= deadline)
    }

    @Test("is free again after a body that throws")
    func throwing() {
        let monitor = Monitor(0)
        let error = SystemError("test", "x", code: EIO)
        #expect(
            errorCode {
                try monitor.withLock { _ throws(SystemError) in throw error }
            } == EIO)
        #expect(
            errorCode {
                try monitor.signal { _ throws(SystemError) in throw error }
            } == EIO)
        #expect(monitor.withLock { $0 } == 0)
    }
}

@Suite("A thread", .timeLimit(.minutes(2)))
struct ThreadTests {
    @Test("has its name, as far as the kernel takes it, and takes no signal")
    func surroundings() throws {
        let seen = Monitor((name: "", signals: ""))
        try WorkerThread(name: "a name that is too long") {
            let name = readSmallFile("/proc/thread-self/comm") ?? ""
            let status = readSmallFile("/proc/thread-self/status") ?? ""
            let blocked = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") } ?? ""
            seen.withLock { $0 = (name, String(blocked)) }
        }.join()
        let (name, signals) = seen.withLock { $0 }
        #expect(name == "a name that is \n")
        let mask = try #require(UInt64(signals.dropFirst("SigBlk:\t".count), radix: 16))
        for number in [SIGTERM, SIGINT, SIGHUP, SIGCHLD] { #expect(mask & 1 << UInt64(number - 1) != 0) }
    }

    @Test("leaves the signals of its maker as they were")
    func leavesMask() throws {
        func blocked() -> Substring? {
            readSmallFile("/proc/thread-self/status")?.split(separator: "\n").first {
                $0.hasPrefix("SigBlk:")
            }
        }
        let before = blocked()
        try WorkerThread(name: "short") {}.join()
        #expect(before != nil)
        #expect(blocked() == before)
    }
}
