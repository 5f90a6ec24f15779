import Foundation
import Testing

@testable import Posix

@Suite("A descriptor", .timeLimit(.minutes(2)))
struct DescriptorTests {
    @Test("reads and writes at an offset")
    func offsets() throws {
        let temporary = try TemporaryFolder()
        let file = try temporary.open().create("file", mode: 0o600)
        try file.write("hello", at: 0)
        try file.write("J", at: 0)
        try file.write("!", at: 7)
        #expect(try file.status().size == 8)
        #expect(try file.readText(100, at: 0) == "Jello\0\0!")
        #expect(try file.readText(2, at: 3) == "lo")
        #expect(try file.readText(100, at: 8) == "")
        #expect(try file.readText(100, at: 1 << 40) == "")
        try file.truncate(to: 3)
        #expect(try file.readText(100, at: 0) == "Jel")
        try file.truncate(to: 4)
        #expect(try file.readText(100, at: 0) == "Jel\0")
        try file.write("", at: 0)
        try file.syncData()
        try file.sync()
        try file.setMode(0o444)
        #expect(try temporary.mode(of: "file") == 0o444)
    }

    @Test("refuses an offset beyond what a file can have")
    func beyondAllBounds() throws {
        let temporary = try TemporaryFolder()
        let file = try temporary.open().create("file", mode: 0o600)
        let code = errorCode { try file.write("x", at: .max) }
        #expect(code == EFBIG || code == EINVAL)
        #expect(errorCode { try file.truncate(to: .max) } != nil)
        #expect(try file.status().size == 0)
    }

    @Test("writes all, however the kernel splits it, and the end comes when it closes")
    func writesAll() throws {
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let pipe = try TestPipe()
        let thread = try WorkerThread(name: "writer") {
            do {
                try pipe.write(bytes)
            } catch {
                Issue.record("\(error)")
            }
            pipe.closeWriter()
        }
        let received = try pipe.reader.readAll()
        thread.join()
        #expect(received == bytes)
    }

    @Test("of a FIFO is opened before its writer is there; nothing yet, bytes and the end are three things")
    func fifo() throws {
        let temporary = try TemporaryFolder()
        try temporary.makeFIFO("fifo")
        let stop = try Stop()
        let reader = try Descriptor(reading: temporary.path + "/fifo")
        var bytes = [UInt8](repeating: 0, count: 10)
        func read() throws -> Int? {
            try bytes.withUnsafeMutableBytes { try reader.readIfReady(into: $0) }
        }
        do {
            let writer = try temporary.open().open(writing: "fifo")
            #expect(try read() == nil)
            #expect(try reader.wait(.read, until: .now, stop: stop) == .timedOut)
            try writer.write(Array("abc".utf8))
            #expect(try reader.wait(.read, until: .late, stop: stop) == .ready)
            #expect(try read() == 3)
            #expect(try read() == nil)
        }
        #expect(try reader.wait(.read, until: .late, stop: stop) == .ready)
        #expect(try read() == 0)
    }

    @Test("of a number that the caller closed is an error, no trap")
    func duplicates() throws {
        #expect(
            errorCode { _ = try Descriptor(duplicating: -1, subject: "input") }
                == EBADF)
        let pipe = try TestPipe()
        let number = pipe.writerNumber
        do {
            let copy = try Descriptor(duplicating: number, subject: "copy")
            #expect(copy.number != number && copy.number > 2)
            try copy.write([1])
        }
        // The original outlives its duplicate.
        try pipe.write([2])
        pipe.closeWriter()
        #expect(try pipe.reader.readAll() == [1, 2])
    }

    static let searches: [(bytes: [UInt8], offset: Int?)] = [
        ([], nil), ([1], nil), ([10], 0), ([1, 2, 10, 10], 2),
        ([UInt8](repeating: 0, count: 1000) + [10], 1000),
        ([255, 0], nil),
    ]

    @Test("a byte is found where it first stands", arguments: searches)
    func findsBytes(_ row: (bytes: [UInt8], offset: Int?)) {
        #expect(row.bytes.withUnsafeBytes { firstOffset(of: 10, in: $0) } == row.offset)
    }

    @Test("a call that was interrupted is made again, a failed one is an error")
    func retries() throws {
        var calls = 0
        let result = try retrying("test", "it") { () -> Int in
            calls += 1
            if calls == 4 { return 7 }
            errno = EINTR
            return -1
        }
        #expect(result == 7)
        #expect(calls == 4)
        let error = #expect(throws: SystemError.self) {
            try retrying("test", "it") { () -> Int32 in
                errno = ENOSPC
                return -1
            }
        }
        #expect(error == SystemError("test", "it", code: ENOSPC))
    }
}

