internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

/// Debian's nginx on a free loopback port, with a folder of its own; it ends with the test.
final class Nginx {
    /// A line of the access log.
    struct Access: Equatable {
        let method: String
        let target: String
        let status: Int
        /// Bytes of the body that the kernel took.
        let sent: Int
        /// nil when the field was not sent.
        let range: String?
        let ifRange: String?
        let connection: String
    }

    /// The folder that is served.
    let files = scratch("nginx/files")
    /// Scheme, host and port.
    let url: String
    private let child: Child
    private let logPath = scratch("nginx/access.log")

    /// Starts it; `settings` go into the server block, `listening` after the address.
    init(settings: String = "", listening: String = "", authority: Authority? = nil) throws {
        let folder = scratch("nginx")
        try write("", to: files + "/.keep")
        var started: (Child, UInt16)?
        // The port is free when it is chosen, and may be taken when nginx binds it.
        for _ in 0..<5 where started == nil {
            let port = try refusingPort()
            try write(
                Nginx.configuration(folder, port, settings, listening, authority), to: folder + "/nginx.conf")
            let child = try Child(
                "/usr/bin/setpriv",
                [
                    "--pdeathsig", "KILL", "nginx", "-p", folder, "-e", "error.log", "-c",
                    folder + "/nginx.conf",
                ],
                environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
            // It writes its process id once it listens.
            let isUp = eventually { () -> Bool? in
                if let size = size(of: folder + "/pid"), size > 0 { return true }
                return child.isRunning ? nil : false
            }
            if isUp == true { started = (child, port) }
        }
        let (child, port) = try #require(started, "nginx does not start: \(Nginx.errors(folder))")
        self.child = child
        url = "\(authority == nil ? "http" : "https")://127.0.0.1:\(port)"
    }

    deinit {
        // The master tells its worker; a killed one would leave it behind.
        child.kill(SIGTERM)
        _ = child.wait(seconds: 10)
    }

    /// The log so far; nginx writes a line when a request ends.
    func log() throws -> [Access] {
        String(decoding: try contents(of: logPath) ?? [], as: UTF8.self).split(separator: "\n").compactMap {
            line in
            let words = line.split(separator: " ")
            guard words.count == 7, let status = Int(words[2]), let sent = Int(words[3]) else { return nil }
            let optional = { (word: Substring) in word == "-" ? nil : String(word) }
            return Access(
                method: String(words[0]), target: String(words[1]), status: status, sent: sent,
                range: optional(words[4]), ifRange: optional(words[5]), connection: String(words[6]))
        }
    }

    private static func errors(_ folder: String) -> String {
        do {
            return String(decoding: try contents(of: folder + "/error.log") ?? [], as: UTF8.self)
        } catch {
            return "\(error)"
        }
    }

    private static func configuration(
        _ folder: String, _ port: UInt16, _ settings: String, _ listening: String, _ authority: Authority?
    ) -> String {
        let tls = authority.map {
            """
            ssl_certificate \($0.serverCertificate);
            ssl_certificate_key \($0.serverKey);
            ssl_protocols TLSv1.3;
            """
        }
        return """
            daemon off;
            \(getuid() == 0 ? "user root;" : "")
            worker_processes 1;
            pid \(folder)/pid;
            error_log \(folder)/error.log;
            events { worker_connections 256; }
            http {
                log_format words escape=json '$request_method $request_uri $status $body_bytes_sent $range $if_range $connection';
                map $http_range $range { "" "-"; default $http_range; }
                map $http_if_range $if_range { "" "-"; default $http_if_range; }
                access_log \(folder)/access.log words;
                client_body_temp_path \(folder)/temp1;
                proxy_temp_path \(folder)/temp2;
                fastcgi_temp_path \(folder)/temp3;
                uwsgi_temp_path \(folder)/temp4;
                scgi_temp_path \(folder)/temp5;
                server {
                    listen 127.0.0.1:\(port) \(authority == nil ? "" : "ssl") \(listening);
                    root \(folder)/files;
                    \(tls ?? "")
                    \(settings)
                }
            }
            """
    }
}
