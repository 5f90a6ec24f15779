/// How many bytes of a partial may be built upon (one row per line in the tests and in docs/rules.md).
///
/// The written count holds as long as the kernel that took the writes lives and the mount is the same: page
/// cache survives the death of a process. After a power cut only what was synced counts. A file that is shorter
/// than that was damaged by somebody, and none of it is believed.
///
/// - Parameters: byte counts; identifiers are nil when they could not be read.
/// - Returns: bytes to keep; the file is cut to them. nil: start over.
package func trustedLength(
    written: UInt64, durable: UInt64, storedBoot: String?, storedMount: String?, boot: String?,
    mount: String?,
    fileSize: UInt64
) -> UInt64? {
    let isSameKernel =
        storedBoot != nil && storedBoot == boot && storedMount != nil && storedMount == mount
    let count = isSameKernel ? max(written, durable) : durable
    return count > 0 && fileSize >= count ? count : nil
}
