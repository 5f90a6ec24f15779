import Foundation
import Posix
import Storage
import Testing

@Suite("The cache folder")
struct CacheFolderTests {
    @Test("is made with all that belongs to it, its ledger's folder private", arguments: ["", "/", "///"])
    func creates(suffix: String) throws {
        let fixture = try CacheFixture()
        let path = fixture.path + "/a/b/cache"
        let cache = try CacheFolder.open(path: path + suffix, create: true)
        #expect(cache.path == path)
        #expect(cache.path(of: "x.gz") == path + "/x.gz")
        #expect(try fixture.names(in: path) == [".syncagent", "CACHEDIR.TAG"])
        #expect(try fixture.mode(path + "/.syncagent") == 0o700)
        #expect(try fixture.mode(path + "/.syncagent/partial") == 0o700)
        let tag = try String(decoding: fixture.bytes(path + "/CACHEDIR.TAG"), as: UTF8.self)
        #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
    }

    @Test("may have a name that begins with an accent, which is no part of the slash before it")
    func combiningName() throws {
        let fixture = try CacheFixture()
        let path = fixture.path + "/a/\u{301}b/\u{301}"
        let cache = try CacheFolder.open(path: path + "/", create: true)
        #expect(cache.path == path)
        #expect(try fixture.names(in: path) == [".syncagent", "CACHEDIR.TAG"])
    }

    @Test("is opened again as it is; what is missing comes back, what is too open is closed")
    func reopens() throws {
        let fixture = try CacheFixture()
        _ = try fixture.openCache()
        try fixture.write(Data("mine".utf8), to: fixture.cachePath + "/CACHEDIR.TAG")
        try FileManager.default.removeItem(atPath: fixture.statePath + "/partial")
        try #require(chmod(fixture.statePath, 0o755) == 0)
        _ = try fixture.openCache()
        #expect(try fixture.bytes(fixture.cachePath + "/CACHEDIR.TAG") == Data("mine".utf8))
        #expect(try fixture.names(in: fixture.statePath) == ["partial"])
        #expect(try fixture.mode(fixture.statePath) == 0o700)
    }

    @Test("a tag that a kill left empty is written")
    func emptyTag() throws {
        let fixture = try CacheFixture()
        _ = try fixture.openCache()
        try fixture.write(Data(), to: fixture.cachePath + "/CACHEDIR.TAG")
        _ = try fixture.openCache()
        #expect(try !fixture.bytes(fixture.cachePath + "/CACHEDIR.TAG").isEmpty)
    }

    @Test("may be a relative path, or a link to a folder")
    func throughLink() throws {
        let fixture = try CacheFixture()
        try #require(mkdir(fixture.path + "/real", 0o755) == 0)
        try #require(symlink("real", fixture.cachePath) == 0)
        _ = try fixture.openCache()
        #expect(try fixture.names(in: fixture.path + "/real").contains("CACHEDIR.TAG"))
    }

