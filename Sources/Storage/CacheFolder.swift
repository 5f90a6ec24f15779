internal import CLinux
package import Posix

/// The folder of finished files, with the lock and the unfinished ones below it, and the ledger's folder, which is
/// there as well unless another was named.
package final class CacheFolder: Sendable {
    package static let stateName = ".syncagent"
    static let partialsName = "partial"
    static let lockName = "lock"
    static let tagName = "CACHEDIR.TAG"
    /// Says to backup programs that the folder may be skipped (bford.info/cachedir).
    static let tag = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This file is a cache directory tag created by syncagent.
        # For information about cache directory tags, see https://bford.info/cachedir/

        """

    /// As it was given, without slashes at its end.
    package let path: String
    /// Finished files; the ledger's folder; unfinished files.
    package let top: Folder
    package let state: Folder
    package let partials: Folder
    /// `.syncagent` when the ledger is elsewhere; the lock of the cache is always in it.
    private let home: Folder?

    /// Opens the cache. With `create` what is missing is made, and made durable, and it must be a cache that can be
    /// written; without it what is missing is an error.
    ///
    /// - Parameter ledger: the folder of the ledger, made like the cache itself; nil for `.syncagent` in the cache.
    package static func open(
        path given: String, ledger: String? = nil, create: Bool
    ) throws(CacheError) -> CacheFolder {
        let path = withoutSlashes(given)
        var subject = path
        do throws(SystemError) {
            if create { try make(path, mode: 0o755) }
            let top = try Folder(opening: path)
            subject = path + "/" + stateName
            let isNew = create ? try top.make(folder: stateName, mode: 0o700) : false
            let state = try top.open(folder: stateName)
            if create { try close(to: top, state: state) }
            subject += "/" + partialsName
            if create, try state.make(folder: partialsName, mode: 0o700) { try state.sync() }
            let partials = try state.open(folder: partialsName)
            if create {
                guard try isOneMount(top, partials) else { throw SystemError("rename", subject, code: EXDEV) }
                try partials.proveWritable()
                subject = path + "/" + stateName
                try state.proveWritable()
                subject = path
                try top.proveWritable()
            }
            subject = path + "/" + tagName
            if create { try writeTag(top) }
            if isNew { try top.sync() }
            guard let ledger = ledger.map(withoutSlashes) else {
                return CacheFolder(path: path, top: top, state: state, partials: partials, home: nil)
            }
            subject = ledger
            if create { try make(ledger, mode: 0o700) }
            let elsewhere = try Folder(opening: ledger)
            if create { try elsewhere.proveWritable() }
            let (there, here) = (try elsewhere.status(), try state.status())
            if there.inode == here.inode, there.device == here.device {
                // The same folder by another name has one lock, which is taken once.
                return CacheFolder(path: path, top: top, state: state, partials: partials, home: nil)
            }
            return CacheFolder(path: path, top: top, state: elsewhere, partials: partials, home: state)
        } catch {
            throw error.code == EXDEV ? .divided(subject) : CacheError(error, path: subject)
        }
    }

    private init(
        path: String, top: consuming Folder, state: consuming Folder, partials: consuming Folder,
        home: consuming Folder?
    ) {
        self.path = path
        self.top = top
        self.state = state
        self.partials = partials
        self.home = home
    }

    private static func withoutSlashes(_ given: String) -> String {
        var path = given
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return path
    }

    /// Whether a file can be renamed from one folder into the other: rename(2) refuses to cross file systems, and
    /// mounts of one file system too.
    private static func isOneMount(
        _ one: borrowing Folder, _ other: borrowing Folder
    ) throws(SystemError) -> Bool {
        try one.status().device == other.status().device
            && one.mountIdentifier() == other.mountIdentifier()
    }

    /// Makes the folder and its parents, and makes their names durable as far as we may open the parents.
    private static func make(_ path: String, mode: UInt32) throws(SystemError) {
        var missing: [String] = []
        var ancestor = path
        while try isMissing(ancestor), !ancestor.isEmpty {
            missing.append(ancestor)
            ancestor = parent(of: ancestor)
        }
        guard !missing.isEmpty else { return }
        try makePath(path, mode: mode)
        for folder in missing.map(parent) {
            do throws(SystemError) {
                try Folder(opening: folder).sync()
            } catch  where error.isAboutPermission || error.code == EINVAL {
                // Being allowed to pass through a folder is enough to make another below it.
                continue
            }
        }
    }

    private static func isMissing(_ path: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try Folder(opening: path)
            return false
        } catch  where error.isMissing {
            return true
        } catch  where error.isAboutPermission {
            return false
        }
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        let parent = path[..<slash]
        return parent.isEmpty ? "/" : String(parent)
    }

    /// Takes the ledger's folder away from other users, whoever opened it to them.
    private static func close(to top: borrowing Folder, state: borrowing Folder) throws(SystemError) {
        guard try state.status().mode & 0o077 != 0 else { return }
        try top.open(reading: stateName).setMode(0o700)
    }

    private static func writeTag(_ top: borrowing Folder) throws(SystemError) {
        if let status = try top.status(of: tagName), status.kind != .regular || status.size > 0 { return }
        let file = try top.openOrCreate(tagName, mode: 0o644)
        try Array(tag.utf8).withUnsafeBufferPointer { text throws(SystemError) in
            try file.write(all: UnsafeRawBufferPointer(text), at: 0)
        }
    }

    /// The path of a published file.
    package func path(of fileName: String) -> String { path == "/" ? "/" + fileName : path + "/" + fileName }

    /// Takes the lock of a run; nil when another process has it. A ledger elsewhere has a lock of its own, since
    /// two caches may have been given the same.
    package func lock() throws(CacheError) -> CacheLock? {
        do throws(SystemError) {
            guard let lock = try state.lock(CacheFolder.lockName) else { return nil }
            guard home != nil else { return CacheLock(cache: lock, ledger: nil) }
            guard let other = try home?.lock(CacheFolder.lockName) else { return nil }
            return CacheLock(cache: other, ledger: lock)
        } catch {
            throw CacheError(error, path: error.subject)
        }
    }

    /// Whether the cache is still at its path, unfinished files and ledger included: somebody may have removed or
    /// moved it.
    package func isStillThere() throws(SystemError) -> Bool {
        guard try top.isStillThere(), try state.isStillThere() else { return false }
        return try partials.isStillThere()
    }

    /// On what kind of file system the ledger is.
    package func ledgerFileSystem() throws(SystemError) -> FileSystemKind {
        FileSystemKind(magic: try state.fileSystemType())
    }

    // MARK: Unfinished files

    /// Makes an empty partial under a name that nobody has.
    package func createPartial(for key: Key) throws(SystemError) -> PartialFile {
        var tries = 16
        while true {
            let name = key.hex + "." + randomHex(bytes: 4)
            do throws(SystemError) {
                let file = try partials.create(name, mode: 0o600)
                let inode = try file.status().inode
                return PartialFile(name: name, descriptor: file, inode: inode, size: 0)
            } catch  where error.code == EEXIST && tries > 0 {
                tries -= 1
            }
        }
    }

    /// Opens a partial and cuts it to the size up to which its bytes are believed. nil when it is missing, shorter
    /// than that, or not a file of ours.
    package func openPartial(named name: String, truncatedTo size: UInt64) throws(SystemError) -> PartialFile?
    {
        guard CacheFolder.isPartialName(name), try partials.status(of: name)?.kind == .regular else {
            return nil
        }
        let file = try openToWrite(name)
        let status = try file.status()
        guard status.kind == .regular, status.size >= size else { return nil }
        if status.size > size { try file.truncate(to: size) }
        return PartialFile(name: name, descriptor: file, inode: status.inode, size: size)
    }

    private func openToWrite(_ name: String) throws(SystemError) -> Descriptor {
        do throws(SystemError) {
            return try partials.open(writing: name)
        } catch  where error.code == EACCES {
            // A crash came between its being made read-only and its being published.
            try partials.open(reading: name).setMode(0o600)
            return try partials.open(writing: name)
        }
    }

    /// Removes a partial; one that is missing is fine.
    package func removePartial(_ name: String) throws(SystemError) {
        if CacheFolder.isPartialName(name) { try partials.remove(name) }
    }

    /// Removes what no row of the ledger knows; returns how many files. Folders are left alone.
    package func sweepPartials(known: Set<String>) throws(SystemError) -> Int {
        var unknown: [String] = []
        try partials.forEachName { name throws(SystemError) in
            if !known.contains(name) { unknown.append(name) }
        }
        var count = 0
        for name in unknown where try partials.status(of: name)?.kind != .folder {
            if try partials.remove(name) { count += 1 }
        }
        return count
    }

    /// 32 hex digits of a key, a dot, 8 hex digits.
    private static func isPartialName(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count == 41
            && bytes.enumerated().allSatisfy { index, byte in
                index == 32
                    ? byte == UInt8(ascii: ".")
                    : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    // MARK: Finished files

    /// Gives a complete, checked and durable partial its final name. A file, link or FIFO that has the name is
    /// replaced; a folder is not (`EISDIR`). See rename(2).
    package func publish(partialNamed name: String, as fileName: String) throws(SystemError) {
        guard CacheFolder.isPartialName(name), CacheFolder.isFileName(fileName) else {
            throw SystemError("renameat", path(of: fileName), code: EINVAL)
        }
        try partials.rename(name, into: top, as: fileName)
    }

    private static func isFileName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }

    /// What stands at a published file's name; nil when nothing does.
    package func status(of fileName: String) throws(SystemError) -> FileStatus? {
        try top.status(of: fileName)
    }

    // MARK: Durability

    /// Makes the names of published files durable.
    package func syncTop() throws(SystemError) { try top.sync() }

    /// Makes the names of partials durable.
    package func syncPartials() throws(SystemError) { try partials.sync() }

    /// Makes all data on the cache's file system durable.
    package func syncFileSystem() throws(SystemError) { try top.syncFileSystem() }
}
