internal import Posix
internal import TestOrigin
internal import Testing

/// A run is killed as it enters a system call that changes the disk, at each one in turn; whatever it left, the next
/// run ends well.
@Suite("Killed at a system call", .scratch, .enabled(if: Tracer.isThere))
struct SystemCallKillTests {
    /// The calls that a run changes the disk by, and SQLite's below it.
    static let calls = [
        "renameat", "fsync", "fdatasync", "syncfs", "ftruncate", "unlinkat", "mkdir,mkdirat", "fchmod",
        "pwrite64", "openat",
    ]
    /// Deaths by one call; where there are more, they are spread.
    private static let deaths = 12

    @Test("the rerun has every byte, and nothing is left over", .timeLimit(.minutes(10)), arguments: calls)
    func killed(_ call: String) throws {
        let mirror = try SmallMirror()
        let whole = try countCalls(call, mirror)
        // What a run never calls need not be survived.
        guard whole > 0 else { return }
        var deaths = 0
        for number in Set((0..<Self.deaths).map { 1 + $0 * whole / Self.deaths }).sorted() {
            let place: Comment = "\(call), call \(number) of \(whole)"
            let killed = try run(mirror, "signal=KILL:when=\(number)", call)
            // How the threads share the calls is not the same each time.
            #expect(killed == 128 + 9 || killed == 0, place)
            if killed != 0 { deaths += 1 }
            try mirror.expectRight(Program.cache, place)
            let rerun = try Program.sync(mirror.urls)
            #expect(rerun.code == 0, "\(place.rawValue): \(rerun)")
            #expect(rerun.errors.isEmpty, place)
            try mirror.expectWhole(Program.cache, place)
        }
        #expect(deaths > 0)
    }

    @Test("a second death in the recovery from the first changes nothing", .timeLimit(.minutes(10)))
    func killedTwice() throws {
        let mirror = try SmallMirror()
        for second in 1...6 {
            let place: Comment = "recovery killed at call \(second)"
            // Before the first file has its name, when all of them may be ready.
            _ = try run(mirror, "signal=KILL:when=2", "renameat")
            let words = Tracer.words("renameat,unlinkat,fsync", inject: "signal=KILL:when=\(second)")
            _ = try Program.sync(under: words, mirror.urls)
            let rerun = try Program.sync(mirror.urls)
            #expect(rerun.code == 0, "\(place.rawValue): \(rerun)")
            try mirror.expectWhole(Program.cache, place)
        }
    }

    /// Runs into a cache of its own, made anew.
    private func run(_ mirror: SmallMirror, _ injection: String, _ calls: String) throws -> Int32? {
        let removal = Child.run("/bin/rm", ["-rf", Program.cache])
        try #require(removal.code == 0, "\(removal)")
        return try Program.sync(under: Tracer.words(calls, inject: injection), mirror.urls).code
    }

    /// How often the busiest thread of an undisturbed run calls it.
    private func countCalls(_ call: String, _ mirror: SmallMirror) throws -> Int {
        let log = scratch("calls")
        let outcome = try Program.sync(under: Tracer.words(logging: call, to: log), mirror.urls)
        try #require(outcome.code == 0, "\(outcome)")
        try mirror.expectWhole()
        return Dictionary(grouping: try Tracer.calls(in: log), by: \.thread).values.map(\.count).max() ?? 0
    }
}
