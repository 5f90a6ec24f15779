internal import CLinux

/// A failed system call: what was tried, on what, and errno.
///
/// The sentence is made at the edge; `EBADF` and `EFAULT` never become a value, since they mean a fault of ours.
package struct SystemError: Error, Sendable, Hashable {
    /// The call's name as in its man page, for instance `openat`.
    package let operation: String
    /// The path, descriptor role or address that it was about.
    package let subject: String
    /// errno as the kernel gave it.
    package let code: Int32

    package init(_ operation: String, _ subject: String, code: Int32) {
        self.operation = operation
        self.subject = subject
        self.code = code
    }

    /// The kernel's own words for the code (strerror(3)), lower-cased at its first letter.
    package var reason: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard clinux_strerror(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        let words = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return words.prefix(1).lowercased() + words.dropFirst()
    }

    /// ENOSPC, for a lack of room that is found before the kernel says so.
    package static let noSpace = ENOSPC

    /// No room: disk full, quota spent, or a file-size limit.
    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }
    /// The file is larger than this process, or the file system, may make one; others may still fit.
    package var isFileTooLarge: Bool { code == EFBIG }
    /// The disk does not give back what was written, or gives back nonsense.
    package var isDamage: Bool { code == EIO || code == EUCLEAN || code == EBADMSG }
    /// The file system refuses to be written by anybody.
    package var isReadOnly: Bool { code == EROFS }
    /// A rename failed for what stands at the new name (a folder, a mount, a file that may not be replaced), which
    /// says nothing about other names. See rename(2).
    package var isAboutTarget: Bool {
        code == EISDIR || code == ENOTEMPTY || code == EEXIST || code == EBUSY || code == EPERM
            || code == ETXTBSY || code == ENAMETOOLONG
    }
    /// The name does not exist.
    package var isMissing: Bool { code == ENOENT }
}

/// Runs a system call until it is not interrupted; the one place that knows EINTR (signal(7)).
@inline(__always)
func retrying<Result: FixedWidthInteger>(
    _ operation: String, _ subject: @autoclosure () -> String, _ body: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = body()
        if result != -1 { return result }
        let code = clinux_errno()
        if code == EINTR { continue }
        precondition(code != EBADF && code != EFAULT, "\(operation): our own bug, errno \(code)")
        throw SystemError(operation, subject(), code: code)
    }
}
