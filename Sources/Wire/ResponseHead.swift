/// Status line and fields of one answer (RFC 9112 4, 5).
///
/// The bytes lie in one array, and a field is two ranges of it; a value becomes a `String` when it is asked for.
package struct ResponseHead: Sendable {
    package static let maximumFieldCount = 500

    /// 100 to 599.
    package let status: Int
    /// 0 or 1, or what else one digit says after `HTTP/1.`.
    package let minorVersion: Int

    private struct Field {
        let name: Range<Int>
        var value: Range<Int>
    }
    private let reasonRange: Range<Int>
    /// Reason, names in lower case, trimmed values; folds are joined.
    private var bytes: [UInt8] = []
    private var lines: [Field] = []

    /// Reads a head up to its blank line; empty lines before it are skipped.
    ///
    /// A bare LF ends a line too (RFC 9112 2.2); folded lines are joined with one space (RFC 9112 5.2).
    package init(parsing source: UnsafeRawBufferPointer) throws(MessageError) {
        var reader = HeadLines(source)
        var statusLine = try reader.next()
        for _ in 0..<HeadScanner.maximumEmptyLines where statusLine?.isEmpty == true {
            statusLine = try reader.next()
        }
        guard let statusLine, let version = HTTPVersionAndStatus(statusLine) else { throw .notHTTP }
        status = version.status
        minorVersion = version.minorVersion
        bytes.reserveCapacity(source.count)
        bytes.append(contentsOf: statusLine.dropFirst(13))
        reasonRange = 0..<bytes.count

        while let line = try reader.next(), let first = line.first {
            if first.isBlank {
                try unfold(line)
            } else {
                try append(line)
            }
        }
    }

    private mutating func append(_ line: UnsafeRawBufferPointer) throws(MessageError) {
        guard lines.count < Self.maximumFieldCount else { throw .tooManyFields }
        guard let colon = line.firstIndex(of: 0x3A) else { throw .fieldWithoutColon }
        guard colon > 0, line[..<colon].allSatisfy(\.isToken) else { throw .malformedFieldName }
        let start = bytes.count
        for byte in line[..<colon] { bytes.append(byte.lowercased) }
        let valueStart = bytes.count
        bytes.append(contentsOf: line[(colon + 1)...].trimmingBlanks())
        lines.append(Field(name: start..<valueStart, value: valueStart..<bytes.count))
    }

    private mutating func unfold(_ line: UnsafeRawBufferPointer) throws(MessageError) {
        guard let last = lines.indices.last else { throw .foldBeforeFields }
        let more = line.trimmingBlanks()
        if more.isEmpty { return }
        // The value of the last field ends the array, so it can grow there.
        if !lines[last].value.isEmpty { bytes.append(.space) }
        bytes.append(contentsOf: more)
        lines[last].value = lines[last].value.lowerBound..<bytes.count
    }

    /// The reason phrase as text; what is not UTF-8 in it is replaced.
    package var reason: String { String(decoding: bytes[reasonRange], as: UTF8.self) }

    /// The lines of that name joined by `, ` (RFC 9110 5.3); nil when there is none.
    ///
    /// The name is given in lower case. UTF-8, or else Latin-1.
    package func value(_ name: StaticString) -> String? {
        var joined: String?
        for field in lines where matches(field, name) {
            joined = joined.map { $0 + ", " + text(field.value) } ?? text(field.value)
        }
        return joined
    }

    /// The lines of that name, each as it came; the name is given in lower case.
    package func values(_ name: StaticString) -> [String] {
        lines.filter { matches($0, name) }.map { text($0.value) }
    }

    /// The name is given in lower case.
    package func contains(_ name: StaticString) -> Bool { lines.contains { matches($0, name) } }

    /// All lines in their order; names in lower case.
    package var fields: [(name: String, value: String)] { lines.map { (text($0.name), text($0.value)) } }

    private func matches(_ field: Field, _ name: StaticString) -> Bool {
        name.withUTF8Buffer { field.name.count == $0.count && bytes[field.name].elementsEqual($0) }
    }

    private func text(_ range: Range<Int>) -> String {
        if let text = String(validating: bytes[range], as: UTF8.self) { return text }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: bytes[range].map { Unicode.Scalar($0) })
        return String(scalars)
    }
}

/// `HTTP/1.x DDD` at the start of a status line (RFC 9112 4); what follows is the reason.
private struct HTTPVersionAndStatus {
    let minorVersion: Int
    let status: Int

    init?(_ line: UnsafeRawBufferPointer) {
        guard line.count >= 12, line.starts(with: "HTTP/1.".utf8), line[7].isDigit, line[8] == .space else {
            return nil
        }
        guard let status = DecimalNumber(line[9..<12]).exact, (100...599).contains(status) else { return nil }
        guard line.count == 12 || line[12] == .space else { return nil }
        minorVersion = Int(line[7] - 0x30)
        self.status = Int(status)
    }
}

/// The lines of a head without their ends.
private struct HeadLines {
    private let source: UnsafeRawBufferPointer
    private var position = 0

    init(_ source: UnsafeRawBufferPointer) { self.source = source }

    mutating func next() throws(MessageError) -> UnsafeRawBufferPointer? {
        guard position < source.count else { return nil }
        let start = position
        var end = start
        while end < source.count, source[end] != .lineFeed {
            let isLoneReturn =
                source[end] == .carriageReturn && !(end + 1 < source.count && source[end + 1] == .lineFeed)
            if source[end] == 0 || isLoneReturn { throw .strayControl }
            end += 1
        }
        position = end < source.count ? end + 1 : end
        if end > start, source[end - 1] == .carriageReturn { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: source[start..<end])
    }
}
