import Foundation
import Posix
import Storage
import Testing

extension PartialFile {
    /// Appends the text's bytes.
    func append(bytes text: String) throws {
        var text = text
        var result = Result<Void, SystemError>.success(())
        text.withUTF8 { bytes in
            do throws(SystemError) {
                try append(UnsafeRawBufferPointer(bytes))
            } catch {
                result = .failure(error)
            }
        }
        try result.get()
    }
}

@Suite("A partial file")
struct PartialFileTests {
    @Test("is named by its key and eight more digits, never twice the same, and private")
    func names() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let key = Sample.key(1)
        var names: Set<String> = []
        for _ in 0..<20 {
            let partial = try cache.createPartial(for: key)
            #expect(partial.name.hasPrefix(key.hex + "."))
            #expect(partial.name.utf8.count == 41)
            #expect(try partial.status().inode == partial.inode)
            #expect(partial.size == 0)
            #expect(try fixture.mode(fixture.statePath + "/partial/" + partial.name) == 0o600)
            names.insert(partial.name)
        }
        #expect(names.count == 20)
        #expect(try Set(fixture.names(in: fixture.statePath + "/partial")) == names)
    }

    @Test("grows by what is appended, from where it was left off")
    func appends() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let name: String
        do {
            let partial = try cache.createPartial(for: Sample.key(1))
            name = partial.name
            for text in ["one", "", "two"] { try partial.append(bytes: text) }
            #expect(partial.size == 6)
        }
        let again = try reopen(named: name, truncatedTo: 4, in: cache)
        #expect(again.size == 4)
        #expect(try again.status().size == 4)
        try again.append(bytes: "!")
        #expect(try fixture.bytes(fixture.statePath + "/partial/" + name) == Data("onet!".utf8))
        try again.truncate(to: 9)
        #expect(again.size == 5)
        try again.truncate(to: 1)
        #expect(again.size == 1)
        try again.append(bytes: "x")
        #expect(try fixture.bytes(fixture.statePath + "/partial/" + name) == Data("ox".utf8))
    }

    @Test("shorter than what is believed of it is nothing to go on with", arguments: [3, 4, UInt64.max])
    func shorter(size: UInt64) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let partial = try cache.createPartial(for: Sample.key(1))
        try partial.append(bytes: "abc")
        let found =
            switch try cache.openPartial(named: partial.name, truncatedTo: size) {
            case nil: false
            case .some: true
            }
        #expect(found == (size <= 3))
        #expect(try fixture.bytes(fixture.statePath + "/partial/" + partial.name) == Data("abc".utf8))
    }

    enum Squatter: CaseIterable { case nothing, folder, link, fifo }

    @Test("anything but a file at its name is not opened", arguments: Squatter.allCases)
    func notAFile(squatter: Squatter) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let name = Sample.key(1).hex + ".01234567"
        let path = fixture.statePath + "/partial/" + name
        let target = fixture.path + "/target"
        try fixture.write(Data("target".utf8), to: target)
        switch squatter {
        case .nothing: break
        case .folder: try #require(mkdir(path, 0o700) == 0)
        case .link: try #require(symlink(target, path) == 0)
        case .fifo: try #require(mkfifo(path, 0o600) == 0)
        }
        switch try cache.openPartial(named: name, truncatedTo: 0) {
        case nil: break
        case .some: Issue.record("opened a \(squatter)")
        }
        #expect(try fixture.bytes(target) == Data("target".utf8))
    }

    @Test(
        "a name that is not a partial's is never opened or removed",
        arguments: ["", "..", "../state.db", "x", "0123456789abcdef0123456789abcdef.0123456/"])
    func strangeName(name: String) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...1)
        switch try cache.openPartial(named: name, truncatedTo: 0) {
        case nil: break
        case .some: Issue.record("opened \(name)")
        }
        try cache.removePartial(name)
        #expect(try fixture.names(in: fixture.statePath).contains("state.db"))
    }

    @Test("one that was made read-only before a crash can be opened again")
    func readOnlyOne() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let partial = try cache.createPartial(for: Sample.key(1))
        try partial.append(bytes: "abc")
        try partial.setReadOnly()
        let again = try reopen(named: partial.name, truncatedTo: 2, in: cache)
        try again.append(bytes: "d")
        #expect(try fixture.bytes(fixture.statePath + "/partial/" + partial.name) == Data("abd".utf8))
    }

    @Test("the sweep removes what no row knows, and nothing else")
    func sweep() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        let folder = fixture.statePath + "/partial/"
        let known = try cache.createPartial(for: Sample.key(1)).name
        let paused = try cache.createPartial(for: Sample.key(2)).name
        for number in UInt64(3)...5 { _ = try cache.createPartial(for: Sample.key(number)) }
        let target = fixture.path + "/target"
        try fixture.write(Data("target".utf8), to: target)
        try #require(symlink(target, folder + "link") == 0)
        try #require(mkdir(folder + "folder", 0o700) == 0)
        #expect(try cache.sweepPartials(known: [known, paused, "missing"]) == 4)
        #expect(try Set(fixture.names(in: folder)) == [known, paused, "folder"])
        #expect(try fixture.bytes(target) == Data("target".utf8))
        #expect(try cache.sweepPartials(known: [known, paused]) == 0)
        try cache.removePartial(known)
        try cache.removePartial(known)
        #expect(try Set(fixture.names(in: folder)) == [paused, "folder"])
    }

    @Test("a full disk takes all of an append or nothing", .enabled(if: CacheFixture.mayMount))
    func fullDisk() throws {
        let fixture = try CacheFixture(mountedWithKibibytes: 256)
        let cache = try fixture.openCache()
        let partial = try cache.createPartial(for: Sample.key(1))
        let block = String(repeating: "x", count: 100_000)
        var failure: SystemError?
        for _ in 0..<3 where failure == nil {
            do { try partial.append(bytes: block) } catch let error as SystemError { failure = error }
        }
        #expect(try #require(failure).isDiskFull)
        #expect(partial.size == 200_000)
        #expect(try partial.status().size == 200_000)
        try partial.append(bytes: "y")
        #expect(try partial.status().size == 200_001)
    }
}
