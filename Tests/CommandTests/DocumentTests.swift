internal import TestOrigin
internal import Testing

/// What the documents tell users to type.
@Suite("Documents", .scratch)
struct DocumentTests {
    @Test("the manifests that come with the program are good", arguments: ["demo.txt", "sources.txt"])
    func manifests(_ name: String) throws {
        let path = "\(Program.root)/Manifests/\(name)"
        let outcome = try Program.run(["plan", path, "--cache", Program.cache])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(!outcome.output.isEmpty)
        #expect(outcome.errors.isEmpty)
    }

    @Test("openssl finds the file of a URL")
    func findByHash() throws {
        let origin = try TestOrigin { $0.respond(200, [], Array("fine".utf8)) }
        let url = "\(origin.url)/a%20b.tar.gz?c=d#e"
        #expect(try Program.sync([url]).code == 0)
        let hash = Child.run(
            "/bin/sh", ["-c", "printf %s \"$URL\" | openssl md5 -r | cut -c1-32"],
            environment: ["URL": url, "PATH": "/usr/bin:/bin"])
        #expect(Program.finished == [hash.output.prefix(32) + ".gz"])
    }

    @Test("help lists the commands", arguments: ["sync", "status", "path", "plan", "config"])
    func help(_ command: String) throws {
        let all = try Program.run(["--help"])
        #expect(all.code == 0, "\(all)")
        #expect(all.output.contains(command))
        let one = try Program.run([command, "--help"])
        #expect(one.code == 0, "\(one)")
        #expect(one.output.contains("--cache"))
    }

    @Test("systemd takes the units")
    func units() throws {
        let verifier = "/usr/bin/systemd-analyze"
        guard size(of: verifier) != nil else { return }
        for name in ["syncagent.service", "syncagent.timer"] {
            let text = String(
                decoding: try contents(of: "\(Program.root)/config/\(name)") ?? [], as: UTF8.self)
            // It looks whether the program is there.
            let parts = text.split(separator: "/usr/local/bin/syncagent", omittingEmptySubsequences: false)
            try write(parts.joined(separator: Program.folder + "/syncagent"), to: scratch(name))
        }
        let outcome = Child.run(
            verifier, ["verify", "--man=no", scratch("syncagent.service"), scratch("syncagent.timer")],
            environment: Program.environment)
        #expect(outcome.code == 0, "\(outcome)")
        let own = outcome.errors.split(separator: "\n").filter { $0.contains("syncagent") }
        #expect(own.isEmpty, "\(own)")
    }

    @Test("logrotate takes its file")
    func rotation() throws {
        let program = "/usr/sbin/logrotate"
        guard size(of: program) != nil else { return }
        let text = try contents(of: Program.root + "/config/logrotate") ?? []
        try write(text, to: scratch("logrotate"))
        let outcome = Child.run(
            program, ["--debug", "--state", scratch("state"), scratch("logrotate")],
            environment: Program.environment)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(!outcome.errors.contains("error:"), "\(outcome)")
    }

    @Test("the options of the units and of the crontab line exist")
    func options() throws {
        let help = try Program.run(["sync", "--help"]).output
        for name in ["syncagent.service", "crontab"] {
            let text = String(
                decoding: try contents(of: "\(Program.root)/config/\(name)") ?? [], as: UTF8.self)
            let lines = text.split(separator: "\n").filter {
                $0.contains("/syncagent sync") && !$0.hasPrefix("#")
            }
            #expect(lines.count == 1, "\(name)")
            for word in lines.joined(separator: " ").split(separator: " ") where word.hasPrefix("--") {
                #expect(help.contains("  \(word) ") || help.contains(" \(word)\n"), "\(word)")
            }
        }
    }
}
