internal import CLinux
internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Bad input", .scratch)
struct BadInputTests {
    struct BadManifest: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        let code: Int32
    }

    static let manifests = [
        BadManifest(testDescription: "empty", bytes: [], code: 0),
        BadManifest(testDescription: "blanks and comments", bytes: Array("\n  \n# nothing\n".utf8), code: 0),
        BadManifest(testDescription: "binary", bytes: pattern(seed: 3, count: 4096), code: 65),
        BadManifest(
            testDescription: "UTF-16", bytes: [0xFF, 0xFE] + "http://a/\n".utf8.flatMap { [$0, 0] }, code: 65),
        BadManifest(
            testDescription: "an aria2 configuration",
            bytes: Array("dir=/tmp\ncontinue=true\nsplit=5\n".utf8),
            code: 65),
    ]

    @Test("a manifest without an entry", arguments: manifests)
    func manifest(_ manifest: BadManifest) throws {
        try write(manifest.bytes, to: scratch("list"))
        let outcome = try Program.run(["sync", scratch("list"), "--cache", Program.cache])
        #expect(outcome.code == manifest.code, "\(outcome)")
        #expect(outcome.output.isEmpty)
        if manifest.code == 0 {
            #expect(outcome.errors.isEmpty)
        } else {
            expectSentence(outcome, about: "list")
        }
    }

    @Test("a manifest that is missing")
    func missing() throws {
        let outcome = try Program.run(["sync", scratch("missing.txt"), "--cache", Program.cache])
        #expect(outcome.code == 66, "\(outcome)")
        expectSentence(outcome, about: "missing.txt")
    }

    @Test("a manifest that is a folder")
    func folder() throws {
        let outcome = try Program.run(["sync", ScratchFolder.path, "--cache", Program.cache])
        #expect(outcome.code == 66, "\(outcome)")
        expectSentence(outcome, about: ScratchFolder.path)
    }

    @Test("a cache that is a file")
    func cacheIsFile() throws {
        try write("x", to: Program.cache)
        let outcome = try Program.sync(["http://127.0.0.1:1/a"])
        #expect(outcome.code == 73, "\(outcome)")
        expectSentence(outcome, about: Program.cache)
        #expect(try contents(of: Program.cache) == Array("x".utf8))
    }

    @Test(
        "usage that is wrong",
        arguments: [
            (["sync", "--jbos", "3", "m"], "--jobs"), (["snyc", "m"], "sync"),
            (["sync", "--jobs", "many", "m"], "many"),
            (["sync", "--jobs"], "--jobs"), (["sync"], "MANIFEST"), (["stauts"], "status"),
        ])
    func usage(_ arguments: [String], _ mentioned: String) throws {
        let outcome = try Program.run(arguments)
        #expect(outcome.code == 64, "\(outcome)")
        expectSentence(outcome, about: mentioned)
    }

    @Test("a bad line is named with its place and stops no other, and the run ends with 1")
    func badLine() throws {
        let origin = try TestOrigin { $0.respond(200, [], Array("fine".utf8)) }
        let outcome = try Program.sync(["\(origin.url)/a b.txt", "\(origin.url)/good.txt"])
        #expect(outcome.code == 1, "\(outcome)")
        #expect(outcome.errors.contains("manifest.txt:1: "))
        #expect(origin.log.map(\.target) == ["/good.txt"])
        #expect(Program.finished.count == 1)
    }

    @Test("with --strict a bad line ends the run before any transfer")
    func strict() throws {
        let origin = try TestOrigin { $0.respond(200, [], Array("fine".utf8)) }
        let outcome = try Program.sync(["\(origin.url)/good.txt", "\(origin.url)/a b.txt"], ["--strict"])
        #expect(outcome.code == 65, "\(outcome)")
        #expect(origin.log.isEmpty)
    }

    @Test("a cache that another run holds")
    func locked() throws {
        let origin = try TestOrigin { $0.stall() }
        let first = try Program.startSync(["\(origin.url)/a"])
        #expect(origin.wait { !$0.isEmpty })
        let second = try Program.sync(["\(origin.url)/a"])
        #expect(second.code == 75, "\(second)")
        #expect(second.errors.isEmpty, "a timer that comes too early is no reason for a mail")
        first.kill(SIGKILL)
        _ = first.wait()
        #expect(origin.log.count == 1)
    }

    @Test("a manifest comes from stdin as well")
    func standardInput() throws {
        let origin = try TestOrigin { $0.respond(200, [], Array("fine".utf8)) }
        let path = try Program.manifest(["\(origin.url)/a.txt"])
        let outcome = try Program.run(["sync", "-", "--cache", Program.cache], input: path)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(Program.finished == (try cacheNames(of: ["\(origin.url)/a.txt"])))
    }

    private func expectSentence(_ outcome: Child.Outcome, about subject: String) {
        #expect(outcome.errors.hasPrefix("syncagent: "), "\(outcome)")
        #expect(outcome.errors.contains(subject), "\(outcome)")
        #expect(outcome.errors.utf8.count < 4096)
    }
}
