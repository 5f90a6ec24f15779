internal import Posix

/// What a run holds as long as it works.
package struct CacheLock: ~Copyable, Sendable {
    private let cache: FileLock
    private let ledger: FileLock?

    init(cache: consuming FileLock, ledger: consuming FileLock?) {
        self.cache = cache
        self.ledger = ledger
    }
}
