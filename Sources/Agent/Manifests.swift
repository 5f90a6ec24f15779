import Posix
import Storage

/// The manifests of a run, one after the other as one stream of entries.
struct Manifests: ~Copyable {
    private let paths: [String]
    private let stop: Stop
    private var reader: ManifestReader?
    private var next = 0
    private var seen = SeenKeys()
    private(set) var badLines = 0
    private(set) var refused = 0

    /// Opens each once, so that a missing one is known before anything is done.
    init(paths: [String], stop: Stop) throws(ManifestError) {
        self.paths = paths
        self.stop = stop
        for path in paths.dropFirst() where path != "-" { _ = try ManifestReader(path: path, stop: stop) }
        if let first = paths.first {
            reader = try ManifestReader(path: first, stop: stop)
            next = 1
        }
    }

    /// The next entries, duplicates united; nil at the end. May be empty in between.
    mutating func next(
        limit: Int, problems: (ManifestProblem) -> Void
    ) throws(ManifestError) -> [Entry]? {
        var bad = 0
        var refused = 0
        let note: (ManifestProblem) -> Void = { problem in
            switch problem.kind {
            case .warning: break
            case .badLine: bad += 1
            case .refusedEntry: refused += 1
            }
            problems(problem)
        }
        defer {
            badLines += bad
            self.refused += refused
        }
        var entries: [Entry] = []
        while entries.count < limit {
            guard reader != nil else { break }
            if let more = try reader?.next(limit: limit - entries.count, problems: note) {
                entries.append(contentsOf: more)
                continue
            }
            reader = next < paths.count ? try ManifestReader(path: paths[next], stop: stop) : nil
            next += 1
        }
        if entries.isEmpty { return nil }
        return unite(entries, seen: &seen, problems: note)
    }
}
