internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

/// Debian's tinyproxy on a free loopback port, with a folder of its own; it ends with the test.
final class Tinyproxy {
    let port: UInt16
    private let child: Child
    private let logPath = scratch("tinyproxy/log")

    /// Starts it; with a login, it wants to know who asks.
    init(user: String? = nil, password: String = "", settings: String = "") throws {
        let folder = scratch("tinyproxy")
        var started: (Child, UInt16)?
        // The port is free when it is chosen, and may be taken when it is bound.
        for _ in 0..<5 where started == nil {
            let port = try refusingPort()
            try write(
                """
                Port \(port)
                Listen 127.0.0.1
                Allow 127.0.0.1
                Timeout 60
                MaxClients 20
                LogLevel Connect
                LogFile "\(folder)/log"
                PidFile "\(folder)/pid"
                \(user.map { "BasicAuth \($0) \(password)" } ?? "")
                \(settings)

                """, to: folder + "/tinyproxy.conf")
            let child = try Child(
                "/usr/bin/setpriv",
                ["--pdeathsig", "KILL", "tinyproxy", "-d", "-c", folder + "/tinyproxy.conf"],
                environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
            // It writes its process id once it listens.
            let isUp = eventually { () -> Bool? in
                if let size = size(of: folder + "/pid"), size > 0 { return true }
                return child.isRunning ? nil : false
            }
            if isUp == true { started = (child, port) }
        }
        (child, port) = try #require(started, "tinyproxy does not start; .ci/setup test installs it")
    }

    deinit {
        child.kill(SIGTERM)
        _ = child.wait(seconds: 10)
    }

    /// The request lines that it has seen, such as `CONNECT 127.0.0.1:443 HTTP/1.1`.
    func requests() throws -> [String] {
        String(decoding: try contents(of: logPath) ?? [], as: UTF8.self).split(separator: "\n").compactMap {
            line in
            guard let mark = line.firstRange(of: "Request (file descriptor ") else { return nil }
            return line[mark.upperBound...].split(separator: ": ", maxSplits: 1).last.map(String.init)
        }
    }
}
