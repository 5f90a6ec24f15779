internal import CLinux
package import Posix

/// Why a folder cannot serve as the cache.
package struct CacheError: Error, Hashable, Sendable {
    package enum Kind: Sendable {
        /// There is no cache, and none was to be made.
        case missing
        /// A file, or something else, stands where a folder belongs.
        case notAFolder
        case noPermission
        /// The file system is mounted read-only.
        case readOnly
        /// No room on the disk.
        case full
        /// The disk or the system failed.
        case failed
    }

    package let kind: Kind
    package let path: String
    /// A phrase in lower case that does not repeat the path.
    package let reason: String
    /// The next step; nil when there is none to name.
    package let advice: String?

    init(_ error: SystemError, path: String) {
        self.path = path
        switch error.code {
        case ENOENT: (kind, reason, advice) = (.missing, "there is no cache", nil)
        // ELOOP: a symbolic link where none is followed.
        case ENOTDIR, EEXIST, ELOOP:
            (kind, reason, advice) = (
                .notAFolder, "is not a folder", "move it away or name another folder with --cache"
            )
        case EROFS:
            (kind, reason, advice) = (
                .readOnly, "the file system is read-only", "name another folder with --cache"
            )
        case EACCES, EPERM:
            (kind, reason, advice) = (
                .noPermission, error.reason, "change its owner or name another folder with --cache"
            )
        default:
            (kind, advice) = (error.isDiskFull ? .full : .failed, nil)
            reason = "\(error.reason) (\(error.operation))"
        }
    }
}

/// The folder of finished files, with the ledger's folder and the unfinished ones below it.
package final class CacheFolder: Sendable {
    static let stateName = ".syncagent"
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

    /// Opens the cache. With `create` what is missing is made, and made durable; without it that is an error.
    package static func open(path given: String, create: Bool) throws(CacheError) -> CacheFolder {
        var path = given
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        var subject = path
        do throws(SystemError) {
            if create { try make(path) }
            let top = try Folder(opening: path)
            subject = path + "/" + stateName
            let isNew = create ? try top.make(folder: stateName, mode: 0o700) : false
            let state = try top.open(folder: stateName)
            if create { try close(to: top, state: state) }
            subject += "/" + partialsName
            if create, try state.make(folder: partialsName, mode: 0o700) { try state.sync() }
            let partials = try state.open(folder: partialsName)
            subject = path + "/" + tagName
            if create { try writeTag(top) }
            if isNew { try top.sync() }
            return CacheFolder(path: path, top: top, state: state, partials: partials)
        } catch {
            throw CacheError(error, path: subject)
        }
    }

    private init(path: String, top: consuming Folder, state: consuming Folder, partials: consuming Folder) {
        self.path = path
        self.top = top
        self.state = state
        self.partials = partials
    }

    /// Makes the folder and its parents, and makes their names durable as far as we may open the parents.
    private static func make(_ path: String) throws(SystemError) {
        var missing: [String] = []
        var ancestor = path
        while try isMissing(ancestor), !ancestor.isEmpty {
            missing.append(ancestor)
            ancestor = parent(of: ancestor)
        }
        guard !missing.isEmpty else { return }
        try makePath(path, mode: 0o755)
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
        guard let slash = path.lastIndex(of: "/") else { return "." }
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

    /// Takes the lock of a run; nil when another process has it.
    package func lock() throws(SystemError) -> FileLock? { try state.lock(CacheFolder.lockName) }

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
