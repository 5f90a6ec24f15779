internal import CLinux

/// Random bytes of the kernel, as lower-case hex. See getrandom(2).
package func randomHex(bytes count: Int) -> String {
    var bytes = [UInt8](repeating: 0, count: count)
    // Up to 256 bytes come whole, and never fail once the kernel has booted.
    let got = getrandom(&bytes, count, 0)
    precondition(got == count && count <= 256, "getrandom")
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

/// The kernel's boot id (proc(5), /proc/sys/kernel/random/boot_id); nil when it cannot be read.
package func bootIdentifier() -> String? {
    guard let text = readSmallFile("/proc/sys/kernel/random/boot_id") else { return nil }
    let id = text.split(separator: "\n").first.map(String.init)
    return id?.isEmpty == false ? id : nil
}

/// The mount id of the folder at a path (proc(5), mnt_id in /proc/self/fdinfo); nil when it cannot be read.
package func mountIdentifier(of descriptor: borrowing Descriptor) -> String? {
    guard let text = readSmallFile("/proc/self/fdinfo/\(descriptor.number)") else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix("mnt_id:") {
        return line.dropFirst(7).split(whereSeparator: { $0 == "\t" || $0 == " " }).first.map(String.init)
    }
    return nil
}

/// The first 4 KiB of a small file as text; nil when it cannot be opened or read.
package func readSmallFile(_ path: String) -> String? {
    let number = clinux_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)
    guard number >= 0 else { return nil }
    let file = Descriptor(owning: number, subject: path)
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer -> String? in
        do throws(SystemError) {
            let count = try file.read(into: buffer)
            return String(decoding: buffer[..<count], as: UTF8.self)
        } catch {
            return nil
        }
    }
}
