internal import Posix
internal import Testing

@Suite("The local time")
struct LocalTimeTests {
    @Test(
        "is date(1)'s", arguments: [Int64(0), 1_767_225_599, 1_774_746_000, 1_792_890_000, -1, 4_000_000_000])
    func minute(wall: Int64) throws {
        var environment = ["PATH": "/usr/bin:/bin"]
        if let zone = environmentValue("TZ") { environment["TZ"] = zone }
        let outcome = Child.run(
            "/bin/date", ["-d", "@\(wall)", "+%H %M"], environment: environment, folder: "/tmp")
        let parts = outcome.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(parts.count == 2, "\(outcome)")
        #expect(localMinute(of: wall) == parts[0] * 60 + parts[1])
    }
}