@Suite("A system error")
struct SystemErrorTests {
    @Test(
        "has the kernel's words",
        arguments: [
            (ENOENT, "no such file or directory"), (EIO, "input/output error"),
            (99_999, "error 99999"),
        ])
    func words(_ row: (code: Int32, words: String)) {
        #expect(SystemError("open", "x", code: row.code).reason == row.words)
    }

    @Test("of a full disk", arguments: [ENOSPC, EDQUOT, EFBIG])
    func full(_ code: Int32) {
        let error = SystemError("write", "x", code: code)
        #expect(error.isDiskFull && !error.isReadOnly && !error.isMissing)
    }

    @Test("says what the caller can do")
    func kinds() {
        #expect(SystemError("open", "x", code: EROFS).isReadOnly)
        #expect(SystemError("open", "x", code: ENOENT).isMissing)
        #expect(SystemError("write", "x", code: EPIPE).isBrokenPipe)
        #expect(!SystemError("write", "x", code: EIO).isDiskFull)
        #expect(SystemError("connect", "x", code: ENETUNREACH).isUnreachable)
        #expect(SystemError("connect", "x", code: ECONNREFUSED).isRefused)
        #expect(SystemError("connect", "x", code: ETIMEDOUT).isTimeout)
    }
}

@Suite("The machine")
struct MachineTests {
    @Test("random text is hex, of the length that was asked for, and never the same")
    func random() {
        #expect(randomHex(bytes: 0) == "")
        let (one, other) = (randomHex(bytes: 16), randomHex(bytes: 16))
        #expect(one.utf8.count == 32 && one != other)
        #expect(one.allSatisfy { "0123456789abcdef".contains($0) })
    }

    @Test("the boot has one name as long as it lasts")
    func boot() throws {
        let boot = try #require(bootIdentifier())
        #expect(UUID(uuidString: boot) != nil)
        #expect(bootIdentifier() == boot)
    }

    @Test("of a small file the first 4 KiB are read; what cannot be read is nil")
    func smallFiles() throws {
        let temporary = try TemporaryFolder()
        try temporary.write(String(repeating: "x", count: 5000), to: "large")
        try temporary.write("", to: "empty")
        #expect(readSmallFile(temporary.path + "/large") == String(repeating: "x", count: 4096))
        #expect(readSmallFile(temporary.path + "/empty") == "")
        #expect(readSmallFile(temporary.path) == nil)
        #expect(readSmallFile(temporary.path + "/none") == nil)
    }
}

@Suite("An address")
struct AddressTests {
    static let literals: [(text: String, description: String?)] = [
        ("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80"), ("2001:DB8:0::1", "[2001:db8::1]:80"),
        ("::ffff:1.2.3.4", "[::ffff:1.2.3.4]:80"), ("0.0.0.0", "0.0.0.0:80"), ("1.2.3", nil),
        ("256.1.1.1", nil),
        ("01.2.3.4", nil), ("[::1]", nil), ("::1%lo", nil), ("", nil), ("localhost", nil), ("1.2.3.4 ", nil),
    ]

    @Test("is read from a literal", arguments: literals)
    func isRead(_ row: (text: String, description: String?)) {
        #expect(Address(literal: row.text, port: 80)?.description == row.description)
    }

    @Test("keeps its host at another port")
    func otherPort() throws {
        let address = try #require(Address(literal: "::1", port: 1))
        let other = address.with(port: 65_535)
        #expect(other.octets == address.octets && other.family == .v6)
        #expect(other.description == "[::1]:65535")
        #expect(other != address)
    }
}
