internal import CLinux

/// A file that lines are appended to, and that logrotate(8) may move away at any time: the next line then goes to a
/// new file of the old name.
package struct AppendedFile: ~Copyable, Sendable {
    package let path: String
    private var descriptor: Descriptor
    private var device: UInt64
    private var inode: UInt64

    /// Opens the file, making it (0640) when it is missing.
    package init(path: String) throws(SystemError) {
        let file = try AppendedFile.open(path)
        let status = try file.status()
        self.path = path
        descriptor = file
        (device, inode) = (status.device, status.inode)
    }

    /// Appends the bytes with one write, so that lines of several processes do not mix (write(2), O_APPEND).
    package mutating func append(_ bytes: [UInt8]) throws(SystemError) {
        var raw = stat()
        let isSame =
            stat(path, &raw) == 0 && UInt64(raw.st_dev) == device && UInt64(raw.st_ino) == inode
        if !isSame {
            let file = try AppendedFile.open(path)
            let status = try file.status()
            descriptor = file
            (device, inode) = (status.device, status.inode)
        }
        try descriptor.write(bytes: bytes)
    }

    private static func open(_ path: String) throws(SystemError) -> Descriptor {
        // A FIFO without a reader is refused (ENXIO) instead of waited for.
        let number = try retrying("open", path) {
            clinux_openat(
                AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o640)
        }
        return Descriptor(owning: number, subject: path)
    }
}

/// Puts a file in the place of another, so that a reader sees all of the one or all of the other. It is not made
/// durable: who writes it writes it again. See rename(2).
package func replaceFile(at path: String, with bytes: [UInt8], mode: UInt32) throws(SystemError) {
    // In the same folder, or the rename could not be atomic; with a name that nobody collects.
    let temporary = path + "." + randomHex(bytes: 4) + ".tmp"
    let number = try retrying("open", temporary) {
        clinux_openat(AT_FDCWD, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    }
    do throws(SystemError) {
        let file = Descriptor(owning: number, subject: temporary)
        // The umask is not asked: the collector may be another user.
        try file.setMode(mode)
        try file.write(bytes: bytes)
        _ = try retrying("rename", path) { rename(temporary, path) }
    } catch {
        _ = unlink(temporary)
        throw error
    }
}

extension StandardStream {
    /// Whether `$JOURNAL_STREAM`, as `device:inode`, names what is at its other end. See systemd.exec(5).
    package func isJournal(_ variable: String?) -> Bool {
        var raw = stat()
        guard let variable, fstat(rawValue, &raw) == 0 else { return false }
        return variable == "\(raw.st_dev):\(raw.st_ino)"
    }
}
