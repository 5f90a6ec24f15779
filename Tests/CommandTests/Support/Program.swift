internal import CLinux
internal import Posix
internal import Testing

/// The built `syncagent`, run as its users run it.
enum Program {
    /// The products' folder: the test runner lies there as well, whatever the build was called with.
    static let folder: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = max(0, readlink("/proc/self/exe", &buffer, buffer.count))
        let path = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }()

    /// The package's root.
    static let root: String = {
        var parts = #filePath.split(separator: "/")
        parts.removeLast(4)
        return "/" + parts.joined(separator: "/")
    }()

    static var environment: [String: String] {
        [
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": ScratchFolder.path, "LANG": "C.UTF-8",
            "TZ": "UTC",
            "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    /// The cache that `sync` and the others below use.
    static var cache: String { scratch("cache") }

    /// Starts `syncagent` with these arguments as they are.
    static func start(
        _ arguments: [String], input: String = "/dev/null", environment extra: [String: String] = [:]
    ) throws -> Child {
        try Child(
            folder + "/syncagent", arguments, environment: environment.merging(extra) { $1 }, input: input)
    }

    /// Runs `syncagent` with these arguments as they are, to its end.
    static func run(_ arguments: [String], input: String = "/dev/null", seconds: Double = 60) throws
        -> Child.Outcome
    {
        try start(arguments, input: input).wait(seconds: seconds)
    }

    /// Writes a manifest of these lines, for `sync`.
    static func manifest(_ lines: [String]) throws -> String {
        let path = scratch("manifest.txt")
        try write(lines.map { $0 + "\n" }.joined(), to: path)
        return path
    }

    /// Mirrors these manifest lines into the test's cache.
    static func sync(
        _ lines: [String], _ options: [String] = [], environment: [String: String] = [:],
        seconds: Double = 60
    ) throws -> Child.Outcome {
        try startSync(lines, options, environment: environment).wait(seconds: seconds)
    }

    /// Starts to mirror these manifest lines into the test's cache.
    static func startSync(
        _ lines: [String], _ options: [String] = [], environment: [String: String] = [:]
    ) throws -> Child {
        try start(["sync", try manifest(lines), "--cache", cache] + options, environment: environment)
    }

    /// The names of the finished files.
    static var finished: [String] { names(in: cache).filter { !$0.hasPrefix(".") && $0 != "CACHEDIR.TAG" } }

    /// The names of the partials.
    static var partials: [String] { names(in: cache + "/.syncagent/partial") }
}

/// The name that each URL's file has in a cache, told by md5sum(1) and the extension rule.
func cacheNames(of urls: [String]) throws -> [String] {
    if urls.isEmpty { return [] }
    let folder = scratch("md5")
    for (index, url) in urls.enumerated() { try write(url, to: "\(folder)/\(1_000_000 + index)") }
    // The shell sorts what it expands, so the order is that of the URLs.
    let outcome = Child.run("/bin/sh", ["-c", "md5sum 1* && rm 1*"], folder: folder)
    try #require(outcome.code == 0, "\(outcome)")
    return zip(outcome.output.split(separator: "\n"), urls).map { line, url in
        let segment =
            url.prefix { $0 != "?" && $0 != "#" }
            .split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let ending = segment.dropFirst().split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        let hasEnding =
            segment.dropFirst().contains(".") && (1...16).contains(ending.utf8.count)
            && ending.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return String(line.prefix(32)) + (hasEnding ? "." + ending : "")
    }
}
