internal import Posix
internal import TestOrigin
internal import Testing

@Suite("The order of durability", .scratch, .enabled(if: Tracer.isThere))
struct DurabilityOrderTests {
    private static let calls = "pwrite64,write,fsync,fdatasync,syncfs,renameat,ftruncate"

    @Test(
        "data, record, name, folder, record: each is on the disk before the next begins",
        arguments: [SmallMirror.sizes.count, 1])
    func order(_ files: Int) throws {
        let mirror = try SmallMirror()
        let log = scratch("calls")
        let urls = Array(mirror.urls.suffix(files))
        let outcome = try Program.sync(under: Tracer.words(logging: Self.calls, to: log), urls)
        try #require(outcome.code == 0, "\(outcome)")
        let calls = try Tracer.calls(in: log)
        let renames = calls.filter { $0.name == "renameat" && $0.text.contains("/partial>, ") }
        #expect(renames.count == files)
        for rename in renames {
            let words = rename.text.split(separator: "\"", omittingEmptySubsequences: false)
            let partial = String(try #require(words.dropFirst().first))
            func isAbout(_ call: Tracer.Call, _ path: String) -> Bool {
                call.text.contains("/.syncagent/\(path)>")
            }
            let lastWrite =
                calls.last { $0.name.contains("write") && isAbout($0, "partial/\(partial)") }?.end ?? -1
            #expect(lastWrite < rename.begin, "no byte comes after the name: \(partial)")

            let data = try #require(
                calls.first {
                    $0.begin > lastWrite && $0.end < rename.begin
                        && ($0.name == "syncfs"
                            || $0.name == "fdatasync" && isAbout($0, "partial/\(partial)"))
                }, "its bytes are not on the disk: \(partial)")
            let record = try #require(
                calls.first {
                    $0.begin > data.end && $0.end < rename.begin && $0.name == "pwrite64"
                        && isAbout($0, "state.db-wal")
                }, "nothing says that all bytes are there: \(partial)")
            _ = try #require(
                calls.first {
                    $0.begin > record.end && $0.end < rename.begin && $0.name.hasSuffix("sync")
                        && isAbout($0, "state.db-wal")
                }, "the record is not on the disk: \(partial)")
            let name = try #require(
                calls.first {
                    $0.begin > rename.end && $0.name == "fsync" && $0.text.contains("<\(Program.cache)>")
                }, "its name is not on the disk: \(partial)")
            _ = try #require(
                calls.first {
                    $0.begin > name.end && $0.name == "pwrite64" && isAbout($0, "state.db-wal")
                }, "nothing says that it is published: \(partial)")
        }
    }
}
