/// Cuts at the separator where it stands in no quoted string (RFC 9110 5.6.4); each part is trimmed.
func splitOutsideQuotes(_ bytes: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var start = bytes.startIndex
    var isQuoted = false
    var isEscaped = false
    for (index, byte) in zip(bytes.indices, bytes) {
        if isEscaped {
            isEscaped = false
        } else if isQuoted, byte == 0x5C {
            isEscaped = true
        } else if byte == 0x22 {
            isQuoted.toggle()
        } else if byte == separator, !isQuoted {
            parts.append(bytes[start..<index].trimmingBlanks())
            start = index + 1
        }
    }
    parts.append(bytes[start...].trimmingBlanks())
    return parts
}
