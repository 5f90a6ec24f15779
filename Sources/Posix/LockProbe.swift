internal import CLinux

extension Folder {
    /// Whether somebody holds the exclusive lock on a file of this folder; false when the file is missing.
    ///
    /// flock(2) can only be asked by trying. The try takes a shared lock, which two askers can hold at once, and
    /// gives it back at once; who takes the exclusive lock should try again a moment later before giving up.
    package borrowing func isLocked(_ name: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            let file = try open(reading: name)
            _ = try retrying("flock", file.subject) { flock(file.number, LOCK_SH | LOCK_NB) }
            return false
        } catch {
            if error.code == EWOULDBLOCK { return true }
            if error.isMissing { return false }
            throw error
        }
    }
}
