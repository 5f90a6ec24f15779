package import Posix

/// The bytes of an unfinished transfer, open to be appended to. One writer each.
package struct PartialFile: ~Copyable, Sendable {
    /// Its name in the partial folder.
    package let name: String
    package let descriptor: Descriptor
    package let inode: UInt64
    /// Bytes that were accepted; the file is never longer when a method returns.
    package private(set) var size: UInt64

    init(name: String, descriptor: consuming Descriptor, inode: UInt64, size: UInt64) {
        self.name = name
        self.descriptor = descriptor
        self.inode = inode
        self.size = size
    }

    /// Appends all of the bytes or, on an error, none: what a full disk took of them is cut off again, since
    /// a shorter rest may follow.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        do throws(SystemError) {
            try descriptor.write(all: bytes, at: size)
        } catch {
            try descriptor.truncate(to: size)
            throw error
        }
        size += UInt64(bytes.count)
    }

    /// Cuts the file; a size beyond the present one changes nothing.
    package mutating func truncate(to size: UInt64) throws(SystemError) {
        guard size < self.size else { return }
        try descriptor.truncate(to: size)
        self.size = size
    }

    /// Makes the bytes and the size durable.
    package borrowing func syncData() throws(SystemError) { try descriptor.syncData() }

    /// Gives it the mode of a published file (0444). Belongs before `syncData`.
    package borrowing func setReadOnly() throws(SystemError) { try descriptor.setMode(0o444) }

    package borrowing func status() throws(SystemError) -> FileStatus { try descriptor.status() }
}
