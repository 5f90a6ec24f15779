internal import CLinux
internal import Posix

/// A file as an origin has it: bytes and validators.
package struct Resource: Sendable {
    /// Bytes.
    package let size: Int
    /// The ETag field as sent, quotes and `W/` included; nil for none.
    package var etag: String?
    /// The Last-Modified field as sent (RFC 9110 5.6.7); nil for none.
    package var lastModified: String?
    /// Further fields of each 200, 203 and 206.
    package var fields: [(String, String)] = []
    /// False makes the origin ignore Range, as many do.
    package var takesRanges = true

    private let read: @Sendable (Int, UnsafeMutableRawBufferPointer) -> Int

    /// A resource of given bytes.
    package init(_ bytes: [UInt8], etag: String? = "\"v1\"", lastModified: String? = nil) {
        self.init(size: bytes.count, etag: etag, lastModified: lastModified) { offset, buffer in
            let part = bytes[offset..<min(bytes.count, offset + buffer.count)]
            buffer.copyBytes(from: part)
            return part.count
        }
    }

    /// A resource of a seeded sequence (see `pattern`), which takes no memory however large.
    package init(seed: UInt64, size: Int, etag: String? = "\"v1\"", lastModified: String? = nil) {
        self.init(size: size, etag: etag, lastModified: lastModified) { offset, buffer in
            let count = min(buffer.count, size - offset)
            fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), seed: seed, from: offset)
            return count
        }
    }

    /// A regular file below a folder, with validators made of its time and size as nginx makes them; nil when
    /// there is none by that name. A file that changes while it is served is not noticed.
    package init?(file path: String) {
        var raw = stat()
        guard stat(path, &raw) == 0, raw.st_mode & UInt32(S_IFMT) == UInt32(S_IFREG) else { return nil }
        let size = Int(raw.st_size)
        let time = Int(raw.st_mtim.tv_sec)
        self.init(
            size: size, etag: "\"\(String(time, radix: 16))-\(String(size, radix: 16))\"",
            lastModified: httpDate(time)
        ) { offset, buffer in
            let number = clinux_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0)
            guard number >= 0 else { return 0 }
            defer { close(number) }
            return max(0, pread(number, buffer.baseAddress, min(buffer.count, size - offset), off_t(offset)))
        }
    }

    private init(
        size: Int, etag: String?, lastModified: String?,
        read: @escaping @Sendable (Int, UnsafeMutableRawBufferPointer) -> Int
    ) {
        self.size = size
        self.etag = etag
        self.lastModified = lastModified
        self.read = read
    }

    /// Bytes from an offset on, at most `count`; fewer only at the end.
    package func bytes(from offset: Int, count: Int) -> [UInt8] {
        guard offset < size else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = read(offset, UnsafeMutableRawBufferPointer(buffer))
        }
    }
}

/// Seconds since 1970 as an IMF-fixdate (RFC 9110 5.6.7).
package func httpDate(_ seconds: Int) -> String {
    var time = time_t(seconds)
    var parts = tm()
    gmtime_r(&time, &parts)
    let length = 40
    return String(
        unsafeUninitializedCapacity: length
    ) { buffer in
        buffer.withMemoryRebound(to: CChar.self) {
            strftime($0.baseAddress, length, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        }
    }
}

/// An IMF-fixdate as seconds since 1970; nil for anything else.
func seconds(httpDate text: String) -> Int? {
    var parts = tm()
    guard let end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &parts), end.pointee == 0 else { return nil }
    return Int(timegm(&parts))
}
