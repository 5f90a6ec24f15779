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
        /// The unfinished files lie on another file system, from where nothing can be renamed into the cache.
        case divided
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

    private init(_ kind: Kind, path: String, reason: String, advice: String?) {
        (self.kind, self.path, self.reason, self.advice) = (kind, path, reason, advice)
    }

    static func divided(_ path: String) -> CacheError {
        CacheError(
            .divided, path: path, reason: "is on another file system than the cache",
            advice: "unmount it, or name another folder with --cache")
    }

    package init(_ error: SystemError, path: String) {
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
