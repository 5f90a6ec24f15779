internal import Posix
internal import Wire

/// A proxy's refusal of a tunnel.
package struct ProxyRefusal: Error, Hashable, Sendable {
    package let status: Int
    /// It was told a user and a password.
    package let hadCredentials: Bool

    package init(status: Int, hadCredentials: Bool) {
        self.status = status
        self.hadCredentials = hadCredentials
    }
}

/// Asks a proxy for a tunnel to an origin (RFC 9110 9.3.6). When it returns, the channel leads to the origin.
///
/// All of it ends at the deadline, also when the answer comes byte by byte. Nothing of the answer but its head is read:
/// a 2xx has no content, whatever its fields say, and after any other the connection is only to be dropped.
func openTunnel(
    to origin: Origin, through proxy: Proxy, over channel: borrowing Channel, until deadline: Instant
) throws(TransportError) {
    let failure = { (cause: TransportError.Cause) in TransportError(.proxy, proxy.subject, cause) }
    var request: [UInt8] = []
    do throws(RequestError) {
        // The port is always said here (RFC 9112 3.2.3).
        let authority = "\(origin.host):\(origin.port)"
        try appendRequest(
            to: &request, method: "CONNECT", target: authority, host: authority,
            fields: proxy.authorization.map { [("Proxy-Authorization", $0)] } ?? [])
    } catch {
        throw failure(.badHost("\(error)"))
    }
    do throws(TransportError) {
        try request.span.withUnsafeBytes { bytes throws(TransportError) in
            try channel.send(bytes, until: deadline)
        }
        var buffer = HeadBuffer()
        let status = try receiveAnswer(over: channel, into: &buffer, until: deadline, failure)
        guard (200..<300).contains(status) else {
            throw failure(
                .refused(ProxyRefusal(status: status, hadCredentials: proxy.authorization != nil)))
        }
        // In TLS the client speaks first (RFC 8446 4.1.2).
        guard buffer.isEmpty else { throw failure(.malformed(.bytesBeforeTunnel)) }
    } catch {
        throw failure(error.cause)
    }
}

/// The status of the final answer; interim ones are skipped.
private func receiveAnswer(
    over channel: borrowing Channel, into buffer: inout HeadBuffer, until deadline: Instant,
    _ failure: (TransportError.Cause) -> TransportError
) throws(TransportError) -> Int {
    var scanner = HeadScanner()
    var interimAnswers = 0
    while true {
        let head: ResponseHead?
        do throws(MessageError) {
            head = try buffer.takeHead(&scanner)
        } catch {
            throw failure(.malformed(error))
        }
        if let head {
            guard (100..<200).contains(head.status) else { return head.status }
            if head.status == 101 { throw failure(.malformed(.notHTTP)) }
            interimAnswers += 1
            if interimAnswers > Connection.maximumInterimAnswers { throw failure(.tooManyInterim) }
            scanner = HeadScanner()
            continue
        }
        if Instant.now >= deadline { throw failure(.timedOut) }
        let room = buffer.room()
        if room.isEmpty { throw failure(.malformed(.headTooLarge)) }
        let count = try channel.receive(into: room, until: deadline)
        if count == 0 { throw failure(.closed) }
        buffer.fill(count)
    }
}
