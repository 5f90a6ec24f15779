internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Open files", .scratch)
struct DescriptorTests {
    @Test("small files that wait for their names need no descriptors: 1,500 of them go through 128")
    func few() throws {
        let origin = try TestOrigin { $0.respond(200, [], Array($0.request.target.utf8)) }
        let urls = (0..<1500).map { "\(origin.url)/\($0)" }
        let child = try Child(
            "/usr/bin/prlimit",
            [
                "--nofile=128", Program.folder + "/syncagent", "sync", try Program.manifest(urls), "--cache",
                Program.cache, "--jobs", "16", "--per-host", "16",
            ], environment: Program.environment)
        let outcome = child.wait()
        #expect(outcome.code == 0, "\(outcome)")
        #expect(Program.finished.count == urls.count)
    }
}
