import Foundation
import Posix
import Storage
import Testing
import Wire

@testable import Agent

@Suite("What disk and ledger may say at the start of a run")
struct RecoveryTests {
    /// A row of a partial of which 100 bytes are written and 60 durable.
    private func row(
        _ cache: CacheFolder, _ name: String = Setting.name, key: Key = Setting.key, written: UInt64 = 100,
        durable: UInt64 = 60, boot: String? = bootIdentifier(), mount: String?? = nil, etag: String = "\"v1\""
    ) -> PartialRow {
        PartialRow(
            name: name, key: key, source: "http://a/x", validators: Validators(etag: EntityTag(etag)),
            contentCoding: "", mediaType: nil, total: 1000, written: written, durable: durable,
            bootIdentifier: boot, mountIdentifier: mount ?? cache.partials.mountIdentifier(), answers: 1,
            digestState: [1, 2, 3])
    }

    /// Recovers twice: the second time there is nothing left to do.
    private func recover(_ setting: CacheSetting) throws -> Recovered {
        let first = try setting.recover()
        let second = try setting.recover()
        #expect(second.kept == first.kept)
        #expect(second.rows == first.rows)
        #expect(second.publications.isEmpty)
        return first
    }

    /// What is to become of one partial row and its file.
    struct PartialCase: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Bytes of the file; nil for none.
        let file: Int?
        var durable: UInt64 = 60
        var boot: String? = bootIdentifier()
        var hasOtherMount = false
        /// Bytes kept; nil when the partial is dropped.
        let kept: UInt64?
        var keepsDigest = true
    }

    static let partialCases: [PartialCase] = [
        PartialCase(testDescription: "a partial as the ledger has it", file: 100, kept: 100),
        PartialCase(testDescription: "a partial row without a file", file: nil, kept: nil),
        PartialCase(testDescription: "a file longer than its row", file: 130, kept: 100),
        PartialCase(testDescription: "a file shorter than its row", file: 99, kept: nil),
        PartialCase(testDescription: "a file without a byte", file: 0, kept: nil),
        PartialCase(
            testDescription: "a partial of another boot", file: 100, boot: "before", kept: 60,
            keepsDigest: false),
        PartialCase(
            testDescription: "a partial whose boot could not be read", file: 100, boot: nil, kept: 60,
            keepsDigest: false),
        PartialCase(
            testDescription: "a partial of another mount", file: 100, hasOtherMount: true, kept: 60,
            keepsDigest: false),
        PartialCase(
            testDescription: "a partial of another boot, the file has what is durable", file: 60,
            boot: "before",
            kept: 60, keepsDigest: false),
        PartialCase(
            testDescription: "a partial of another boot, the file has less than is durable", file: 59,
            boot: "before", kept: nil),
        PartialCase(
            testDescription: "a partial of another boot of which nothing is durable", file: 100, durable: 0,
            boot: "before", kept: nil),
    ]

    @Test("is", arguments: partialCases)
    func partial(_ row: PartialCase) throws {
        let setting = try CacheSetting()
        let stored = self.row(
            setting.cache, durable: row.durable, boot: row.boot, mount: row.hasOtherMount ? "other" : nil)
        try setting.ledger { ledger throws(LedgerError) in
            try ledger.save(Setting.entry())
            try ledger.save(stored)
        }
        if let size = row.file { try setting.write(size, to: setting.partialsPath + "/" + Setting.name) }
        let found = try recover(setting)
        #expect(found.rows == Array(found.kept.values))
        guard let length = row.kept else {
            #expect(found.kept.isEmpty)
            #expect(try setting.partials.isEmpty)
            return
        }
        let kept = try #require(found.kept[Setting.key])
        #expect(kept.written == length)
        #expect(kept.durable == min(row.durable, length))
        #expect(kept.bootIdentifier == bootIdentifier())
        #expect(kept.mountIdentifier == setting.cache.partials.mountIdentifier())
        #expect((kept.digestState != nil) == row.keepsDigest)
        #expect(kept.validators == stored.validators)
        // What follows is appended to just these bytes.
        let file = try setting.cache.openPartial(named: kept.name, truncatedTo: kept.written)
        #expect(file?.size == length)
        #expect(try setting.names(in: setting.partialsPath) == [Setting.name])
    }

    @Test("something else than a file has a partial's name", arguments: ["link", "fifo"])
    func notAFile(_ kind: String) throws {
        let setting = try CacheSetting()
        let outside = setting.path + "/outside"
        try setting.write(500, to: outside)
        let path = setting.partialsPath + "/" + Setting.name
        try #require((kind == "link" ? symlink(outside, path) : mkfifo(path, 0o600)) == 0)
        let stored = row(setting.cache)
        try setting.ledger { ledger throws(LedgerError) in try ledger.save(stored) }
        let found = try recover(setting)
        #expect(found.kept.isEmpty && found.rows.isEmpty)
        #expect(try setting.partials.isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: outside)).count == 500)
    }

    @Test("files that no row knows are swept, folders stay")
    func orphans() throws {
        let setting = try CacheSetting()
        let stored = row(setting.cache, Setting.otherName, key: Setting.otherKey)
        try setting.ledger { ledger throws(LedgerError) in try ledger.save(stored) }
        for name in [Setting.name, Setting.otherName, "whatever", ".hidden"] {
            try setting.write(100, to: setting.partialsPath + "/" + name)
        }
        try FileManager.default.createDirectory(
            atPath: setting.partialsPath + "/folder", withIntermediateDirectories: false)
        let found = try recover(setting)
        // The other entry stands in no manifest of this run; its partial is kept all the same.
        #expect(found.kept.keys.sorted() == [Setting.otherKey])
        #expect(try setting.partials == [Setting.otherName, "folder"].sorted())
    }

    /// Two partials of one key: their bytes and marks, and which of them may be kept.
    static let twins: [(first: (UInt64, String), second: (UInt64, String), kept: Set<String>)] = [
        ((100, "\"v1\""), (40, "\"v1\""), [Setting.name]),
        ((40, "\"v1\""), (100, "\"v1\""), [Setting.secondName]),
        ((100, "\"v1\""), (100, "\"v1\""), [Setting.name, Setting.secondName]),
        ((100, "\"v1\""), (40, "W/\"v2\""), [Setting.name]),
        ((100, "\"v1\""), (40, "\"v2\""), [Setting.name, Setting.secondName]),
    ]

    @Test("of two partials of a key one is kept, of one version the longer", arguments: twins)
    func keepsOneOfTwins(_ pair: (first: (UInt64, String), second: (UInt64, String), kept: Set<String>))
        throws
    {
        let setting = try CacheSetting()
        let rows = [
            row(setting.cache, written: pair.first.0, durable: 0, etag: pair.first.1),
            row(setting.cache, Setting.secondName, written: pair.second.0, durable: 0, etag: pair.second.1),
        ]
        try setting.ledger { ledger throws(LedgerError) in for row in rows { try ledger.save(row) } }
        for row in rows { try setting.write(Int(row.written), to: setting.partialsPath + "/" + row.name) }
        let found = try recover(setting)
        let kept = try #require(found.kept[Setting.key])
        #expect(pair.kept.contains(kept.name))
        #expect(found.rows.map(\.name) == [kept.name])
        #expect(try setting.partials == [kept.name])
        #expect(kept.validators.etag?.text == rows.first { $0.name == kept.name }?.validators.etag?.text)
    }

    /// How far a publication had come.
    enum Stage: CaseIterable, Sendable {
        case notRenamed, renamed, lost, partialIsAnother, nameIsAnother, oldCopyInPlace
    }

    @Test(
        "a publication that a crash cut short is finished, or its entry is fetched again",
        arguments: Stage.allCases)
    func publication(_ stage: Stage) throws {
        let setting = try CacheSetting()
        let partial = setting.partialsPath + "/" + Setting.name
        let final = setting.path + "/" + Setting.fileName
        var inode: UInt64 = 0
        switch stage {
        case .notRenamed: inode = try setting.write(100, to: partial)
        case .oldCopyInPlace:
            try setting.write(90, to: final, byte: 1)
            inode = try setting.write(100, to: partial)
        case .renamed: inode = try setting.write(100, to: final)
        case .lost: inode = 1
        case .partialIsAnother: inode = try setting.write(99, to: partial)
        case .nameIsAnother: inode = try setting.write(100, to: final) + 1
        }
        let copy = Setting.copy(size: 100, inode: inode)
        let rows = [row(setting.cache), row(setting.cache, Setting.secondName)]
        try setting.write(100, to: setting.partialsPath + "/" + Setting.secondName)
        try setting.ledger { ledger throws(LedgerError) in
            try ledger.save(Setting.entry(copy))
            for row in rows { try ledger.save(row) }
            _ = try ledger.beginPublication([Setting.name])
        }
        let found = try recover(setting)
        let isFinished = [.notRenamed, .oldCopyInPlace, .renamed].contains(stage)
        if isFinished {
            #expect(found.kept.isEmpty, "what was published makes the other partial useless")
            #expect(try setting.finished == [Setting.fileName])
            let status = try #require(try setting.cache.status(of: Setting.fileName))
            #expect(status.inode == inode && status.size == 100)
        } else {
            // The entry's size and inode, which every run compares, find out that the file is not there.
            #expect(found.kept.values.map(\.name) == [Setting.secondName])
            #expect(try setting.finished == (stage == .nameIsAnother ? [Setting.fileName] : []))
        }
        #expect(!(try setting.partials.contains(Setting.name)))
    }

    @Test("what stands in the way of one publication stops no other, and not the run")
    func folderInTheWay() throws {
        let setting = try CacheSetting()
        let inode = try setting.write(100, to: setting.partialsPath + "/" + Setting.name)
        let other = try setting.write(50, to: setting.partialsPath + "/" + Setting.otherName)
        let blocked = setting.path + "/" + Setting.fileName
        try FileManager.default.createDirectory(atPath: blocked + "/full", withIntermediateDirectories: true)
        try setting.ledger { ledger throws(LedgerError) in
            try ledger.save(Setting.entry(Setting.copy(size: 100, inode: inode)))
            try ledger.save(
                EntryRow(
                    key: Setting.otherKey, url: "http://b/y", fileExtension: "",
                    copy: Setting.copy(size: 50, inode: other)))
            _ = try ledger.beginPublication([Setting.name, Setting.otherName])
        }
        _ = try recover(setting)
        #expect(try setting.finished.contains(Setting.otherKey.hex))
        #expect(try setting.names(in: blocked) == ["full"])
        #expect(try setting.partials.isEmpty)
    }

    @Test("a publication of an entry that nobody knows, or under a name that is none, is dropped")
    func unknownPublication() throws {
        let setting = try CacheSetting()
        try setting.write(100, to: setting.partialsPath + "/" + Setting.name)
        try setting.write(100, to: setting.path + "/outside")
        try setting.ledger { ledger throws(LedgerError) in
            _ = try ledger.beginPublication([Setting.name])
            _ = try ledger.beginPublication(["../../outside", "nonsense", ""])
        }
        let found = try recover(setting)
        #expect(found.kept.isEmpty && found.publications.isEmpty)
        #expect(try setting.finished == ["outside"])
        #expect(try setting.partials.isEmpty)
    }

    @Test("nothing at all") func nothing() throws {
        let setting = try CacheSetting()
        let found = try recover(setting)
        #expect(found.kept.isEmpty && found.rows.isEmpty && found.publications.isEmpty)
        #expect(try setting.finished.isEmpty)
    }
}
