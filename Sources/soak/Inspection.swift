internal import CLinux
internal import Posix
internal import Storage

/// The cache after a run, against what the origin ever had.
struct Inspection {
    let world: World
    let cache: String
    private let names: [String: Int]
    private var known: [String: (status: FileStatus, version: Int)] = [:]

    init(world: World, url: String, cache: String) {
        self.world = world
        self.cache = cache
        names = Dictionary(
            uniqueKeysWithValues: (0..<world.count).map { file in
                (Key(md5Of: url + world.path(of: file)).hex + ".bin", file)
            })
    }

    /// Looks at everything; throws what must never be.
    ///
    /// - Returns: the version of each file that is there.
    mutating func inspect() throws(Finding) -> [Int: Int] {
        var versions: [Int: Int] = [:]
        for name in try list(cache) where name != ".syncagent" && name != "CACHEDIR.TAG" {
            guard let file = names[name] else { throw Finding("a foreign file in the cache: \(name)") }
            let version = try version(of: file, named: name)
            if let before = known[name]?.version, before > version {
                throw Finding("\(name) went back from version \(before) to \(version)")
            }
            versions[file] = version
        }
        for name in known.keys where versions[names[name] ?? -1] == nil {
            throw Finding("\(name) was here and is gone")
        }
        try inspectState()
        return versions
    }

    /// The partials that are there.
    func partials() throws(Finding) -> [String] { try list(cache + "/.syncagent/partial") }

    private mutating func version(of file: Int, named name: String) throws(Finding) -> Int {
        let found: (FileStatus, Checksum?)
        do throws(SystemError) {
            let descriptor = try Folder(opening: cache).open(reading: name)
            let status = try descriptor.status()
            if let known = known[name], known.status == status { return known.version }
            found = (status, try digest(of: descriptor, algorithm: .xxh3))
        } catch {
            throw Finding("\(name) cannot be read: \(error.reason)")
        }
        let (status, sum) = found
        guard status.kind == .regular, status.mode & 0o7777 == 0o444 else {
            throw Finding("\(name) is no regular file of mode 0444")
        }
        let present = world.version(of: file)
        for version in stride(from: present, through: 0, by: -1)
        where world.size(file, version) == Int(status.size) && world.digest(file, version) == sum {
            known[name] = (status, version)
            return version
        }
        throw Finding(
            "\(name) (\(world.path(of: file)), \(world.style(of: file))) of \(status.size) bytes is no version of 0 to \(present)"
        )
    }

    private func inspectState() throws(Finding) {
        for name in try list(cache + "/.syncagent")
        where !["state.db", "state.db-wal", "state.db-shm", "lock", "partial"].contains(name) {
            throw Finding("a foreign file in .syncagent: \(name)")
        }
        var counts: [Substring: Int] = [:]
        for name in try partials() {
            let key = name.prefix(32)
            guard names[key + ".bin"] != nil, name.utf8.count == 41 else {
                throw Finding("a foreign partial: \(name)")
            }
            counts[key, default: 0] += 1
            if counts[key, default: 0] > 2 { throw Finding("more than two partials of \(key)") }
        }
        guard access(cache + "/.syncagent/state.db", F_OK) == 0 else { return }
        let words: String
        do throws(DatabaseError) {
            let ledger = try Database(opening: cache + "/.syncagent/state.db", .readOnly, patience: 2000)
            words = try ledger.text("PRAGMA integrity_check", "checking the ledger")
        } catch {
            throw Finding("the ledger cannot be checked: \(error.message)")
        }
        if words != "ok" { throw Finding("integrity_check: \(words)") }
    }

    private func list(_ path: String) throws(Finding) -> [String] {
        var names: [String] = []
        do throws(SystemError) {
            try Folder(opening: path).forEachName { name throws(SystemError) in names.append(name) }
        } catch {
            // A run that was killed at once may have made nothing yet.
            guard error.isMissing else { throw Finding("\(path): \(error.reason)") }
        }
        return names
    }
}
