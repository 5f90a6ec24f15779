internal import CLinux

/// An open file descriptor with one owner; it is closed when the owner goes.
package struct Descriptor: ~Copyable, Sendable {
    /// The number that the kernel gave. Valid as long as the descriptor lives.
    package let number: Int32
    /// What it is, for error messages: a path or an address.
    package let subject: String

    /// Takes over a descriptor that nobody else closes.
    package init(owning number: Int32, subject: String) {
        self.number = number
        self.subject = subject
    }

    deinit {
        // close(2) is never retried on Linux: the number is free even after EINTR.
        _ = CLinux.close(number)
    }

    /// Reads at most the buffer's size; 0 at the end of the file. See read(2).
    package borrowing func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        try retrying("read", subject) { CLinux.read(number, buffer.baseAddress, buffer.count) }
    }

    /// Reads at most the buffer's size from an offset; 0 at the end of the file. See pread(2).
    package borrowing func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) -> Int {
        try retrying("pread", subject) {
            CLinux.pread(number, buffer.baseAddress, buffer.count, off_t(clamping: offset))
        }
    }

    /// Writes the whole buffer, however the kernel splits it. See write(2).
    package borrowing func write(all buffer: UnsafeRawBufferPointer) throws(SystemError) {
        var rest = buffer
        while !rest.isEmpty {
            let count = try retrying("write", subject) { CLinux.write(number, rest.baseAddress, rest.count) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Writes all of the bytes. See write(2).
    package borrowing func write(bytes: borrowing [UInt8]) throws(SystemError) {
        try bytes.span.withUnsafeBytes { (buffer) throws(SystemError) in try write(all: buffer) }
    }

    /// Writes the whole buffer at an offset. Returns only when all of it was taken. See pwrite(2).
    package borrowing func write(all buffer: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemError) {
        var rest = buffer
        var position = offset
        while !rest.isEmpty {
            let count = try retrying("pwrite", subject) {
                CLinux.pwrite(number, rest.baseAddress, rest.count, off_t(clamping: position))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            position += UInt64(count)
        }
    }

    /// Cuts or extends the file. See ftruncate(2).
    package borrowing func truncate(to size: UInt64) throws(SystemError) {
        _ = try retrying("ftruncate", subject) { CLinux.ftruncate(number, off_t(clamping: size)) }
    }

    /// Makes data and size durable. See fdatasync(2).
    package borrowing func syncData() throws(SystemError) {
        _ = try retrying("fdatasync", subject) { CLinux.fdatasync(number) }
    }

    /// Makes data and everything about the file, or a folder's entries, durable. See fsync(2).
    package borrowing func sync() throws(SystemError) {
        _ = try retrying("fsync", subject) { CLinux.fsync(number) }
    }

    /// Makes everything on the file system that holds this file durable. See syncfs(2); Linux 5.8 and later
    /// report write-back errors here.
    package borrowing func syncFileSystem() throws(SystemError) {
        _ = try retrying("syncfs", subject) { CLinux.syncfs(number) }
    }

    /// Size, times, inode and kind. See fstat(2).
    package borrowing func status() throws(SystemError) -> FileStatus {
        var raw = stat()
        _ = try retrying("fstat", subject) { CLinux.fstat(number, &raw) }
        return FileStatus(raw)
    }

    /// Sets the permission bits. See fchmod(2).
    package borrowing func setMode(_ mode: UInt32) throws(SystemError) {
        _ = try retrying("fchmod", subject) { CLinux.fchmod(number, mode) }
    }
}

/// What stat(2) says of a file.
package struct FileStatus: Sendable, Hashable {
    /// What stands at a name.
    package enum Kind: Sendable { case regular, folder, link, other }

    package let kind: Kind
    /// Bytes.
    package let size: UInt64
    package let inode: UInt64
    package let device: UInt64
    /// Time of the last change of content, in nanoseconds since 1970.
    package let modified: Int64
    /// Time of the last read that the file system kept, in nanoseconds since 1970.
    package let accessed: Int64
    package let owner: UInt32
    /// Permission bits.
    package let mode: UInt32

    init(_ raw: stat) {
        switch raw.st_mode & UInt32(S_IFMT) {
        case UInt32(S_IFREG): kind = .regular
        case UInt32(S_IFDIR): kind = .folder
        case UInt32(S_IFLNK): kind = .link
        default: kind = .other
        }
        size = UInt64(clamping: raw.st_size)
        inode = UInt64(raw.st_ino)
        device = UInt64(raw.st_dev)
        modified = Int64(raw.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(raw.st_mtim.tv_nsec)
        accessed = Int64(raw.st_atim.tv_sec) &* 1_000_000_000 &+ Int64(raw.st_atim.tv_nsec)
        owner = raw.st_uid
        mode = raw.st_mode & 0o7777
    }
}
