/// A request as the origin read it.
package struct Request: Sendable {
    package let method: String
    /// The request target as sent, query included.
    package let target: String
    /// The fields in their order, names as sent, blanks around values trimmed.
    package let fields: [(name: String, value: String)]
    /// The body, at most 1 MiB of it; empty without Content-Length.
    package internal(set) var body: [UInt8] = []

    /// The target up to the query.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The first value of a field, whatever the case of its name.
    package func field(_ name: String) -> String? {
        let name = name.lowercased()
        return fields.first { $0.name.lowercased() == name }?.value
    }

    /// Reads a head without its final blank line; nil when its first line is not a request line.
    init?(head: some Sequence<UInt8>) {
        // A CRLF is one Character, so the text is split as bytes.
        let lines = Array(head).split(separator: 10).map { line in
            String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
        }
        guard let first = lines.first else { return nil }
        let words = first.split(separator: " ")
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return nil }
        method = String(words[0])
        target = String(words[1])
        fields = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), trimmed(line[line.index(after: colon)...]))
        }
    }
}

/// A request and what came of it, as the origin's log keeps it.
package struct LoggedRequest: Sendable {
    package let request: Request
    /// The number of the connection that brought it, from 0.
    package let connection: Int
    /// The status of the first status line that was sent; 0 when none was.
    package internal(set) var status = 0
    /// The bytes handed to the kernel after the answer's head.
    package internal(set) var sent = 0
    /// Whether the handler is done with it.
    package internal(set) var isFinished = false

    package var method: String { request.method }
    package var target: String { request.target }
}

func trimmed(_ text: some StringProtocol) -> String {
    let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    guard let first = text.firstIndex(where: { !blank($0) }), let last = text.lastIndex(where: { !blank($0) })
    else { return "" }
    return String(text[first...last])
}
