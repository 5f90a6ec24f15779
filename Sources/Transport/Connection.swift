package import Posix
package import Wire

/// One HTTP/1.1 connection to an origin: one exchange after the other, in the order `send`, `receiveHead`,
/// `receiveBody` until it returns 0. After an error only `deinit` is left, but for `send`'s.
package struct Connection: ~Copyable {
    /// Interim answers (1xx) before an answer that are skipped (RFC 9110 15.2).
    package static let maximumInterimAnswers = 20

    private enum Phase { case ready, sent, body, complete, broken }

    package let origin: Origin
    /// How the origin is reached; a connection serves only requests whose route is the same.
    package let route: Route
    private let subject: String
    private var channel: Channel
    private var buffer = HeadBuffer()
    private var phase = Phase.ready
    private var exchanges = 0
    /// The request did not get out whole.
    private var isSendBroken = false
    private var hasSurplus = false
    private var remaining: UInt64 = 0
    private var decoder = ChunkedDecoder()

    /// How the answer's body ends; nil before the first head.
    package private(set) var framing: MessageFraming?
    /// Bytes of any kind that have come since the last `send`.
    package private(set) var bytesReceived: UInt64 = 0

    private init(_ origin: Origin, _ route: Route, _ channel: consuming Channel) {
        self.origin = origin
        self.route = route
        subject = route.subject(for: origin)
        self.channel = channel
    }

    /// Connects, tunnel and TLS included, on the network's route to the origin. Each address has
    /// `network.connectTimeout` seconds, all of it ends at the limit. A host beyond ASCII is looked up, and its
    /// certificate checked, in ASCII (`Origin.ascii()`).
    package static func open(
        to origin: Origin, using network: Network, until limit: Instant = .never
    ) throws(TransportError) -> Connection {
        let named = try origin.ascii()
        let route = network.route(to: named)
        return Connection(origin, route, try Channel.open(to: named, by: route, using: network, until: limit))
    }

    /// The address that accepted, a proxy's where there is one.
    package var address: Address { channel.address }
    /// `TLSv1.3` and the like; nil over plain TCP.
    package var tlsVersion: String? { channel.tlsVersion }
    /// A TLS session of an earlier connection was taken up again.
    package var isResumed: Bool { channel.isResumed }
    /// Any byte has come since the last `send`. When none has, on a reused connection, the server had closed it
    /// before it saw the request, which may be sent again (RFC 9112 9.3.1).
    package var hasAnswered: Bool { bytesReceived > 0 }
    /// At least one exchange was completed on it before the present one.
    package var isReused: Bool { exchanges > 1 }

    /// Whether another request may be sent: the last message is complete, well framed, meant to be followed, and
    /// nothing came after it, neither bytes nor the end.
    package func isReusable() -> Bool {
        switch phase {
        case .ready:
            return channel.isQuiet()
        case .complete:
            guard let framing, framing.keepsConnection, !isSendBroken, !hasSurplus, buffer.isEmpty else {
                return false
            }
            return channel.isQuiet()
        case .sent, .body, .broken:
            return false
        }
    }

    /// Sends a whole request and begins an exchange. A server that closes early may have answered before: that is
    /// no error here, and `receiveHead` tells.
    package mutating func send(_ request: borrowing [UInt8], until deadline: Instant) throws(TransportError) {
        phase = .sent
        exchanges += 1
        bytesReceived = 0
        framing = nil
        do throws(TransportError) {
            try request.span.withUnsafeBytes { bytes throws(TransportError) in
                try channel.send(bytes, until: deadline)
            }
        } catch {
            if case .closed = error.cause {
                isSendBroken = true
                return
            }
            phase = .broken
            throw error
        }
    }

    /// Waits for the final answer's head; interim ones are skipped. A 101 that nobody asked for is malformed.
    package mutating func receiveHead(until deadline: Instant) throws(TransportError) -> ResponseHead {
        do throws(TransportError) {
            return try findHead(until: deadline)
        } catch {
            phase = .broken
            throw error
        }
    }

    private mutating func findHead(until deadline: Instant) throws(TransportError) -> ResponseHead {
        guard phase == .sent else { throw failure(.closed) }
        var scanner = HeadScanner()
        var interimAnswers = 0
        while true {
            let head: ResponseHead?
            do throws(MessageError) {
                head = try buffer.takeHead(&scanner)
            } catch {
                throw failure(.malformed(error))
            }
            guard let head else {
                try receiveMore(until: deadline)
                continue
            }
            guard (100..<200).contains(head.status) else {
                do throws(MessageError) {
                    try begin(MessageFraming(head: head))
                } catch {
                    throw failure(.malformed(error))
                }
                return head
            }
            // Another protocol would follow, and we asked for none (RFC 9110 15.2.2).
            if head.status == 101 { throw failure(.malformed(.notHTTP)) }
            interimAnswers += 1
            if interimAnswers > Self.maximumInterimAnswers { throw failure(.tooManyInterim) }
            scanner = HeadScanner()
        }
    }

    private mutating func receiveMore(until deadline: Instant) throws(TransportError) {
        // A server that sends a byte now and then must not outlast the deadline.
        if bytesReceived > 0, Instant.now >= deadline { throw failure(.timedOut) }
        let room = buffer.room()
        if room.isEmpty { throw failure(.malformed(.headTooLarge)) }
        let count = try receive(into: room, until: deadline)
        if count == 0 { throw failure(.closed) }
        buffer.fill(count)
    }

    private mutating func begin(_ framing: MessageFraming) {
        self.framing = framing
        phase = .body
        switch framing.body {
        case .none: phase = .complete
        case .length(let length):
            remaining = length
            if length == 0 { phase = .complete }
        case .chunked: decoder = ChunkedDecoder()
        case .untilClose: break
        }
    }

    /// Puts the next bytes of the body at the front of the buffer, which is not empty, and returns their count: at
    /// least 1, or 0 when the message is complete. Waits for the first byte only; bytes that are here win over a
    /// deadline that has passed.
    ///
    /// Throws `.closed` for a body that ends before its length or its last chunk, `.unexpectedEOF` for one that
    /// ends with a connection whose TLS was not closed properly. What comes after a complete message, a reset
    /// included, is no error.
    package mutating func receiveBody(
        into buffer: UnsafeMutableRawBufferPointer, until deadline: Instant
    ) throws(TransportError) -> Int {
        precondition(!buffer.isEmpty, "a body needs room")
        switch phase {
        case .complete: return 0
        case .body: break
        case .ready, .sent, .broken: throw failure(.closed)
        }
        do throws(TransportError) {
            switch framing?.body {
            case .length: return try receiveCounted(into: buffer, until: deadline)
            case .chunked: return try receiveChunked(into: buffer, until: deadline)
            case .untilClose: return try receiveRest(into: buffer, until: deadline)
            case .some(.none), nil: return 0
            }
        } catch {
            phase = .broken
            throw error
        }
    }

    private mutating func receiveCounted(
        into buffer: UnsafeMutableRawBufferPointer, until deadline: Instant
    ) throws(TransportError) -> Int {
        // No more than belongs to this message, so that what follows stays where `isReusable` sees it.
        let limit = Int(clamping: min(remaining, UInt64(buffer.count)))
        let count = try take(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<limit]), until: deadline)
        if count == 0 { throw failure(.closed) }
        remaining -= UInt64(count)
        if remaining == 0 { phase = .complete }
        return count
    }

    private mutating func receiveChunked(
        into buffer: UnsafeMutableRawBufferPointer, until deadline: Instant
    ) throws(TransportError) -> Int {
        var isFirst = true
        while true {
            if !isFirst, Instant.now >= deadline { throw failure(.timedOut) }
            isFirst = false
            let count = try take(into: buffer, until: deadline)
            if count == 0 { throw failure(.closed) }
            let payload: Int
            do throws(MessageError) {
                let (decoded, consumed) = try decoder.decode(
                    UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
                if consumed < count { hasSurplus = true }
                payload = decoded
            } catch {
                throw failure(.malformed(error))
            }
            if decoder.isComplete { phase = .complete }
            if payload > 0 || decoder.isComplete { return payload }
        }
    }

    private mutating func receiveRest(
        into buffer: UnsafeMutableRawBufferPointer, until deadline: Instant
    ) throws(TransportError) -> Int {
        let count = try take(into: buffer, until: deadline)
        if count == 0 { phase = .complete }
        return count
    }

    /// What came with the head first, then what the channel brings.
    private mutating func take(
        into target: UnsafeMutableRawBufferPointer, until deadline: Instant
    ) throws(TransportError) -> Int {
        if !buffer.isEmpty { return buffer.move(into: target) }
        return try receive(into: target, until: deadline)
    }

    private mutating func receive(
        into target: UnsafeMutableRawBufferPointer, until deadline: Instant
    ) throws(TransportError) -> Int {
        do throws(TransportError) {
            let count = try channel.receive(into: target, until: deadline)
            bytesReceived &+= UInt64(count)
            return count
        } catch {
            // Only a body that ends with the connection depends on how that ended.
            if case .unexpectedEOF = error.cause, framing?.body != .untilClose { throw failure(.closed) }
            throw error
        }
    }

    /// Reads what is left of the body and drops it, so that the connection can be used again; false, at once when
    /// that can be told, when it is more than the limit in bytes or the connection is not kept anyway. After false it is only to be dropped.
    package mutating func discardBody(limit: Int, until deadline: Instant) throws(TransportError) -> Bool {
        guard let framing, framing.keepsConnection else { return false }
        switch framing.body {
        case .length where phase == .body && remaining > UInt64(clamping: limit): return false
        case .none, .length, .chunked: break
        case .untilClose: return false
        }
        var rest = limit
        while true {
            let count = try receiveBody(into: buffer.scratch, until: deadline)
            if count == 0 { return true }
            rest -= count
            if rest < 0 { return false }
            if phase == .body, Instant.now >= deadline { throw failure(.timedOut) }
        }
    }

    private func failure(_ cause: TransportError.Cause) -> TransportError {
        TransportError(.receive, subject, cause)
    }
}
