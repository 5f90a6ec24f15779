internal import CLinux
internal import Posix

/// One request and the means to answer it, well or badly. Everything blocks its own thread only, and returns
/// early when the client leaves or the origin stops.
package struct Exchange {
    package let request: Request
    /// The number of the connection, from 0.
    package let connection: Int
    /// How often this target was asked before.
    package let repetition: Int
    /// Bytes a second that the answer may take; nil for as fast as it goes.
    package var rate: Int?
    /// The status of the first status line that was sent; 0 before that.
    package private(set) var status = 0
    /// The bytes handed to the kernel after the answer's head.
    package private(set) var sent = 0

    private let peer: Peer
    private let record: (_ status: Int, _ sent: Int) -> Void
    private var blankLine = 0
    private var started: Instant?

    init(
        request: Request, connection: Int, repetition: Int, peer: Peer,
        record: @escaping (_ status: Int, _ sent: Int) -> Void
    ) {
        self.request = request
        self.connection = connection
        self.repetition = repetition
        self.peer = peer
        self.record = record
    }

    /// Whether more can be sent.
    package var isOpen: Bool { peer.isOpen }

    /// Sends bytes as they are, at the rate.
    package mutating func send(_ bytes: [UInt8]) {
        if status == 0 && bytes.starts(with: Array("HTTP/1.".utf8)) {
            status = Int(String(decoding: bytes.dropFirst(9).prefix(3), as: UTF8.self)) ?? 0
            record(status, 0)
        }
        var head = 0
        while blankLine < 4 && head < bytes.count {
            let expected: UInt8 = blankLine % 2 == 0 ? 13 : 10
            blankLine = bytes[head] == expected ? blankLine + 1 : (bytes[head] == 13 ? 1 : 0)
            head += 1
        }
        bytes.withUnsafeBytes { bytes in
            transmit(UnsafeRawBufferPointer(rebasing: bytes[..<head]), counts: false)
            transmit(UnsafeRawBufferPointer(rebasing: bytes[head...]), counts: true)
        }
    }

    /// Sends text as it is.
    package mutating func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends a whole answer; Content-Length and Date are added unless the fields name them or, for the
    /// length, Transfer-Encoding.
    package mutating func respond(_ status: Int, _ fields: [(String, String)] = [], _ body: [UInt8] = []) {
        sendHead(status, fields, length: body.count)
        if request.method != "HEAD" && status != 304 && status != 204 { send(body) }
    }

    /// Answers as a well-behaved origin does: ranges, conditions, 304, 206 and 416. With a limit, the
    /// connection is cut after that many bytes of the body.
    package mutating func serve(_ resource: Resource, cutAfter limit: Int? = nil, reset: Bool = false) {
        var validators: [(String, String)] = []
        if let etag = resource.etag { validators.append(("ETag", etag)) }
        if let date = resource.lastModified { validators.append(("Last-Modified", date)) }
        switch Selection(request, of: resource) {
        case .notModified:
            sendHead(304, validators, length: nil)
        case .unsatisfiable:
            respond(416, [("Content-Range", "bytes */\(resource.size)")])
        case .whole:
            if resource.takesRanges { validators.append(("Accept-Ranges", "bytes")) }
            sendHead(200, validators + resource.fields, length: resource.size)
            if request.method != "HEAD" {
                send(resource, 0..<resource.size, cutAfter: limit, reset: reset)
            }
        case .part(let part):
            validators.append(
                ("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(resource.size)"))
            sendHead(206, validators + resource.fields, length: part.count)
            send(resource, part, cutAfter: limit, reset: reset)
        }
    }

    /// Sends a part of a resource's bytes, without a head; with a limit, cuts after that many bytes.
    package mutating func send(
        _ resource: Resource, _ part: Range<Int>, cutAfter limit: Int? = nil, reset: Bool = false
    ) {
        let end = min(part.upperBound, part.lowerBound + (limit ?? part.count))
        var offset = part.lowerBound
        while offset < end && isOpen {
            let bytes = resource.bytes(from: offset, count: min(64 << 10, end - offset))
            if bytes.isEmpty { return close() }
            send(bytes)
            offset += bytes.count
        }
        if end < part.upperBound { cut(reset: reset) }
    }

    /// Sends an answer's head alone; a length of nil adds no Content-Length.
    package mutating func sendHead(_ status: Int, _ fields: [(String, String)], length: Int?) {
        let names = Set(fields.map { $0.0.lowercased() })
        var head = "HTTP/1.1 \(status) Status\r\n"
        if !names.contains("date") { head += "Date: \(httpDate(time(nil)))\r\n" }
        if let length, names.isDisjoint(with: ["content-length", "transfer-encoding"]) {
            head += "Content-Length: \(length)\r\n"
        }
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        send(head + "\r\n")
    }

    /// Sends bytes in pieces with a pause after each.
    package mutating func dribble(_ bytes: [UInt8], piece: Int = 1, pause seconds: Double) {
        var offset = 0
        while offset < bytes.count && isOpen {
            let end = min(bytes.count, offset + piece)
            send(Array(bytes[offset..<end]))
            offset = end
            peer.idle(until: Instant.now.advanced(bySeconds: seconds))
        }
    }

    /// Waits until the client's kernel has all that was sent, then ends the connection: by FIN, or by RST when
    /// the handler returns.
    package mutating func cut(reset: Bool = false) {
        peer.drain()
        peer.close(reset: reset)
    }

    /// Ends the connection by FIN at once, after what was sent.
    package mutating func close() { peer.close(reset: false) }

    /// Waits until the client leaves (or sends something) or the origin stops.
    package func stall() { peer.idle(until: .never) }

    /// Waits until the client's kernel has all that was sent.
    package func drain() { peer.drain() }

    private mutating func transmit(_ bytes: UnsafeRawBufferPointer, counts: Bool) {
        var rest = bytes
        while !rest.isEmpty && peer.isOpen {
            var piece = rest
            if let rate, counts {
                // Fifty pieces a second are smooth enough and few enough.
                piece = UnsafeRawBufferPointer(rebasing: rest.prefix(max(512, rate / 50)))
            }
            let start = started ?? .now
            started = start
            let taken = peer.send(piece)
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
            guard counts else { continue }
            sent += taken
            record(status, taken)
            guard let rate else { continue }
            peer.idle(until: start.advanced(bySeconds: Double(sent) / Double(max(1, rate))))
        }
    }
}
