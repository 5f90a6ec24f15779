internal import Posix
internal import TestOrigin
internal import Testing

/// A network that is not there, and how a run finds it so.
private struct Absence: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Of all the entries, in turn.
    let hosts: [String]
    let resolver: String
    let options: [String]
    /// ip(8)'s words about the client, one command a line.
    let changes: [String]

    init(
        _ description: String, _ hosts: [String], resolver: String = "", options: [String] = [],
        changes: [String] = []
    ) {
        testDescription = description
        self.hosts = hosts
        self.resolver = resolver
        self.options = options
        self.changes = changes
    }
}

private let names = (0..<40).map { "host\($0).test" }
private let addresses = ["192.0.2.2", "192.0.2.3", "198.51.100.1", "203.0.113.9"]

private let absences = [
    Absence("no interface", addresses, changes: ["link set near down"]),
    Absence("no interface, and one host", ["192.0.2.2"], changes: ["link set near down"]),
    Absence("no route to anybody", ["198.51.100.1", "198.51.100.2", "203.0.113.9"]),
    Absence("no route to the name service", names, resolver: "nameserver 203.0.113.53"),
    Absence("no program at the name service", names, resolver: "nameserver 192.0.2.2"),
    Absence("no name service named", names),
    Absence(
        "no answer from the name service", names, resolver: "nameserver \(FaultyNetwork.deaf)",
        options: ["--connect-timeout", "1"]),
    Absence(
        "no answer from the name service about one host", ["host.test"],
        resolver: "nameserver \(FaultyNetwork.deaf)", options: ["--connect-timeout", "1"]),
    Absence(
        "no answer from anybody", (20..<40).map { "192.0.2.\($0)" }, options: ["--connect-timeout", "1"]),
]

@Suite(
    "Offline", .serialized, .scratch,
    .enabled(if: NetworkNamespace.obstacle == nil, "\(NetworkNamespace.obstacle ?? "")"))
struct OfflineTests {
    @Test("10,000 entries without a network end within seconds, in one line", arguments: absences)
    fileprivate func fromTheStart(_ absence: Absence) throws {
        let network = try FaultyNetwork(resolver: absence.resolver)
        try network.server.filter(
            "chain in { type filter hook input priority 0; ip daddr \(FaultyNetwork.deaf) drop; }")
        for change in absence.changes {
            try network.client.ip(words: change.split(separator: " ").map(String.init))
        }
        let lines = (0..<10_000).map { "http://\(absence.hosts[$0 % absence.hosts.count])/\($0).bin" }
        let began = Instant.now
        let outcome = try network.sync(lines, absence.options, seconds: 60)
        let seconds = Instant.now.seconds(since: began)
        #expect(outcome.code == 75, "\(outcome)")
        #expect(try seconds < 5 || seconds < 5 + readingTime(lines), "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome)")
        #expect(outcome.errors.contains("offline"), "\(outcome)")
        #expect(outcome.errors.contains("10000"), "\(outcome)")
        #expect(Program.finished.isEmpty)
    }

    /// Seconds that so many entries take on a machine that is slow today: those of the command that asks the network
    /// nothing.
    private func readingTime(_ lines: [String]) throws -> Double {
        let began = Instant.now
        _ = try Program.run(["plan", try Program.manifest(lines), "--cache", Program.cache])
        return Instant.now.seconds(since: began)
    }
}
