import Foundation
import Posix
import Testing

@Suite("A folder")
struct FolderTests {
    @Test("does not follow a link in its last component")
    func followsNoLink() throws {
        let temporary = try TemporaryFolder()
        try temporary.write("secret", to: "target")
        try FileManager.default.createDirectory(
            atPath: temporary.path + "/real", withIntermediateDirectories: false)
        try temporary.link("link", to: "target")
        try temporary.link("folder", to: "real")
        try temporary.link("dangling", to: "nowhere")
        let folder = try temporary.open()
        #expect(errorCode { _ = try folder.open(reading: "link") } == ELOOP)
        #expect(errorCode { _ = try folder.open(writing: "link") } == ELOOP)
        #expect(
            errorCode { _ = try folder.openOrCreate("link", mode: 0o600) } == ELOOP)
        #expect(
            errorCode { _ = try folder.openOrCreate("dangling", mode: 0o600) }
                == ELOOP)
        #expect(
            errorCode { _ = try folder.create("dangling", mode: 0o600) } == EEXIST)
        #expect(errorCode { _ = try folder.open(folder: "folder") } == ENOTDIR)
        #expect(errorCode { _ = try folder.lock("link") } == ELOOP)
        #expect(try folder.status(of: "nowhere") == nil)
        #expect(try temporary.text(of: "target") == "secret")
    }

    @Test("opens a FIFO that took a name without waiting for its other end", .timeLimit(.minutes(1)))
    func doesNotHangOnFIFO() throws {
        let temporary = try TemporaryFolder()
        try temporary.makeFIFO("fifo")
        let folder = try temporary.open()
        #expect(try folder.open(reading: "fifo").status().kind == .other)
        #expect(try folder.open(writing: "fifo").status().kind == .other)
        #expect(try folder.openOrCreate("fifo", mode: 0o600).status().kind == .other)
        #expect(try folder.status(of: "fifo")?.kind == .other)
        #expect(errorCode { _ = try folder.open(folder: "fifo") } == ENOTDIR)
    }

    @Test("tells what stands at a name")
    func status() throws {
        let temporary = try TemporaryFolder()
        try temporary.write("12345", to: "file")
        try temporary.link("link", to: "file")
        try FileManager.default.createDirectory(
            atPath: temporary.path + "/folder", withIntermediateDirectories: false)
        var times = [timespec(tv_sec: 1, tv_nsec: 2), timespec(tv_sec: 1_700_000_000, tv_nsec: 123_456_789)]
        try #require(utimensat(AT_FDCWD, temporary.path + "/file", &times, 0) == 0)
        try #require(chmod(temporary.path + "/file", 0o640) == 0)
        let folder = try temporary.open()
        let file = try #require(try folder.status(of: "file"))
        #expect(file.kind == .regular && file.size == 5 && file.mode == 0o640 && file.owner == getuid())
        #expect(file.modified == 1_700_000_000_123_456_789)
        #expect(try folder.open(reading: "file").status() == file)
        #expect(try folder.status(of: "link")?.kind == .link)
        #expect(try folder.status(of: "folder")?.kind == .folder)
        #expect(try folder.status(of: "nothing") == nil)
        #expect(try folder.status().kind == .folder)
        #expect(try folder.status().device == file.device)
    }

    @Test("makes what is missing and takes nothing away")
    func makes() throws {
        let temporary = try TemporaryFolder()
        try temporary.write("mine", to: "file")
        let folder = try temporary.open()
        #expect(try folder.make(folder: "new", mode: 0o700))
        #expect(try !folder.make(folder: "new", mode: 0o755))
        #expect(try temporary.mode(of: "new") == 0o700)
        #expect(try !folder.make(folder: "file", mode: 0o755))
        #expect(errorCode { _ = try folder.create("file", mode: 0o600) } == EEXIST)
        #expect(try folder.openOrCreate("file", mode: 0o600).readText(10, at: 0) == "mine")
        #expect(errorCode { _ = try folder.open(writing: "new") } == EISDIR)
        #expect(errorCode { _ = try folder.open(reading: "none") } == ENOENT)
        #expect(errorCode { _ = try folder.open(writing: "none") } == ENOENT)
        _ = try folder.create("private", mode: 0o600)
        #expect(try temporary.mode(of: "private") == 0o600)
    }

    @Test("renames a file over whatever is no folder", arguments: ["file", "link", "fifo", "nothing"])
    func renames(_ target: String) throws {
        let temporary = try TemporaryFolder()
        try temporary.write("old", to: "file")
        try temporary.write("kept", to: "elsewhere")
        try temporary.link("link", to: "elsewhere")
        try temporary.makeFIFO("fifo")
        let folder = try temporary.open()
        try folder.make(folder: "below", mode: 0o700)
        let below = try folder.open(folder: "below")
        try below.create("new", mode: 0o600).write("new", at: 0)
        try below.rename("new", into: folder, as: target)
        #expect(try folder.status(of: target)?.kind == .regular)
        #expect(try temporary.text(of: target) == "new")
        #expect(try temporary.text(of: "elsewhere") == "kept")
        #expect(try below.status(of: "new") == nil)
    }

    @Test("renames no file over a folder, and nothing that is not there")
    func renamesNot() throws {
        let temporary = try TemporaryFolder()
        try temporary.write("new", to: "new")
        let folder = try temporary.open()
        try folder.make(folder: "folder", mode: 0o700)
        #expect(
            errorCode { try folder.rename("new", into: folder, as: "folder") }
                == EISDIR)
        #expect(
            errorCode { try folder.rename("none", into: folder, as: "x") } == ENOENT
        )
        #expect(try temporary.text(of: "new") == "new")
    }

    @Test("removes a file or a link, and says when there was none")
    func removes() throws {
        let temporary = try TemporaryFolder()
        try temporary.write("kept", to: "file")
        try temporary.link("link", to: "file")
        let folder = try temporary.open()
        #expect(try folder.remove("link"))
        #expect(try temporary.text(of: "file") == "kept")
        #expect(try folder.remove("file"))
        #expect(try !folder.remove("file"))
        try folder.make(folder: "folder", mode: 0o700)
        #expect(errorCode { try folder.remove("folder") } == EISDIR)
    }

    @Test("names all that is in it, and each time from the start")
    func forEachName() throws {
        let temporary = try TemporaryFolder()
        let folder = try temporary.open()
        var expected: Set<String> = [".hidden", "with space", "ü", String(repeating: "x", count: 255)]
        for number in 0..<2000 { expected.insert("\(number)") }
        for name in expected { _ = try folder.create(name, mode: 0o600) }
        for _ in 0..<2 {
            var names: [String] = []
            try folder.forEachName { names.append($0) }
            #expect(names.count == expected.count)
            #expect(Set(names) == expected)
        }
    }

    @Test("stops naming at the first error, and can begin again")
    func forEachNameThrows() throws {
        let temporary = try TemporaryFolder()
        for name in ["a", "b", "c"] { try temporary.write("", to: name) }
        let folder = try temporary.open()
        var seen = 0
        let code = errorCode {
            try folder.forEachName { name throws(SystemError) in
                seen += 1
                throw SystemError("test", name, code: EIO)
            }
        }
        #expect(code == EIO)
        #expect(seen == 1)
        var all = 0
        try folder.forEachName { _ in all += 1 }
        #expect(all == 3)
    }

    @Test("stays the same folder whatever is renamed above it")
    func survivesRenaming() throws {
        let temporary = try TemporaryFolder()
        let top = try temporary.open()
        try top.make(folder: "before", mode: 0o700)
        let folder = try top.open(folder: "before")
        try top.rename("before", into: top, as: "after")
        try top.make(folder: "before", mode: 0o700)
        _ = try folder.create("file", mode: 0o600)
        #expect(try top.open(folder: "after").status(of: "file") != nil)
        #expect(try top.open(folder: "before").status(of: "file") == nil)
    }

    @Test("knows its room, its mount and its file system")
    func surroundings() throws {
        let temporary = try TemporaryFolder()
        let folder = try temporary.open()
        let space = try folder.space()
        #expect(space.total > 0 && space.available <= space.total)
        #expect(try folder.fileSystemType() != 0)
        let found = folder.mountIdentifier()
        let mount = try #require(found)
        #expect(Int(mount) != nil)
        #expect(try temporary.open().mountIdentifier() == mount)
        let processes = try Folder(opening: "/proc")
        #expect(processes.mountIdentifier() != mount)
        try folder.sync()
        try folder.syncFileSystem()
    }

    @Test("is none where a file stands, or nothing", arguments: [("/file", ENOTDIR), ("/none", ENOENT)])
    func isNone(_ row: (name: String, code: Int32)) throws {
        let temporary = try TemporaryFolder()
        try temporary.write("", to: "file")
        #expect(
            errorCode { _ = try Folder(opening: temporary.path + row.name) }
                == row.code)
    }
}

@Suite("A path")
struct MakePathTests {
    @Test(
        "is made with its parents", arguments: ["a", "a/b/c", "a//b", "a/b/", "here/b", "link/b", "./a/../c"])
    func makes(_ path: String) throws {
        let temporary = try TemporaryFolder()
        let folder = try temporary.open()
        try folder.make(folder: "here", mode: 0o755)
        try temporary.link("link", to: "here")
        for _ in 0..<2 {
            try makePath(temporary.path + "/" + path, mode: 0o700)
            #expect(try Folder(opening: temporary.path + "/" + path).status().mode == 0o700)
        }
        if path == "a/b/c" { #expect(try temporary.mode(of: "a") & 0o700 == 0o700) }
    }

    @Test("cannot lead through a file")
    func throughFile() throws {
        let temporary = try TemporaryFolder()
        try temporary.write("", to: "file")
        let path = temporary.path
        #expect(
            errorCode { try makePath(path + "/file/below", mode: 0o700) } == ENOTDIR
        )
    }

    @Test("of nothing is there already", arguments: ["", "/", "//"])
    func nothing(_ path: String) throws { try makePath(path, mode: 0o700) }
}
