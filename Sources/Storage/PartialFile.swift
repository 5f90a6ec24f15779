package import Posix
internal import Synchronization

/// The bytes of an unfinished transfer, open to be appended to.
///
/// One thread appends and truncates; others may sync it meanwhile. It closes with its last reference, so nobody
/// can meet a reused descriptor.
package final class PartialFile: Sendable {
    /// Its name in the partial folder.
    package let name: String
    package let descriptor: Descriptor
    package let inode: UInt64
    private let length: Atomic<UInt64>

    init(name: String, descriptor: consuming Descriptor, inode: UInt64, size: UInt64) {
        self.name = name
        self.descriptor = descriptor
        self.inode = inode
        length = Atomic(size)
    }

    /// Bytes that were accepted; the file is never longer when a method returns.
    package var size: UInt64 { length.load(ordering: .acquiring) }

    /// Appends all of the bytes or, on an error, none: what a full disk took of them is cut off again, since
    /// a shorter rest may follow.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        let size = size
        do throws(SystemError) {
            try descriptor.write(all: bytes, at: size)
        } catch {
            try descriptor.truncate(to: size)
            throw error
        }
        length.store(size + UInt64(bytes.count), ordering: .releasing)
    }

    /// Cuts the file; a size beyond the present one changes nothing.
    package func truncate(to size: UInt64) throws(SystemError) {
        guard size < self.size else { return }
        try descriptor.truncate(to: size)
        length.store(size, ordering: .releasing)
    }

    /// Makes the bytes and the size durable.
    package func syncData() throws(SystemError) { try descriptor.syncData() }

    /// Gives it the mode of a published file (0444). Belongs before `syncData`.
    package func setReadOnly() throws(SystemError) { try descriptor.setMode(0o444) }

    package func status() throws(SystemError) -> FileStatus { try descriptor.status() }
}
