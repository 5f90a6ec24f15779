import Reconcile
import Testing

private let second: Int64 = 1_000_000_000

@Suite("The rate of a run")
struct RateLimiterTests {
    @Test(
        "is never exceeded by more than a burst and the bytes that came last, whoever reads how much",
        arguments: [UInt64(1), 1000, 1024, 65_536, 1 << 20, 1 << 33, .max],
        [1, 7, 4096, 524_288])
    func bound(rate: UInt64, size: Int) {
        var now: Int64 = 77
        let begin = now
        var limiter = RateLimiter(rate: rate, now: now)
        var received = 0.0
        // Four readers in turn, each of which waits until its own bytes are paid for.
        var places = [Double](repeating: 0, count: 4)
        for turn in 0..<400 {
            let reader = turn % places.count
            let wait = limiter.wait(for: places[reader], now: now)
            #expect(wait >= 0 && wait.isFinite)
            // Rounded up, as a sleeper is woken late and never early.
            now += Int64(min(wait * 1e9, 1e15)) + 1
            #expect(limiter.wait(for: places[reader], now: now) < 0.001)
            let allowed = Double(rate) * (Double(now - begin) / 1e9 + RateLimiter.burst)
            #expect(received <= allowed + Double(size * places.count) + 1)
            places[reader] = limiter.pay(UInt64(size), now: now)
            received += Double(size)
        }
    }

    @Test("is used up by a reader that always has bytes") func useful() {
        var now: Int64 = 0
        var limiter = RateLimiter(rate: 100_000, now: now)
        for _ in 0..<100 {
            let place = limiter.pay(5000, now: now)
            now += Int64(limiter.wait(for: place, now: now) * 1e9) + 1
        }
        // 500,000 bytes at 100,000 a second.
        #expect((4.8...5.1).contains(Double(now) / 1e9))
    }

    @Test("saves up no more than a burst in a pause") func pause() {
        var limiter = RateLimiter(rate: 1000, now: 0)
        _ = limiter.pay(1, now: 0)
        let later = 3600 * second
        let place = limiter.pay(1100, now: later)
        #expect((0.99...1.01).contains(limiter.wait(for: place, now: later)))
    }

    @Test("makes nobody wait while there is none") func none() {
        var limiter = RateLimiter(rate: nil, now: 0)
        let place = limiter.pay(1 << 40, now: 0)
        #expect(limiter.wait(for: place, now: 0) == 0)
        limiter.change(to: 1000, now: second)
        #expect(limiter.wait(for: place, now: second) == 0)
        let next = limiter.pay(1000, now: second)
        #expect((0.9...1).contains(limiter.wait(for: next, now: second)))
    }

    @Test("moves the whole line when it changes") func change() {
        var limiter = RateLimiter(rate: 10, now: 0)
        let place = limiter.pay(100_000, now: 0)
        #expect(limiter.wait(for: place, now: 0) == 10_000)
        limiter.change(to: 100_000, now: 0)
        #expect(limiter.wait(for: place, now: 0) == 1)
        limiter.change(to: nil, now: 0)
        #expect(limiter.wait(for: place, now: 0) == 0)
    }

    @Test("counts 0 as 1, and takes any instant and any number of bytes")
    func extremes() {
        var limiter = RateLimiter(rate: 0, now: .max)
        let place = limiter.pay(.max, now: .min)
        #expect(limiter.wait(for: place, now: .min).isFinite)
        limiter.change(to: .max, now: .max)
        for _ in 0..<100 { _ = limiter.pay(.max, now: .max) }
        #expect(limiter.wait(for: .infinity, now: .max) > 0)
        limiter.change(to: 0, now: 0)
        #expect(limiter.wait(for: -1, now: .min) == 0)
    }

    @Test(
        "is read in pieces that a twentieth of a second brings",
        arguments: [
            (nil, 524_288), (UInt64(1), 1024), (1024, 1024), (20_480, 1024), (20_500, 1025),
            (1 << 20, 52_428),
            (UInt64.max, 524_288),
        ] as [(UInt64?, Int)])
    func pieces(rate: UInt64?, size: Int) {
        #expect(RateLimiter.readSize(rate: rate, most: 524_288) == size)
        #expect(RateLimiter.readSize(rate: rate, most: 1) == 1)
    }
}
