/// The byte at an offset of an endless, seeded sequence that neither compresses nor repeats within a test.
///
/// Each 8 bytes are one output of SplitMix64 for their number, so any part can be made without what is before.
package func pattern(seed: UInt64, from offset: Int = 0, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        fill(UnsafeMutableRawBufferPointer(buffer), seed: seed, from: offset)
        initialized = count
    }
}

/// Writes the sequence's bytes from an offset on into the whole buffer.
func fill(_ buffer: UnsafeMutableRawBufferPointer, seed: UInt64, from offset: Int) {
    var index = 0
    while index < buffer.count {
        let position = offset &+ index
        let skipped = position & 7
        var word = mixed(seed &+ UInt64(truncatingIfNeeded: position >> 3)).littleEndian
        let count = min(buffer.count - index, 8 - skipped)
        if count == 8 {
            // Whole words keep unoptimised test builds quick.
            buffer.storeBytes(of: word, toByteOffset: index, as: UInt64.self)
        } else {
            withUnsafeBytes(of: &word) { bytes in
                for step in 0..<count { buffer[index + step] = bytes[skipped + step] }
            }
        }
        index += count
    }
}

private func mixed(_ number: UInt64) -> UInt64 {
    var word = number &* 0x9E37_79B9_7F4A_7C15 &+ 0x9E37_79B9_7F4A_7C15
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
}
