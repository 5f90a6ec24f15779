extension HTTPURL {
    /// The extension of the last path segment with its dot, or nothing.
    ///
    /// Only `[A-Za-z0-9]{1,16}`, nothing decoded: a name with an escape after its last dot has none. A dot that
    /// begins the segment does not count.
    package var fileExtension: String {
        let bytes = path.utf8
        let segment = bytes[(bytes.lastIndex(of: 0x2F) ?? bytes.startIndex)...].dropFirst()
        guard let dot = segment.lastIndex(of: 0x2E), dot > segment.startIndex else { return "" }
        let letters = segment[dot...].dropFirst()
        guard (1...16).contains(letters.count), letters.allSatisfy(\.isAlphanumeric) else { return "" }
        return String(Substring(segment[dot...]))
    }
}
