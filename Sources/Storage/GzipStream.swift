internal import CZlib

/// Decompresses gzip as it comes, member after member (RFC 1952 2.2); one step never makes more than its output
/// buffer holds, whatever the data claims.
struct GzipStream: ~Copyable {
    enum Fault: Error { case damaged, truncated }

    // zlib keeps a pointer back to its z_stream, which therefore must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isBetweenMembers = false
    private var isDamaged = false

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, and 16 more for "gzip only". See zlib.h, inflateInit2.
        let code = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(code == Z_OK, "inflateInit2: \(code)")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Whether the bytes begin as gzip with its only method, deflate, does (RFC 1952 2.3).
    static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 3 && bytes[0] == 0x1F && bytes[1] == 0x8B && bytes[2] == 8
    }

    /// Takes from the front of the input and returns how many bytes it wrote; 0 means that it wants more input.
    mutating func step(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(Fault) -> Int {
        if isDamaged { throw .damaged }
        while true {
            if isBetweenMembers {
                // Tapes and block devices pad with zeros, which gzip(1) ignores too.
                while input.first == 0 { input = UnsafeRawBufferPointer(rebasing: input.dropFirst()) }
                guard !input.isEmpty else { return 0 }
                inflateReset(stream)
                isBetweenMembers = false
            }
            guard let start = input.baseAddress, !input.isEmpty, !output.isEmpty else { return 0 }
            let given = UInt32(clamping: input.count)
            let room = UInt32(clamping: output.count)
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: start.assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = given
            stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = room
            let code = inflate(stream, Z_NO_FLUSH)
            let taken = Int(given - stream.pointee.avail_in)
            let made = Int(room - stream.pointee.avail_out)
            input = UnsafeRawBufferPointer(rebasing: input[taken...])
            switch code {
            case Z_STREAM_END: isBetweenMembers = true
            case Z_OK: break
            // No progress was possible: it needs more than it was given.
            case Z_BUF_ERROR where input.isEmpty: break
            default:
                // What came before the damage counts, however much of it came at once.
                isDamaged = true
                if made == 0 { throw .damaged }
            }
            if made > 0 { return made }
        }
    }

    /// To be called at the end of the input.
    func end() throws(Fault) {
        guard isBetweenMembers else { throw .truncated }
    }
}
