internal import Posix
internal import TestOrigin
internal import Testing

/// Short patience, so that a test need not wait long to see it end.
private let patience = ["--connect-timeout", "0.8", "--stall-timeout", "0.8", "--head-timeout", "1"]

@Suite(
    "Network loss", .serialized, .scratch,
    .enabled(if: NetworkNamespace.obstacle == nil, "\(NetworkNamespace.obstacle ?? "")"))
struct NetworkLossTests {
    private static let size = 6_000_000
    private static let body = pattern(seed: 91, count: size)
    private static let file = FaultyNetwork.url + "/large.iso"

    private func network() throws -> FaultyNetwork {
        let network = try FaultyNetwork()
        try write(Self.body, to: network.files + "/large.iso")
        return network
    }

    /// The file is here and right, and nothing else is.
    private func verify() throws {
        #expect(Program.finished == (try cacheNames(of: [Self.file])))
        let name = try #require(Program.finished.first)
        let isSame = try contents(of: "\(Program.cache)/\(name)") == Self.body
        #expect(isSame, "the file's bytes")
        #expect(Program.partials.isEmpty)
    }

    /// A run that ends with 75 soon after what happened, and another that goes on where it was.
    private func verifyEnd(of child: Child, in network: FaultyNetwork, mending mend: () throws -> Void) throws
    {
        let outcome = child.wait(seconds: 40)
        #expect(outcome.code == 75, "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count <= 3, "\(outcome)")
        #expect(Program.finished.isEmpty)
        try mend()
        let next = try network.sync([Self.file], patience)
        #expect(next.code == 0, "\(next)")
        try verify()
        let last = try #require(try network.requests().last)
        #expect(last.contains("range=bytes=") && last.contains("if-range="), "\(last)")
    }

    @Test("a cable pulled out in mid-transfer and put back")
    func cableReturns() throws {
        let network = try network()
        let child = try network.startSync([Self.file], ["--stall-timeout", "1", "--connect-timeout", "8"])
        try network.wait(for: 1_000_000, of: child)
        try network.unplug()
        try network.waitForGivingUp(child)
        try network.plug()
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        try verify()
        let requests = try network.requests()
        #expect(requests.count >= 2, "\(requests)")
        #expect(requests.last?.contains("range=bytes=") == true, "\(requests)")
    }

    @Test("a cable that stays out ends the run, and the next goes on")
    func cableStaysOut() throws {
        let network = try network()
        let child = try network.startSync([Self.file], patience)
        try network.wait(for: 1_000_000, of: child)
        try network.unplug()
        try verifyEnd(of: child, in: network) { try network.plug() }
    }

    @Test("an interface of our own that goes down, with all its routes")
    func interfaceDown() throws {
        let network = try network()
        let child = try network.startSync([Self.file], patience)
        try network.wait(for: 1_000_000, of: child)
        try network.client.ip("link", "set", "near", "down")
        try verifyEnd(of: child, in: network) { try network.client.ip("link", "set", "near", "up") }
    }

    @Test("an address of our own that changes in mid-transfer")
    func addressChanges() throws {
        let network = try network()
        let child = try network.startSync([Self.file], patience)
        try network.wait(for: 1_000_000, of: child)
        try network.client.ip("address", "del", "192.0.2.1/24", "dev", "near")
        try network.client.ip("address", "add", "192.0.2.77/24", "dev", "near")
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        try verify()
        #expect(try network.requests().last?.contains("range=bytes=") == true)
    }

    @Test("a black hole in mid-transfer ends the run, and the next goes on")
    func blackHole() throws {
        let network = try network()
        let child = try network.startSync([Self.file], patience)
        try network.wait(for: 1_000_000, of: child)
        try network.server.filter("chain out { type filter hook output priority 0; tcp sport 80 drop; }")
        try verifyEnd(of: child, in: network) { try network.server.filter() }
    }

    @Test("a server that loses its power and comes back")
    func halfOpen() throws {
        let network = try network()
        let child = try network.startSync([Self.file], patience)
        try network.wait(for: 1_000_000, of: child)
        try network.crashServer()
        try verifyEnd(of: child, in: network) { try network.restartServer() }
    }

    @Test("a server that loses its power and is back before anybody noticed")
    func quickRestart() throws {
        let network = try network()
        let child = try network.startSync([Self.file], patience)
        try network.wait(for: 1_000_000, of: child)
        try network.crashServer()
        try network.restartServer()
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        try verify()
        #expect(try network.requests().last?.contains("range=bytes=") == true)
    }

    @Test(
        "packets that get lost, and connections that are reset again and again",
        arguments: [
            // Of all packets of the server.
            "chain out { type filter hook output priority 0; tcp sport 80 numgen random mod 100 < 5 drop; }",
            // Of all packets to the server; the client gets the reset.
            "chain in { type filter hook input priority 0; tcp dport 80 numgen random mod 1000 < 15 reject with tcp reset; }",
            // Both, and the client's own as well.
            """
            chain out { type filter hook output priority 0; tcp sport 80 numgen random mod 100 < 2 drop; }
            chain in { type filter hook input priority 0; tcp dport 80 numgen random mod 1000 < 10 reject with tcp reset;
                tcp dport 80 numgen random mod 100 < 3 drop; }
            """,
        ])
    func storms(_ chains: String) throws {
        let network = try network()
        try network.server.filter(chains)
        var codes: [Int32?] = []
        while codes.count < 12 && codes.last != 0 {
            let outcome = try network.sync([Self.file], patience)
            #expect(outcome.code == 0 || outcome.code == 75, "\(outcome)")
            codes.append(outcome.code)
        }
        #expect(codes.last == 0, "\(codes)")
        try verify()
    }

