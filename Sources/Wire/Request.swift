/// Why a request was not written: the part that would have broken its message.
package enum RequestError: Error, Sendable, Hashable {
    case malformedMethod
    case malformedTarget
    case malformedHost
    /// The field's name.
    case malformedField(String)
}

extension RequestError: CustomStringConvertible {
    /// A clause without capital and full stop; no value is in it.
    package var description: String {
        switch self {
        case .malformedMethod: "the request method is no token"
        case .malformedTarget: "the request target has a blank, a control or a character beyond ASCII in it"
        case .malformedHost: "the host has a blank, a control or a character beyond ASCII in it"
        case .malformedField(let name):
            "the header field '\(name)' has no token for a name or a line end or NUL in its value"
        }
    }
}

/// Writes a request without a body (RFC 9112 3): request line, Host, the fields in their order, blank line.
///
/// Nothing is written when it throws. No line end ever comes from a value (RFC 9112 11.1).
package func appendRequest(
    to buffer: inout [UInt8], method: String = "GET", target: String, host: String,
    fields: [(name: String, value: String)]
) throws(RequestError) {
    guard isToken(method) else { throw .malformedMethod }
    guard isVisible(target) else { throw .malformedTarget }
    guard isVisible(host) else { throw .malformedHost }
    for field in fields {
        // Other controls pass: a malformed ETag goes back as it came.
        let isSafe = field.value.utf8.allSatisfy { $0 != .carriageReturn && $0 != .lineFeed && $0 != 0 }
        guard isToken(field.name), isSafe else { throw .malformedField(field.name) }
    }
    buffer.append(contentsOf: method.utf8)
    buffer.append(.space)
    buffer.append(contentsOf: target.utf8)
    buffer.append(contentsOf: " HTTP/1.1\r\nHost: ".utf8)
    buffer.append(contentsOf: host.utf8)
    for field in fields {
        buffer.append(contentsOf: "\r\n".utf8)
        buffer.append(contentsOf: field.name.utf8)
        buffer.append(contentsOf: ": ".utf8)
        buffer.append(contentsOf: field.value.utf8)
    }
    buffer.append(contentsOf: "\r\n\r\n".utf8)
}

private func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(\.isToken) }

private func isVisible(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
}
