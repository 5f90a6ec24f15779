internal import Posix
internal import Wire

/// The file of `--netrc-file`, or `~/.netrc`. One among systemd's credentials (systemd.exec(5), LoadCredential=) is
/// guarded by its folder.
enum NetrcFile {
    /// Bytes; a longer file is no netrc.
    private static let largest = 1 << 20
    /// Permission bits of the group and of others.
    private static let otherPeoples: UInt32 = 0o077

    /// What the options name; nil when they name none.
    ///
    /// - Parameter environment: a variable's value; nil when it is not set or empty.
    static func read(
        _ arguments: Arguments, environment: (String) -> String?
    ) throws(CommandError) -> Netrc? {
        if let path = arguments.value(.netrcFile) {
            guard !path.isEmpty else {
                throw CommandError(.usage, "--netrc-file wants a file, not an empty word")
            }
            // Only the service's user may enter the folder, and what the ACL grants shows as the group's permission.
            let credentials = environment("CREDENTIALS_DIRECTORY").map { $0 + "/" }
            return try parse(path, isGuarded: credentials.map { path.hasPrefix($0) } ?? false)
        }
        guard arguments.has(.netrc) else { return nil }
        guard let home = environment("HOME") else {
            throw CommandError(.configuration, "no ~/.netrc, since HOME is not set; pass --netrc-file FILE")
        }
        return try parse(home + "/.netrc")
    }

    private static func parse(_ path: String, isGuarded: Bool = false) throws(CommandError) -> Netrc {
        let bytes = try contents(of: path, isGuarded: isGuarded)
        do throws(NetrcError) {
            return try Netrc(parsing: bytes)
        } catch {
            throw CommandError(.configuration, "\(path): \(error)")
        }
    }

    /// - Parameter isGuarded: by its folder, whatever its own mode says.
    private static func contents(of path: String, isGuarded: Bool) throws(CommandError) -> [UInt8] {
        let (bytes, status) = try onDisk(path) { () throws(SystemError) in
            let file = try Descriptor(reading: path)
            // Asked of the open file, so that what is judged is what is read.
            let status = try file.status()
            return (status.kind == .regular ? try contents(of: file) : [], status)
        }
        guard status.kind == .regular else {
            throw CommandError(.configuration, "cannot read \(path): it is no regular file")
        }
        guard isGuarded || status.mode & otherPeoples == 0 else {
            throw CommandError(
                .configuration, "\(path) can be read by others, and it holds passwords; chmod 600 \(path)")
        }
        guard bytes.count < largest else {
            throw CommandError(.configuration, "cannot read \(path): it is too long for a netrc")
        }
        return bytes
    }

    private static func onDisk<Result>(
        _ path: String, _ body: () throws(SystemError) -> Result
    ) throws(CommandError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw CommandError(.configuration, "cannot read \(path): \(error.reason)")
        }
    }

    private static func contents(of file: borrowing Descriptor) throws(SystemError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: largest, alignment: 1)
        defer { buffer.deallocate() }
        var filled = 0
        while filled < largest {
            let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if count == 0 { break }
            filled += count
        }
        return Array(buffer[..<filled])
    }
}
