internal import CISAL
internal import CZlib

/// A running CRC-32 (zlib's) or CRC-32C (ISA-L's), as object stores name them.
struct CyclicCheck: Sendable {
    private let isCastagnoli: Bool
    private var value: UInt32 = 0

    /// nil for what is no CRC.
    init?(_ algorithm: DigestAlgorithm) {
        switch algorithm {
        case .crc32: isCastagnoli = false
        case .crc32c: isCastagnoli = true
        case .md5, .sha1, .sha256, .sha384, .sha512, .xxh3: return nil
        }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            // ISA-L counts with an int.
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
            let start = piece.assumingMemoryBound(to: UInt8.self).baseAddress
            if isCastagnoli {
                // The library leaves the inversion before and after to its caller (RFC 3720 12.1).
                value = ~cisal_crc32c(start, Int32(piece.count), ~value)
            } else {
                value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), start, piece.count))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        }
    }

    /// Big-endian, as object stores encode it.
    var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
}