    @Test("a host that drops every SYN delays only its own entries")
    func deadHost() throws {
        let network = try FaultyNetwork(hosts: [
            "\(FaultyNetwork.deaf) dead.test", "\(FaultyNetwork.address) one.test two.test",
        ])
        try network.server.filter(
            "chain in { type filter hook input priority 0; ip daddr \(FaultyNetwork.deaf) tcp flags syn drop; }"
        )
        for number in 0..<60 { try write("file \(number)", to: "\(network.files)/\(number)") }
        // More than wait at once, and before all others.
        let dead = (0..<3000).map { "http://dead.test/\($0)" }
        let live = (0..<60).map { "http://\($0 % 2 == 0 ? "one" : "two").test/\($0)" }
        let child = try network.startSync(dead + live, ["--connect-timeout", "50"])
        let came = eventually { () -> Bool? in
            if Program.finished.count == live.count { return true }
            return child.isRunning ? nil : false
        }
        #expect(came == true)
        #expect(child.isRunning, "the first attempt at the dead host is still undecided")
        child.kill(15)
        let outcome = child.wait()
        #expect(outcome.code == 75, "\(outcome)")
        #expect(Program.finished.count == live.count)
    }

    @Test("several dead hosts are no dead network while another host answers")
    func deadHostsBesideLive() throws {
        let hosts = (0..<6).map { "\(FaultyNetwork.deaf) dead\($0).test" }
        let network = try FaultyNetwork(hosts: hosts, rate: 1_000_000)
        try network.server.filter(
            "chain in { type filter hook input priority 0; ip daddr \(FaultyNetwork.deaf) tcp flags syn drop; }"
        )
        // One large file over one connection, which takes longer than the dead hosts, and files after it.
        try write(Self.body, to: network.files + "/large.iso")
        for number in 0..<20 { try write("file \(number)", to: "\(network.files)/\(number)") }
        let live = [Self.file] + (0..<20).map { "\(FaultyNetwork.url)/\($0)" }
        let outcome = try network.sync(
            (0..<6).map { "http://dead\($0).test/a" } + live,
            ["--connect-timeout", "0.5", "--per-host", "1", "--retries", "1"])
        #expect(outcome.code == 75, "\(outcome)")
        #expect(!outcome.errors.contains("offline"), "\(outcome)")
        #expect(Program.finished.count == live.count, "\(outcome)")
    }

    @Test("dead hosts at the head of the manifest do not keep later runs from the others")
    func deadHostsFirst() throws {
        let hosts = (0..<12).map { "\(FaultyNetwork.deaf) dead\($0).test" }
        let network = try FaultyNetwork(hosts: hosts)
        try network.server.filter(
            "chain in { type filter hook input priority 0; ip daddr \(FaultyNetwork.deaf) tcp flags syn drop; }"
        )
        for number in 0..<20 { try write("file \(number)", to: "\(network.files)/\(number)") }
        let live = (0..<20).map { "\(FaultyNetwork.url)/\($0)" }
        let lines = (0..<12).flatMap { host in (0..<20).map { "http://dead\(host).test/\($0)" } } + live
        // Each run that takes itself for offline has met three dead hosts more, at the least.
        var runs = 0
        while runs < 6 && Program.finished.count < live.count {
            let outcome = try network.sync(lines, ["--connect-timeout", "0.5", "--retries", "1"])
            #expect(outcome.code == 75, "\(outcome)")
            runs += 1
        }
        #expect(Program.finished.count == live.count, "\(runs) runs")
    }

    @Test("hosts without a route are no dead network while there is a route to others")
    func noRouteToHosts() throws {
        let hosts = (0..<4).map { "2001:db8:9::1 six\($0).test" }
        let network = try FaultyNetwork(hosts: hosts)
        try network.client.ip("route", "add", "default", "via", FaultyNetwork.address)
        try write("file", to: network.files + "/a")
        let live = "\(FaultyNetwork.url)/a"
        let outcome = try network.sync(
            (0..<4).map { "http://six\($0).test/a" } + [live], ["--jobs", "1", "--retries", "0"])
        #expect(outcome.code == 75, "\(outcome)")
        #expect(!outcome.errors.contains("offline"), "\(outcome)")
        #expect(Program.finished == (try cacheNames(of: [live])))
    }

    @Test("an IPv6 address that drops every SYN is no obstacle when an IPv4 address answers")
    func happyEyeballs() throws {
        let network = try FaultyNetwork(hosts: [
            "\(FaultyNetwork.addressSix) both.test", "\(FaultyNetwork.address) both.test",
        ])
        try network.server.filter(
            "chain in { type filter hook input priority 0; ip6 daddr \(FaultyNetwork.addressSix) tcp flags syn drop; }"
        )
        try write("file", to: network.files + "/a")
        let began = Instant.now
        let outcome = try network.sync(["http://both.test/a"], ["--connect-timeout", "20"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(Instant.now.seconds(since: began) < 10, "well before the first address is given up")
        #expect(try cacheNames(of: ["http://both.test/a"]) == Program.finished)
    }
}
