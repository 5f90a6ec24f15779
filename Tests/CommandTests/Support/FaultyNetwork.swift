internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

/// Two machines with a cable between them: `syncagent` runs on one, a server with many addresses on the other.
///
/// The addresses are those for documentation (RFC 5737, RFC 3849), and no packet leaves the two namespaces.
final class FaultyNetwork {
    /// Where the server listens, and where nobody's program does but the machine answers.
    static let address = "192.0.2.2"
    static let addressSix = "2001:db8::2"
    /// An address of the server that the tests make deaf.
    static let deaf = "192.0.2.3"
    static let url = "http://\(address)"

    let client: NetworkNamespace
    private(set) var server: NetworkNamespace
    private var origin: Child?
    private let rate: Int

    /// The folder that is served.
    let files = scratch("files")
    private let logPath = scratch("origin.log")

    /// - Parameters:
    ///   - hosts: names with their addresses, in the form of hosts(5).
    ///   - resolver: resolv.conf(5); without a line nobody is asked.
    ///   - rate: bytes a second of each answer, so that a transfer has a middle.
    init(hosts: [String] = [], resolver: String = "", rate: Int = 4_000_000) throws {
        client = try NetworkNamespace(etc: [
            "hosts": (["127.0.0.1 localhost"] + hosts).map { $0 + "\n" }.joined(),
            "resolv.conf": resolver + "\n",
            "nsswitch.conf": "hosts: files dns\n",
        ])
        server = try NetworkNamespace()
        self.rate = rate
        try write("", to: files + "/.keep")
        try client.ip("link", "add", "near", "type", "veth", "peer", "name", "far", "netns", server.name)
        try client.ip("address", "add", "192.0.2.1/24", "dev", "near")
        try client.ip("address", "add", "2001:db8::1/64", "dev", "near", "nodad")
        try client.ip("link", "set", "near", "up")
        try connect()
        // Kernels answer one packet a second that there is no program at a port (icmp(7)): a name service that is not
        // there would seem silent.
        let limit = try server.start("/bin/sh", ["-c", "echo 0 > /proc/sys/net/ipv4/icmp_ratelimit"])
        _ = limit.wait(seconds: 10)
        try serve()
    }

    deinit {
        origin?.kill(SIGKILL)
        _ = origin?.wait(seconds: 10)
    }

    /// Gives the server's end of the cable its addresses.
    private func connect() throws {
        for address in [Self.address, Self.deaf] {
            try server.ip("address", "add", address + "/24", "dev", "far")
        }
        try server.ip("address", "add", Self.addressSix + "/64", "dev", "far", "nodad")
        try server.ip("link", "set", "far", "up")
    }

    private func serve() throws {
        let child = try server.start(
            "/usr/bin/setpriv",
            [
                "--pdeathsig", "KILL", Program.folder + "/demo-origin", "--host", "0.0.0.0", "--port", "80",
                "--folder", files, "--log", logPath, "--rate", "\(rate)",
            ])
        origin = child
        // It prints its port once it listens.
        let isUp = try eventually { () -> Bool? in
            if try contents(of: child.outputPath)?.isEmpty == false { return true }
            return child.isRunning ? nil : false
        }
        try #require(isUp == true, "the origin does not start: \(child.wait(seconds: 0))")
    }

    /// Pulls the cable out at the server's end: the client's interface stays up, without a carrier.
    func unplug() throws { try server.ip("link", "set", "far", "down") }

    /// Puts it back.
    func plug() throws { try server.ip("link", "set", "far", "up") }

    /// The server loses its power: nobody says goodbye to anybody.
    func crashServer() throws {
        try unplug()
        origin?.kill(SIGKILL)
        _ = origin?.wait(seconds: 10)
        origin = nil
        // Another machine at the same cable, which knows nothing of the connections of the first.
        let other = try NetworkNamespace()
        try server.ip("link", "set", "far", "netns", other.name)
        server = other
    }

    /// And is started anew.
    func restartServer() throws {
        try connect()
        try serve()
    }

    /// The requests that were answered or begun, as demo-origin writes them.
    func requests() throws -> [String] {
        String(decoding: try contents(of: logPath) ?? [], as: UTF8.self).split(separator: "\n")
            .map(String.init).filter { $0.hasPrefix("ask ") }
    }

    /// Starts to mirror these manifest lines into the test's cache.
    func startSync(_ lines: [String], _ options: [String] = []) throws -> Child {
        try client.start(
            Program.folder + "/syncagent",
            ["sync", try Program.manifest(lines), "--cache", Program.cache] + options)
    }

    /// Mirrors these manifest lines into the test's cache.
    func sync(_ lines: [String], _ options: [String] = [], seconds: Double = 60) throws -> Child.Outcome {
        try startSync(lines, options).wait(seconds: seconds)
    }

    /// Waits until a run has so many bytes in its only partial.
    func wait(for bytes: Int, of child: Child) throws {
        let came = eventually { () -> Bool? in
            if let size = partialSize, size >= bytes { return true }
            return child.isRunning ? nil : false
        }
        try #require(came == true, "\(child.wait(seconds: 0))")
    }

    /// Waits until a run has no connection that its kernel takes for established.
    func waitForGivingUp(_ child: Child) throws {
        let gone = try eventually { () -> Bool? in
            guard child.isRunning else { return true }
            let lines = try kernelText(of: "/proc/\(child.process)/net/tcp").split(separator: "\n")
                .dropFirst()
            // The fourth column is the state; 01 is ESTABLISHED (proc_pid_net(5)).
            return lines.contains { $0.split(separator: " ").dropFirst(3).first == "01" } ? nil : true
        }
        try #require(gone == true)
    }
}

/// The bytes of the largest partial; nil when there is none.
private var partialSize: Int? {
    Program.partials.compactMap { size(of: "\(Program.cache)/.syncagent/partial/\($0)") }.max()
}

/// The beginning of a file that the kernel makes up as it is read, so that it has no size; empty when it is gone.
private func kernelText(of path: String) throws -> String {
    let number = clinux_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)
    guard number >= 0 else { return "" }
    let file = Descriptor(owning: number, subject: path)
    let bytes = try [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
        count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
    }
    return String(decoding: bytes, as: UTF8.self)
}
