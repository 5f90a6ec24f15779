/// Base64 with padding (RFC 4648 4).
package enum Base64 {
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count / 3 + 1) * 4)
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            guard held == 3 else { continue }
            for shift: UInt32 in [18, 12, 6, 0] { output.append(letter(group >> shift & 0x3F)) }
            group = 0
            held = 0
        }
        switch held {
        case 1:
            output.append(letter(group >> 2))
            output.append(letter(group << 4 & 0x3F))
            output.append(contentsOf: "==".utf8)
        case 2:
            output.append(letter(group >> 10))
            output.append(letter(group >> 4 & 0x3F))
            output.append(letter(group << 2 & 0x3F))
            output.append(0x3D)
        default: break
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// nil for anything but the one spelling that `encode` gives: padded, no blanks, no stray bits at the end.
    package static func decode(_ text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let letters = text.suffix(2)
        let padding = letters.elementsEqual("==".utf8) ? 2 : (letters.last == 0x3D ? 1 : 0)
        var output: [UInt8] = []
        output.reserveCapacity(text.count / 4 * 3)
        var pending: UInt32 = 0
        var bits = 0
        for byte in text.dropLast(padding) {
            guard let value = value(of: byte) else { return nil }
            pending = (pending << 6 | value) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                output.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
            }
        }
        guard pending & ((1 << UInt32(bits)) - 1) == 0 else { return nil }
        return output
    }

    private static func letter(_ value: UInt32) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return switch value {
        case 0...25: 0x41 + value
        case 26...51: 0x61 + value - 26
        case 52...61: 0x30 + value - 52
        case 62: 0x2B
        default: 0x2F
        }
    }

    private static func value(of letter: UInt8) -> UInt32? {
        switch letter {
        case 0x41...0x5A: UInt32(letter - 0x41)
        case 0x61...0x7A: UInt32(letter - 0x61) + 26
        case 0x30...0x39: UInt32(letter - 0x30) + 52
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}