    @Test("is never made when it is only to be looked at")
    func opensWithoutMaking() throws {
        let fixture = try CacheFixture()
        func missing() throws -> CacheError {
            try #require(
                #expect(throws: CacheError.self) {
                    _ = try CacheFolder.open(path: fixture.cachePath, create: false)
                })
        }
        #expect(try missing().kind == .missing)
        #expect(try fixture.names(in: fixture.path) == [])
        try #require(mkdir(fixture.cachePath, 0o755) == 0)
        #expect(try missing().kind == .missing)
        #expect(try fixture.names(in: fixture.cachePath) == [])
        _ = try fixture.openCache()
        _ = try CacheFolder.open(path: fixture.cachePath, create: false)
    }

    static let squatters = ["cache", "cache/.syncagent", "cache/.syncagent/partial", ""]

    @Test("a file where a folder belongs is named, with a next step", arguments: squatters, [true, false])
    func fileInTheWay(place: String, create: Bool) throws {
        let fixture = try CacheFixture()
        let path = place.isEmpty ? fixture.path + "/file/below" : fixture.cachePath
        let squatter = place.isEmpty ? fixture.path + "/file" : fixture.path + "/" + place
        if place.count > 5 {
            try FileManager.default.createDirectory(
                atPath: (squatter as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        }
        try fixture.write(Data("x".utf8), to: squatter)
        let error = try #require(
            #expect(throws: CacheError.self) { _ = try CacheFolder.open(path: path, create: create) })
        #expect(error.kind == .notAFolder, "\(error)")
        #expect(error.path == (place.isEmpty ? path : squatter))
        #expect(error.advice?.contains("--cache") == true)
        #expect(try fixture.bytes(squatter) == Data("x".utf8))
    }

    @Test("an empty path is no cache", arguments: [true, false])
    func emptyPath(create: Bool) throws {
        #expect(throws: CacheError.self) { _ = try CacheFolder.open(path: "", create: create) }
    }

    @Test("a read-only file system is told as such", .enabled(if: CacheFixture.mayMount))
    func readOnly() throws {
        let fixture = try CacheFixture(mountedWithKibibytes: 64)
        try fixture.remountReadOnly()
        let error = try #require(#expect(throws: CacheError.self) { _ = try fixture.openCache() })
        #expect(error.kind == .readOnly, "\(error)")
        #expect(error.advice != nil)
    }

    @Test("a folder of somebody else is told as such", .enabled(if: geteuid() != 0))
    func noPermission() throws {
        let error = try #require(
            #expect(throws: CacheError.self) {
                _ = try CacheFolder.open(path: "/syncagent-cache", create: true)
            })
        #expect(error.kind == .noPermission, "\(error)")
        #expect(error.path == "/syncagent-cache" && error.advice != nil)
    }

    @Test("the lock is held by one at a time and goes with its holder")
    func lock() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let other = try fixture.openCache()
        func isFree(_ cache: CacheFolder) throws -> Bool {
            switch try cache.lock() {
            case nil: false
            case .some: true
            }
        }
        do {
            let held = try cache.lock()
            #expect(try !isFree(other))
            #expect(try !isFree(cache))
            _ = consume held
        }
        #expect(try isFree(other))
        #expect(try fixture.mode(fixture.statePath + "/lock") == 0o600)
    }
}

@Suite("Publishing")
struct CachePublishTests {
    /// What has the final name before.
    enum Squatter: CaseIterable { case nothing, file, link, danglingLink, fifo }

    @Test("puts the partial in the place of whatever has the name", arguments: Squatter.allCases)
    func replaces(squatter: Squatter) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let final = fixture.cachePath + "/name.gz"
        let target = fixture.path + "/target"
        try fixture.write(Data("target".utf8), to: target)
        switch squatter {
        case .nothing: break
        case .file: try fixture.write(Data("old".utf8), to: final)
        case .link: try #require(symlink(target, final) == 0)
        case .danglingLink: try #require(symlink("nowhere", final) == 0)
        case .fifo: try #require(mkfifo(final, 0o600) == 0)
        }
        let partial = try cache.createPartial(for: Sample.key(1))
        try partial.append(bytes: "new")
        try partial.setReadOnly()
        try partial.syncData()
        try cache.publish(partialNamed: partial.name, as: "name.gz")
        try cache.syncTop()
        let status = try #require(try cache.status(of: "name.gz"))
        #expect(status.kind == .regular && status.size == 3 && status.mode == 0o444)
        #expect(status.inode == partial.inode)
        #expect(try fixture.bytes(final) == Data("new".utf8))
        #expect(try fixture.bytes(target) == Data("target".utf8))
        #expect(try fixture.names(in: fixture.statePath + "/partial") == [])
    }

    @Test("does not replace a folder, and keeps the partial")
    func folder() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try #require(mkdir(fixture.cachePath + "/name", 0o755) == 0)
        let name = try cache.createPartial(for: Sample.key(1)).name
        let error = try #require(
            #expect(throws: SystemError.self) { try cache.publish(partialNamed: name, as: "name") })
        #expect(error.code == EISDIR)
        #expect(try fixture.names(in: fixture.statePath + "/partial") == [name])
        #expect(try cache.status(of: "name")?.kind == .folder)
    }

    @Test("refuses names that lead elsewhere", arguments: ["", ".", "..", "../x", "a/b", ".hidden", "a\0b"])
    func badNames(name: String) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let partial = try cache.createPartial(for: Sample.key(1)).name
        #expect(throws: SystemError.self) { try cache.publish(partialNamed: partial, as: name) }
        #expect(throws: SystemError.self) { try cache.publish(partialNamed: name, as: "x") }
        #expect(try fixture.names(in: fixture.cachePath) == [".syncagent", "CACHEDIR.TAG"])
    }

    @Test("nothing at a name has no status")
    func noStatus() throws {
        let fixture = try CacheFixture()
        #expect(try fixture.openCache().status(of: "x") == nil)
    }
}
