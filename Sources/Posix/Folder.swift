internal import CLinux

/// A folder held open, so that paths below it keep their meaning whatever is renamed above it.
///
/// Names passed here are single components; nothing follows a link in the last component.
package struct Folder: ~Copyable, Sendable {
    private let descriptor: Descriptor
    /// The path that it was opened by, for messages.
    package var path: String { descriptor.subject }

    private init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Opens an existing folder. See open(2), O_DIRECTORY.
    package init(opening path: String) throws(SystemError) {
        let number = try retrying("open", path) {
            clinux_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        self.init(Descriptor(owning: number, subject: path))
    }

    /// Opens a folder below this one.
    package borrowing func open(folder name: String) throws(SystemError) -> Folder {
        let subject = path + "/" + name
        let number = try retrying("openat", subject) {
            clinux_openat(descriptor.number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        }
        return Folder(Descriptor(owning: number, subject: subject))
    }

    /// Makes a folder below this one; true when it was not there before. See mkdirat(2).
    @discardableResult
    package borrowing func make(folder name: String, mode: UInt32) throws(SystemError) -> Bool {
        do {
            _ = try retrying("mkdirat", path + "/" + name) { mkdirat(descriptor.number, name, mode) }
            return true
        } catch  where error.code == EEXIST {
            return false
        }
    }

    /// Opens a regular file below this one to read. O_NONBLOCK keeps a FIFO that took the name from hanging us.
    package borrowing func open(reading name: String) throws(SystemError) -> Descriptor {
        try open(name, O_RDONLY | O_NONBLOCK, 0)
    }

    /// Opens an existing file to read and write.
    package borrowing func open(writing name: String) throws(SystemError) -> Descriptor {
        try open(name, O_RDWR | O_NONBLOCK, 0)
    }

    /// Makes a new file; an existing name is an error (`EEXIST`).
    package borrowing func create(_ name: String, mode: UInt32) throws(SystemError) -> Descriptor {
        try open(name, O_RDWR | O_CREAT | O_EXCL, mode)
    }

    /// Opens a file, making it when it is missing.
    package borrowing func openOrCreate(_ name: String, mode: UInt32) throws(SystemError) -> Descriptor {
        try open(name, O_RDWR | O_CREAT | O_NONBLOCK, mode)
    }

    private borrowing func open(_ name: String, _ flags: Int32, _ mode: UInt32) throws(SystemError)
        -> Descriptor
    {
        let subject = path + "/" + name
        let number = try retrying("openat", subject) {
            clinux_openat(descriptor.number, name, flags | O_NOFOLLOW | O_CLOEXEC, mode)
        }
        return Descriptor(owning: number, subject: subject)
    }

    /// What stands at a name, links not followed; nil when nothing does. See fstatat(2).
    package borrowing func status(of name: String) throws(SystemError) -> FileStatus? {
        var raw = stat()
        do {
            _ = try retrying("fstatat", path + "/" + name) {
                fstatat(descriptor.number, name, &raw, AT_SYMLINK_NOFOLLOW)
            }
        } catch  where error.code == ENOENT {
            return nil
        }
        return FileStatus(raw)
    }

    /// Moves a file into another folder (or this one), replacing what has the name there. See renameat(2).
    package borrowing func rename(
        _ name: String, into other: borrowing Folder, as newName: String
    ) throws(SystemError) {
        _ = try retrying("renameat", path + "/" + name) {
            renameat(descriptor.number, name, other.descriptor.number, newName)
        }
    }

    /// Removes a file; false when it was not there. See unlinkat(2).
    @discardableResult
    package borrowing func remove(_ name: String) throws(SystemError) -> Bool {
        do {
            _ = try retrying("unlinkat", path + "/" + name) { unlinkat(descriptor.number, name, 0) }
            return true
        } catch  where error.code == ENOENT {
            return false
        }
    }

    /// Makes the folder's entries durable. See fsync(2).
    package borrowing func sync() throws(SystemError) { try descriptor.sync() }

    /// Makes the whole file system durable. See syncfs(2).
    package borrowing func syncFileSystem() throws(SystemError) { try descriptor.syncFileSystem() }

    /// Whether this process may make, rename and remove files in the folder; throws what speaks against it. See
    /// faccessat(2), AT_EACCESS.
    package borrowing func proveWritable() throws(SystemError) {
        _ = try retrying("faccessat", path) {
            faccessat(descriptor.number, ".", W_OK | X_OK, AT_EACCESS)
        }
    }

    /// Whether the path that it was opened by still leads to it.
    package borrowing func isStillThere() throws(SystemError) -> Bool {
        let (mine, present): (FileStatus, FileStatus)
        do throws(SystemError) {
            (mine, present) = (try status(), try Folder(opening: path).status())
        } catch  where error.isMissing || error.code == ENOTDIR {
            return false
        }
        return mine.inode == present.inode && mine.device == present.device
    }

    /// What the folder itself is.
    package borrowing func status() throws(SystemError) -> FileStatus { try descriptor.status() }

    /// Room on the file system, in bytes that this user may take, and its whole size. See fstatvfs(3).
    package borrowing func space() throws(SystemError) -> (available: UInt64, total: UInt64) {
        var raw = statvfs()
        _ = try retrying("fstatvfs", path) { fstatvfs(descriptor.number, &raw) }
        let unit = UInt64(raw.f_frsize)
        return (
            UInt64(raw.f_bavail).multipliedReportingOverflow(by: unit).partialValue,
            UInt64(raw.f_blocks).multipliedReportingOverflow(by: unit).partialValue
        )
    }

    /// The kind of file system, as the magic number of statfs(2).
    package borrowing func fileSystemType() throws(SystemError) -> UInt64 {
        var raw = statfs()
        _ = try retrying("fstatfs", path) { fstatfs(descriptor.number, &raw) }
        return UInt64(truncatingIfNeeded: raw.f_type)
    }

    /// The mount that the folder lies on; nil when the kernel does not tell.
    package borrowing func mountIdentifier() -> String? { Posix.mountIdentifier(of: descriptor) }

    /// Calls the body with each name but `.` and `..`, in the order of the file system. See readdir(3).
    package borrowing func forEachName(_ body: (String) throws(SystemError) -> Void) throws(SystemError) {
        // A duplicate would share the read position; a fresh open does not.
        let number = try retrying("openat", path) {
            clinux_openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        guard let stream = fdopendir(number) else {
            let code = clinux_errno()
            _ = CLinux.close(number)
            throw SystemError("fdopendir", path, code: code)
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { try body(name) }
        }
    }

    /// Takes the kernel's exclusive lock on a file of this folder, without waiting; nil when another open file
    /// description holds it. The lock goes with the returned value, however the process ends. See flock(2).
    package borrowing func lock(_ name: String) throws(SystemError) -> FileLock? {
        let file = try openOrCreate(name, mode: 0o600)
        do {
            _ = try retrying("flock", file.subject) { flock(file.number, LOCK_EX | LOCK_NB) }
        } catch  where error.code == EWOULDBLOCK {
            return nil
        }
        return FileLock(file: file)
    }
}

/// A kernel lock that is held as long as this value lives.
package struct FileLock: ~Copyable, Sendable {
    fileprivate let file: Descriptor
}

/// Makes a folder and its missing parents (0755 for parents), as `mkdir -p` does.
package func makePath(_ path: String, mode: UInt32) throws(SystemError) {
    let slash = UInt8(ascii: "/")
    // Cut in bytes, as the kernel does: to a text a slash that an accent follows is another letter.
    var made = path.utf8.first == slash ? "/" : ""
    let parts = path.utf8.split(separator: slash).map { Substring($0) }
    for (index, part) in parts.enumerated() {
        made += (made.isEmpty || made.utf8.last == slash ? "" : "/") + part
        let target = made
        do {
            _ = try retrying("mkdir", target) { mkdir(target, index == parts.count - 1 ? mode : 0o755) }
        } catch  where error.code == EEXIST {
            continue
        }
    }
}
