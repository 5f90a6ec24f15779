internal import CLinux
internal import Posix
internal import Testing

/// Gives each test case a folder of its own below /tmp, and removes it afterwards.
struct ScratchFolder: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal static var path = "/nonexistent"

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let path = "/tmp/syncagent-test-\(randomHex(bytes: 6))"
        try #require(mkdir(path, 0o700) == 0)
        defer { _ = Child.run("/bin/rm", ["-rf", path], folder: "/tmp") }
        try await ScratchFolder.$path.withValue(path) { try await function() }
    }
}

extension Trait where Self == ScratchFolder {
    /// A folder of its own for each test case.
    static var scratch: Self { Self() }
}

/// The path of a name in the test case's folder.
func scratch(_ name: String) -> String { ScratchFolder.path + "/" + name }

/// Writes a new file, making the folders above it.
func write(_ bytes: [UInt8], to path: String) throws {
    var end = path.dropFirst().firstIndex(of: "/")
    while let slash = end {
        _ = mkdir(String(path[..<slash]), 0o755)
        end = path[path.index(after: slash)...].firstIndex(of: "/")
    }
    let number = clinux_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    try #require(number >= 0, "cannot write \(path)")
    let file = Descriptor(owning: number, subject: path)
    try bytes.withUnsafeBytes { try file.write(all: $0) }
}

/// Writes a new text file.
func write(_ text: String, to path: String) throws { try write(Array(text.utf8), to: path) }

/// The whole of a file; nil when it cannot be opened.
func contents(of path: String) throws -> [UInt8]? {
    let number = clinux_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)
    guard number >= 0 else { return nil }
    let file = Descriptor(owning: number, subject: path)
    let size = Int(try file.status().size)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
    defer { buffer.deallocate() }
    var filled = 0
    while filled < size {
        let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
        if count == 0 { break }
        filled += count
    }
    return Array(buffer[..<filled])
}

/// The names in a folder, sorted; none when there is no such folder.
func names(in path: String) -> [String] {
    var names: [String] = []
    do throws(SystemError) {
        try Folder(opening: path).forEachName { name throws(SystemError) in names.append(name) }
    } catch {
        return []
    }
    return names.sorted()
}

/// The size of what stands at a path, links not followed; nil when nothing does.
func size(of path: String) -> Int? {
    var raw = stat()
    return lstat(path, &raw) == 0 ? Int(raw.st_size) : nil
}

/// Asks every 5 ms until the answer is not nil; nil when that took longer than the seconds given.
func eventually<Result>(seconds: Double = 30, _ question: () throws -> Result?) rethrows -> Result? {
    let deadline = Instant.now.advanced(bySeconds: seconds)
    while true {
        if let answer = try question() { return answer }
        if Instant.now >= deadline { return nil }
        usleep(5000)
    }
}
