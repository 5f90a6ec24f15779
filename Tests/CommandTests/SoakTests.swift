internal import Testing

/// The short form of `make soak`.
@Suite("Soak", .scratch)
struct SoakTests {
    @Test("killed at any time, against an origin that does everything wrong, the cache is right")
    func short() throws {
        let outcome = Child.run(
            Program.folder + "/soak",
            ["--seconds", "15", "--seed", "7", "--entries", "200", "--folder", scratch("soak")],
            environment: Program.environment, seconds: 240)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output.hasPrefix("soak: nothing found"), "\(outcome)")
    }
}
