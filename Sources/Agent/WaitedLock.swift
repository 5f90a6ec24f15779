import Posix
import Storage

extension CacheFolder {
    /// Takes the lock of a run; waits for whoever holds it, so many seconds.
    func lock(waiting seconds: Double, stop: Stop) throws(SyncError) -> CacheLock {
        // `status` holds the lock for a moment when it looks whether a run has it; that is no reason to leave.
        let deadline = Instant.now.advanced(bySeconds: max(seconds, 0.2))
        while true {
            do throws(CacheError) {
                if let lock = try lock() { return lock }
            } catch {
                throw .cacheUnusable(error)
            }
            // flock(2) has no deadline of its own.
            if Instant.now >= deadline || stop.wait(until: min(deadline, .now.advanced(bySeconds: 0.05))) {
                throw .lockHeld(cache: path)
            }
        }
    }
}
