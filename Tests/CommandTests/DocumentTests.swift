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

    @Test("help lists the commands", arguments: ["sync", "status", "path", "plan"])
    func help(_ command: String) throws {
        let all = try Program.run(["--help"])
        #expect(all.code == 0, "\(all)")
        #expect(all.output.contains(command))
        let one = try Program.run([command, "--help"])
        #expect(one.code == 0, "\(one)")
        #expect(one.output.contains("--cache"))
    }
}
