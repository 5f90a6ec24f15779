package import Posix
package import Wire

/// What went wrong between us and a host: what was tried, with whom, and why it failed.
///
/// The sentence is made at the edge.
package struct TransportError: Error, Sendable {
    package enum Operation: Sendable, Hashable { case resolve, connect, handshake, send, receive, proxy }

    package enum Cause: Sendable {
        /// The deadline of the operation passed.
        case timedOut
        /// The stop was raised.
        case stopped
        /// A system call failed; its errno tells refused from unreachable (`SystemError.isRefused` and its kin).
        case system(SystemError)
        /// The name service says that there is no such host, or that it has no address.
        case unknownHost
        /// The name service could not be asked, or could not tell; in its words.
        case noNameService(String)
        /// The peer ended or dropped the connection before the message was complete.
        case closed
        /// The TLS stream ended without close_notify where its end is the message's end, so that anybody on the
        /// way may have cut it (RFC 8446 6.1, RFC 9112 9.8).
        case unexpectedEOF
        /// TLS failed.
        case tls(TLSFailure)
        /// What came is no proper HTTP message.
        case malformed(MessageError)
        /// The host of the URL cannot be one; why, in words.
        case badHost(String)
        /// More interim (1xx) answers than `Connection.maximumInterimAnswers`.
        case tooManyInterim
        /// A proxy does not open the tunnel.
        case refused(ProxyRefusal)
    }

    package let operation: Operation
    /// `host:port`.
    package let subject: String
    package let cause: Cause

    package init(_ operation: Operation, _ subject: String, _ cause: Cause) {
        self.operation = operation
        self.subject = subject
        self.cause = cause
    }
}

extension Origin {
    /// `host:port`, the port always said: the subject of errors.
    var subject: String { "\(host):\(port)" }
}
