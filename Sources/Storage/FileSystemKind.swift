/// Kinds of file system on which locks and shared memory cannot be relied on as SQLite's write-ahead log needs them:
/// that log works on one machine only, and with a memory map that all of its programs see (sqlite.org/wal.html).
package enum FileSystemKind: Hashable, Sendable {
    /// Served by another machine; what it is called.
    case network(String)
    /// Served by a program of this machine, which may be anything: sshfs, rclone, an encrypted folder.
    case fuse
    case local

    /// By the magic number of statfs(2); the man page and `linux/magic.h` list them.
    package init(magic: UInt64) {
        // The kernel's field has a sign, and 32 bits on some machines.
        self =
            switch UInt32(truncatingIfNeeded: magic) {
            case 0x6969: .network("NFS")
            case 0x517B, 0xFF53_4D42, 0xFE53_4D42: .network("SMB")
            case 0x0102_1997: .network("9p")
            case 0x00C3_6400: .network("Ceph")
            case 0x5346_414F, 0x6B41_4653: .network("AFS")
            case 0x7375_7245: .network("Coda")
            case 0x0BD0_0BD0: .network("Lustre")
            case 0x786F_4256: .network("a VirtualBox share")
            case 0x6573_5546: .fuse
            default: .local
            }
    }
}
