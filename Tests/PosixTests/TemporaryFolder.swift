import Foundation
import Posix
import Testing

/// A fresh folder that goes with the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/syncagent-posix-" + randomHex(bytes: 8)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            Issue.record("cannot remove \(path): \(error)")
        }
    }

    func open() throws -> Folder { try Folder(opening: path) }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }

    func text(of name: String) throws -> String {
        try String(decoding: Data(contentsOf: URL(fileURLWithPath: path + "/" + name)), as: UTF8.self)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: path + "/" + name, withDestinationPath: target)
    }

    func makeFIFO(_ name: String) throws { try #require(mkfifo(path + "/" + name, 0o600) == 0) }

    func mode(of name: String) throws -> UInt32 {
        let status = try open().status(of: name)
        return try #require(status).mode
    }
}

extension Descriptor {
    borrowing func write(_ text: String, at offset: UInt64) throws {
        try Array(text.utf8).withUnsafeBytes { try write(all: $0, at: offset) }
    }

    borrowing func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write(all: $0) }
    }

    /// What one read gives.
    borrowing func readText(_ limit: Int, at offset: UInt64) throws -> String {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Reads to the end of the stream.
    borrowing func readAll() throws -> [UInt8] {
        var all: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 10_000)
        while true {
            let count = try bytes.withUnsafeMutableBytes { try read(into: $0) }
            if count == 0 { return all }
            all += bytes[..<count]
        }
    }
}

/// The code of the system error that a body throws; nil when it throws none.
func errorCode(_ body: () throws -> Void) -> Int32? {
    do {
        try body()
        return nil
    } catch {
        return (error as? SystemError)?.code
    }
}

extension Instant {
    /// When something that must happen should have happened long since.
    static var late: Instant { now.advanced(bySeconds: 60) }
}

/// A pipe; one thread at a time has its writing end.
final class TestPipe: @unchecked Sendable {
    let reader: Descriptor
    let writerNumber: Int32
    private(set) var writer: Descriptor?

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        // A writing end that a child of another test inherited would keep the end from coming.
        for end in ends { try #require(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
        writerNumber = ends[1]
        reader = Descriptor(owning: ends[0], subject: "pipe")
        writer = Descriptor(owning: ends[1], subject: "pipe")
    }

    func write(_ bytes: [UInt8]) throws { try writer?.write(bytes) }

    func closeWriter() { writer = nil }
}
