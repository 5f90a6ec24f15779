/// How the end of a body is known (RFC 9112 6.3).
package enum BodyFraming: Hashable, Sendable {
    case none
    /// Bytes, at most `Int64.max`.
    case length(UInt64)
    case chunked
    /// Until the server closes: a close may be a truncation.
    case untilClose
}

/// Where an answer ends, and whether its connection outlives it.
package struct MessageFraming: Hashable, Sendable {
    package let body: BodyFraming
    /// The server means to keep the connection and the framing can be trusted (RFC 9112 9.3, 9.6).
    package let keepsConnection: Bool

    /// Throws when the head contradicts itself or names a transfer coding that is not `chunked`.
    package init(head: ResponseHead, requestMethodIsHead: Bool = false) throws(MessageError) {
        let persists = Self.persists(head)
        let coded = head.contains("transfer-encoding")

        if requestMethodIsHead || head.status < 200 || head.status == 204 || head.status == 304 {
            body = .none
            // A 204 that announces a body may send one; a 101 speaks another protocol from here on.
            let announcesBody =
                head.status == 204 && (coded || head.values("content-length").contains { $0 != "0" })
            keepsConnection = persists && !announcesBody && head.status != 101
        } else if coded {
            let codings = (head.value("transfer-encoding") ?? "").utf8.split(separator: 0x2C)
                .map { $0.trimmingBlanks() }.filter { !$0.isEmpty }
            guard codings.count == 1, codings[0].equalsIgnoringCase("chunked") else {
                throw .unsupportedTransferCoding(Self.excerpt(head.value("transfer-encoding")))
            }
            body = .chunked
            // Both framings, or one that HTTP/1.0 has not, smell of smuggling (RFC 9112 6.1, 6.3).
            keepsConnection = persists && !head.contains("content-length") && head.minorVersion > 0
        } else if let value = head.value("content-length") {
            body = .length(try Self.length(value))
            keepsConnection = persists
        } else {
            body = .untilClose
            keepsConnection = false
        }
    }

    /// One number, or the same number several times (RFC 9110 8.6).
    private static func length(_ list: String) throws(MessageError) -> UInt64 {
        var length: UInt64?
        for part in list.utf8.split(separator: 0x2C, omittingEmptySubsequences: false) {
            switch DecimalNumber(part.trimmingBlanks()) {
            case .malformed: throw .malformedContentLength(excerpt(list))
            case .tooLarge: throw .contentLengthTooLarge
            case .value(let value):
                if let length, length != value { throw .differentContentLengths(length, value) }
                length = value
            }
        }
        guard let length else { throw .malformedContentLength(excerpt(list)) }
        return length
    }

    private static func persists(_ head: ResponseHead) -> Bool {
        let options = (head.value("connection") ?? "").utf8.split(separator: 0x2C).map { $0.trimmingBlanks() }
        if options.contains(where: { $0.equalsIgnoringCase("close") }) { return false }
        return head.minorVersion > 0 || options.contains { $0.equalsIgnoringCase("keep-alive") }
    }

    private static func excerpt(_ value: String?) -> String {
        String(decoding: (value ?? "").utf8.prefix(64), as: UTF8.self)
    }
}
