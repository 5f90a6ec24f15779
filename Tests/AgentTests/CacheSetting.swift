import Foundation
import Posix
import Storage
import Testing
import Wire

@testable import Agent

/// A real cache in a temporary folder, as a crash may have left it.
final class CacheSetting {
    let path: String
    let cache: CacheFolder
    private let parent: String

    init() throws {
        parent = FileManager.default.temporaryDirectory.path + "/syncagent-agent-" + randomHex(bytes: 8)
        path = parent + "/cache"
        cache = try CacheFolder.open(path: path, create: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: parent)
        } catch {
            Issue.record("cannot remove \(parent): \(error)")
        }
    }

    var partialsPath: String { path + "/.syncagent/partial" }

    /// Writes a file and tells its inode.
    @discardableResult
    func write(_ bytes: Int, to name: String, byte: UInt8 = 7) throws -> UInt64 {
        try Data(repeating: byte, count: bytes).write(to: URL(fileURLWithPath: name))
        var status = stat()
        try #require(lstat(name, &status) == 0)
        return UInt64(status.st_ino)
    }

    func names(in path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// The partials' names, and the finished files'.
    var partials: [String] { get throws { try names(in: partialsPath) } }
    var finished: [String] {
        get throws { try names(in: path).filter { $0 != ".syncagent" && $0 != "CACHEDIR.TAG" } }
    }

    /// Changes the ledger and closes it, as a crash would that came later.
    func ledger(_ body: (inout LedgerTransaction) throws(LedgerError) -> Void) throws {
        var writer = try LedgerWriter.open(in: cache.state)
        try writer.transaction(durable: false, body)
        try writer.close()
    }

    /// Starts a run as far as recovery, and looks what the ledger says after it.
    func recover() throws -> Recovered {
        var writer = try LedgerWriter.open(in: cache.state)
        guard var reader = try LedgerReader.open(in: cache.state) else { throw NothingThere() }
        let kept = try Agent.recover(cache: cache, writer: &writer, reader: &reader)
        let rows = try reader.allPartials()
        let publications = try reader.publications()
        let copies = try Dictionary(
            uniqueKeysWithValues: Setting.keys.map { ($0, try reader.entry(for: $0)?.copy) })
        try writer.close()
        return Recovered(kept: kept, rows: rows, publications: publications, copies: copies)
    }

    struct NothingThere: Error {}
}

/// What recovery found, and what the ledger says after it.
struct Recovered {
    let kept: [Key: PartialRow]
    let rows: [PartialRow]
    let publications: [PublicationRow]
    let copies: [Key: CopyRow?]
}

/// The entry that the rows are about, and another one.
enum Setting {
    static let key = Key(md5Of: "http://a/x")
    static let otherKey = Key(md5Of: "http://b/y")
    static let keys = [key, otherKey]
    static let name = key.hex + ".00000001"
    static let secondName = key.hex + ".00000002"
    static let otherName = otherKey.hex + ".00000003"
    static let fileName = key.hex + ".bin"

    static func copy(size: UInt64, inode: UInt64) -> CopyRow {
        CopyRow(
            size: size, modified: 1, inode: inode, validators: Validators(etag: EntityTag("\"v2\"")),
            digest: Checksum(algorithm: .md5, bytes: [UInt8](repeating: 1, count: 16)), received: 1)
    }

    static func entry(_ copy: CopyRow? = nil) -> EntryRow {
        EntryRow(key: key, url: "http://a/x", fileExtension: ".bin", copy: copy)
    }
}
