import Wire
import Foundation
import Posix
import Testing

import Storage

/// A fresh folder that goes with the test.
final class CacheFixture {
    let path: String
    private var isMounted = false

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/syncagent-storage-" + randomHex(bytes: 8)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    /// The folder is a file system of its own in memory, of that many KiB.
    init(mountedWithKibibytes size: Int) throws {
        path = FileManager.default.temporaryDirectory.path + "/syncagent-storage-" + randomHex(bytes: 8)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=\(size)k") == 0)
        isMounted = true
    }

    deinit {
        if isMounted { umount2(path, Int32(MNT_DETACH)) }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            Issue.record("cannot remove \(path): \(error)")
        }
    }

    /// Whether this process may mount file systems.
    static let mayMount: Bool = {
        let path = FileManager.default.temporaryDirectory.path + "/syncagent-mount-" + randomHex(bytes: 8)
        guard mkdir(path, 0o700) == 0 else { return false }
        defer { rmdir(path) }
        guard mount("tmpfs", path, "tmpfs", 0, "size=16k") == 0 else { return false }
        umount2(path, Int32(MNT_DETACH))
        return true
    }()

    func remountReadOnly() throws {
        try #require(mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
    }

    var cachePath: String { path + "/cache" }
    var statePath: String { cachePath + "/.syncagent" }
    var ledgerPath: String { statePath + "/state.db" }

    func openCache() throws -> CacheFolder { try CacheFolder.open(path: cachePath, create: true) }

    /// What a kill at this moment leaves: a copy of the cache's files as they are, under another path.
    func crashCopy() throws -> CacheFixture {
        let copy = try CacheFixture()
        try FileManager.default.copyItem(atPath: cachePath, toPath: copy.cachePath)
        return copy
    }

    func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    func write(_ bytes: Data, to path: String) throws { try bytes.write(to: URL(fileURLWithPath: path)) }

    func names(in path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }
}

/// Rows that the tests store.
enum Sample {
    static func key(_ number: UInt64) -> Key { Key(high: number &* 0x9E37_79B9_7F4A_7C15, low: number) }

    static func copy(size: UInt64 = 10) -> CopyRow {
        CopyRow(
            size: size, modified: 1, inode: 2, validators: Validators(),
            digest: Checksum(algorithm: .md5, bytes: [UInt8](repeating: 7, count: 16)), received: 3)
    }

    static func failure(isPermanent: Bool) -> FailureRow {
        FailureRow(
            since: 1, lastTry: 2, tries: 3, notBefore: nil, isPermanent: isPermanent, reason: "404",
            message: "not found", fingerprint: 4)
    }

    static func entry(_ number: UInt64, copy: CopyRow? = nil, failure: FailureRow? = nil) -> EntryRow {
        EntryRow(
            key: key(number), url: "https://example.org/\(number)", fileExtension: ".bin", copy: copy,
            failure: failure)
    }

    static func partial(_ number: UInt64, name: String) -> PartialRow {
        PartialRow(
            name: name, key: key(number), source: "https://example.org/\(number)", validators: Validators(),
            contentCoding: "", mediaType: nil, total: nil, written: 0, durable: 0, bootIdentifier: nil,
            mountIdentifier: nil, answers: 1)
    }
}

/// Opens a ledger for a cache that may not be open yet.
func withWriter<Result>(
    of cache: CacheFolder, patience: Int32 = 10_000, _ body: (inout LedgerWriter) throws -> Result
) throws -> Result {
    var writer = try LedgerWriter.open(in: cache.state, patience: patience)
    return try body(&writer)
}

/// There is no ledger, or no partial, where one must be.
struct NothingThere: Error {}

func openReader(of cache: CacheFolder) throws -> LedgerReader {
    guard let reader = try LedgerReader.open(in: cache.state) else { throw NothingThere() }
    return reader
}

func openReader(ofCacheAt path: String) throws -> LedgerReader {
    guard let reader = try LedgerReader.open(cache: path) else { throw NothingThere() }
    return reader
}

func reopen(named name: String, truncatedTo size: UInt64, in cache: CacheFolder) throws -> PartialFile {
    guard let partial = try cache.openPartial(named: name, truncatedTo: size) else { throw NothingThere() }
    return partial
}

/// Stores some entries and closes the ledger properly.
func fillLedger(of cache: CacheFolder, entries: ClosedRange<UInt64>) throws {
    var writer = try LedgerWriter.open(in: cache.state)
    try writer.transaction(durable: false) { ledger throws(LedgerError) in
        for number in entries { try ledger.save(Sample.entry(number, copy: Sample.copy())) }
    }
    try writer.close()
}

/// The error of a body that must throw one of the ledger's.
func ledgerFailure(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) throws
    -> LedgerError
{
    let error = #expect(throws: LedgerError.self, sourceLocation: sourceLocation, performing: body)
    return try #require(error, sourceLocation: sourceLocation)
}
