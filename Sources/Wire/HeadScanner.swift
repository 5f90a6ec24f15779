/// Finds the end of a response head in a buffer that grows; looks at each byte once.
package struct HeadScanner: Sendable {
    /// Bytes, the blank line included.
    package static let maximumHeadSize = 256 * 1024
    /// Some servers end a body with a line end too many (RFC 9112 2.2).
    package static let maximumEmptyLines = 4

    private var start = 0
    private var emptyLines = 0
    private var scanned = 0
    private var isRecognised = false

    package init() {}

    /// The length of the head, its blank line included, or nil when more bytes are needed.
    ///
    /// `bytes` begins at the head each time and has grown at its end since the last call. What does not begin like
    /// HTTP is refused at its first wrong byte, so that a server of another kind is not waited for.
    package mutating func end(in bytes: UnsafeRawBufferPointer) throws(MessageError) -> Int? {
        guard try skipEmptyLines(in: bytes) else { return nil }
        if !isRecognised {
            for (byte, expected) in zip(bytes[start...], "HTTP/".utf8) where byte != expected {
                throw .notHTTP
            }
            isRecognised = bytes.count - start >= 5
        }
        let limit = min(bytes.count, Self.maximumHeadSize)
        scanned = max(scanned, start)
        while scanned < limit {
            if bytes[scanned] == .lineFeed, isBlankLine(endingAt: scanned, in: bytes) {
                scanned += 1
                return scanned
            }
            scanned += 1
        }
        guard bytes.count < Self.maximumHeadSize else { throw .headTooLarge }
        return nil
    }

    private func isBlankLine(endingAt end: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard end > start else { return true }
        if bytes[end - 1] == .lineFeed { return true }
        return bytes[end - 1] == .carriageReturn && end - 1 > start && bytes[end - 2] == .lineFeed
    }

    /// False when the next byte is needed to know.
    private mutating func skipEmptyLines(in bytes: UnsafeRawBufferPointer) throws(MessageError) -> Bool {
        while start < bytes.count {
            var next = start
            if bytes[next] == .carriageReturn {
                next += 1
                guard next < bytes.count else { return false }
            }
            guard bytes[next] == .lineFeed else {
                if next > start { throw .notHTTP }
                return true
            }
            start = next + 1
            emptyLines += 1
            if emptyLines > Self.maximumEmptyLines { throw .notHTTP }
        }
        return false
    }
}
