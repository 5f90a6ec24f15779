internal import CLinux

extension Descriptor {
    /// Opens whatever stands at a path to read it: a file, or a FIFO, whose writer need not be there yet, since
    /// O_NONBLOCK keeps open(2) from waiting for it; links are followed. Wait before each read.
    package init(reading path: String) throws(SystemError) {
        let number = try retrying("open", path) {
            clinux_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0)
        }
        self.init(owning: number, subject: path)
    }

    /// A descriptor of our own for one that we were given, for instance 0. `EBADF` when whoever started us closed
    /// it. See fcntl(2), F_DUPFD_CLOEXEC.
    package init(duplicating number: Int32, subject: String) throws(SystemError) {
        let copy = clinux_fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw SystemError("dup", subject, code: clinux_errno()) }
        self.init(owning: copy, subject: subject)
    }

    /// Reads at most the buffer's size; 0 at the end, nil when a descriptor that does not block has nothing yet.
    package borrowing func readIfReady(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int?
    {
        do throws(SystemError) {
            return try read(into: buffer)
        } catch  where error.code == EAGAIN {
            return nil
        }
    }

    /// Tells the kernel that the file will be read from here to its end; a file system that does not care reads
    /// as well without. See posix_fadvise(2).
    package borrowing func adviseSequential(from offset: UInt64) {
        _ = posix_fadvise(number, off_t(clamping: offset), 0, POSIX_FADV_SEQUENTIAL)
    }
}

extension Descriptor {
    /// Tells the kernel that the file's pages up to here will not be read again soon, so that they need not push others
    /// out of memory. See posix_fadvise(2).
    package borrowing func adviseDone(upTo offset: UInt64) {
        _ = posix_fadvise(number, 0, off_t(clamping: offset), POSIX_FADV_DONTNEED)
    }
}

/// A path that leads to the same place from any working folder; links are not followed, nor `..` resolved. As it is
/// when the working folder is gone.
package func absolutePath(_ path: String) -> String {
    var parts = path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    if path.hasPrefix("/") { return "/" + parts }
    guard let buffer = getcwd(nil, 0) else { return path }
    defer { free(buffer) }
    let folder = String(cString: buffer)
    parts = (folder.hasSuffix("/") ? folder : folder + "/") + parts
    return parts
}

/// Where a byte first stands. See memchr(3), which reads a word or more at a time.
package func firstOffset(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else {
        return nil
    }
    return UnsafeRawPointer(found) - start
}

/// The whole of a regular file; nil when it is longer than the limit, in bytes.
package func wholeFile(at path: String, limit: Int) throws(SystemError) -> [UInt8]? {
    let file = try Descriptor(reading: path)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: limit + 1, alignment: 1)
    defer { buffer.deallocate() }
    var filled = 0
    while filled <= limit {
        let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
        if count == 0 { return Array(buffer[..<filled]) }
        filled += count
    }
    return nil
}
