import Foundation
import Posix
import Storage
import Testing

@Suite struct ManifestFileTests {
    private func failure(_ path: String, stop: Stop? = nil) -> ManifestError? {
        do throws(ManifestError) {
            var reader = try ManifestReader(path: path, stop: stop)
            while try reader.next(limit: 10, problems: { Issue.record("\($0)") }) != nil {}
            return nil
        } catch {
            return error
        }
    }

    @Test func aFileIsRead() throws {
        let file = try TemporaryFile("http://h.test/a\nhttp://h.test/b".utf8)
        var problems: [ManifestProblem] = []
        let found = try drain(ManifestReader(path: file.path), &problems)
        #expect(found.map(\.place.description) == ["\(file.path):1", "\(file.path):2"])
        #expect(problems.isEmpty)
    }

    @Test func nothingThereIsUnreadable() {
        let path = "/nonexistent/syncagent.txt"
        guard case .unreadable(path, let error) = failure(path) else {
            Issue.record("no error")
            return
        }
        #expect(error.isMissing)
    }

    @Test func aFolderIsNamedAsOne() {
        #expect(failure("/") == .isFolder("/"))
    }

    @Test func anEmptyDeviceIsAnEmptyManifest() {
        #expect(failure("/dev/null") == nil)
    }

    @Test func aRaisedStopEndsIt() throws {
        let file = try TemporaryFile("http://h.test/a\n".utf8)
        let stop = try Stop()
        stop.raise()
        #expect(failure(file.path, stop: stop) == .stopped(file.path))
    }

    @Test func aFIFOWaitsForItsWriter() async throws {
        let fifo = try FIFO()
        // The writer comes whenever it comes: open(2) waits for the reader, and the reader for it.
        let writer = Thread { [path = fifo.path] in
            let output = open(path, O_WRONLY)
            for text in ["http://h.test/a\nhttp://h.", "test/b\n"] {
                _ = write(output, text, text.utf8.count)
            }
            close(output)
        }
        writer.start()
        var problems: [ManifestProblem] = []
        let found = try drain(ManifestReader(path: fifo.path), &problems)
        #expect(found.map(\.written) == ["http://h.test/a", "http://h.test/b"])
    }

    @Test func aStopEndsTheWaitForAWriter() throws {
        let fifo = try FIFO()
        let stop = try Stop()
        let raiser = Thread { stop.raise() }
        raiser.start()
        #expect(failure(fifo.path, stop: stop) == .stopped(fifo.path))
    }
}

/// A FIFO that goes with its owner.
private final class FIFO {
    let path = NSTemporaryDirectory() + "/syncagent-" + UUID().uuidString

    init() throws { try #require(mkfifo(path, 0o600) == 0) }

    deinit { unlink(path) }
}
