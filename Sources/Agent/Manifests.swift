import Posix
import Storage

/// The manifests of a run, one after the other as one stream of entries.
struct Manifests: ~Copyable {
    private let paths: [String]
    private let stop: Stop
    private var reader: ManifestReader?
    private var next = 0
    private(set) var seen = SeenKeys()
    /// Problems that are more than a warning, by the manifest's name as given.
    private(set) var flaws: [String: Int] = [:]
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

    /// The names as given, by what the ledger calls the manifest.
    var names: [(path: String, given: [String])] {
        var names: [(path: String, given: [String])] = []
        for name in paths {
            let path = manifestName(name)
            if let index = names.firstIndex(where: { $0.path == path }) {
                if !names[index].given.contains(name) { names[index].given.append(name) }
            } else {
                names.append((path, [name]))
            }
        }
        return names
    }

    /// The next entries, duplicates united; nil at the end. May be empty in between.
    mutating func next(
        limit: Int, problems: (ManifestProblem) -> Void
    ) throws(ManifestError) -> [Entry]? {
        var bad = 0
        var refused = 0
        var found: [String] = []
        let note: (ManifestProblem) -> Void = { problem in
            switch problem.kind {
            case .warning: break
            case .badLine: bad += 1
            case .refusedEntry: refused += 1
            }
            if !problem.isWarning { found.append(problem.place.manifest) }
            problems(problem)
        }
        defer {
            badLines += bad
            self.refused += refused
            for name in found { flaws[name, default: 0] += 1 }
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
