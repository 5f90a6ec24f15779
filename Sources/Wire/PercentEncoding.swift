/// Percent-encoding (RFC 3986 2.1).
enum PercentEncoding {
    /// Where the bytes stand decides which of them may stand bare.
    enum Component { case path, query, fragment }

    /// Encodes what may not stand in the component; escapes stay as written, a `%` that begins none becomes `%25`.
    static func encode(_ bytes: UnsafeRawBufferPointer, as component: Component) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            if mayStand(byte, in: component) || (byte == 0x25 && isEscape(bytes, at: index)) {
                output.append(byte)
            } else {
                output.append(0x25)
                output.append(digit(byte >> 4))
                output.append(digit(byte & 0x0F))
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes each escape once; a `%` that begins none stays.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(text)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25, bytes.count - index > 2,
                let high = bytes[index + 1].hexValue, let low = bytes[index + 2].hexValue
            {
                output.append(high << 4 | low)
                index += 3
            } else {
                output.append(bytes[index])
                index += 1
            }
        }
        return output
    }

    private static func mayStand(_ byte: UInt8, in component: Component) -> Bool {
        if byte.isPathCharacter || byte == 0x2F { return true }
        switch component {
        case .path: return false
        case .query, .fragment: return byte == 0x3F
        }
    }

    private static func isEscape(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        bytes.count - index > 2 && bytes[index + 1].hexValue != nil && bytes[index + 2].hexValue != nil
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }
}
