internal import COpenSSL
internal import Posix
internal import Wire

/// One TLS connection over a socket that never blocks. It takes steps and waits for nothing.
///
/// A class with one owner, `Channel`: an optional `~Copyable` value cannot be borrowed in a `deinit`, and
/// close_notify must be said before the socket closes.
final class TLSSession {
    /// How a step ended.
    enum Step {
        /// Bytes moved; 0 when the handshake is done.
        case moved(Int)
        /// Again once the socket can be read or written.
        case wants(Interest)
        /// The peer said close_notify.
        case ended
        /// The stream ended without close_notify.
        case cut
        /// The connection broke; errno.
        case broken(Int32)
        case failed(TLSFailure)
    }

    private let tls: OpaquePointer
    private let delivery: SessionDelivery
    private let host: String
    /// The end, when a read met it after it had bytes to return. After it OpenSSL must not be called again.
    private var end: Step?
    private var isHealthy = false

    /// Prepares to connect over an open socket, which must live as long as this value. nil without memory.
    init?(_ context: TLSContext, socket: borrowing Descriptor, origin: Origin, host: String) {
        guard let tls = context.makeSession() else { return nil }
        guard SSL_set_fd(tls, socket.number) == 1, Self.expect(host, in: tls) else {
            SSL_free(tls)
            return nil
        }
        self.tls = tls
        self.host = host
        delivery = SessionDelivery(cache: context.sessions, origin: origin)
        SSL_set_ex_data(tls, 0, Unmanaged.passUnretained(delivery).toOpaque())
        if let session = context.sessions.take(for: origin) { SSL_set_session(tls, session.pointer) }
    }

    deinit {
        // A TLS 1.2 session may be resumed again, and brings no new ticket when it was.
        if isHealthy, SSL_session_reused(tls) == 1, SSL_version(tls) < TLS1_3_VERSION,
            let own = SSL_get1_session(tls)
        {
            delivery.cache.keep(SessionCache.Session(owning: own), for: delivery.origin)
        }
        SSL_free(tls)
    }

    /// Whose certificate we want, and the name that the server is told (RFC 6066 3: never an address).
    private static func expect(_ host: String, in tls: OpaquePointer) -> Bool {
        if Address(literal: host, port: 0) != nil {
            return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host) == 1
        }
        // Names in certificates have no dot at the end (RFC 6066 3, RFC 9525 2).
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        // The subject's common name does not count (RFC 9525 2).
        SSL_set_hostflags(
            tls, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        return SSL_set1_host(tls, name) == 1 && copenssl_set_server_name(tls, name) == 1
    }

    /// The session was resumed, so that no certificate was exchanged.
    var isResumed: Bool { SSL_session_reused(tls) == 1 }

    /// `TLSv1.3` and the like.
    var version: String { String(cString: SSL_get_version(tls)) }

    /// Bytes of records lie in memory that no poll(2) on the socket shows.
    var hasPending: Bool { end != nil || SSL_has_pending(tls) == 1 }

    func handshake() -> Step {
        var verdict: Int32 = 0
        var code: Int32 = 0
        if copenssl_connect(tls, &verdict, &code) == 1 {
            isHealthy = true
            return .moved(0)
        }
        return failure(verdict, code)
    }

    /// Fills the buffer as far as it goes without waiting: OpenSSL hands out one record, 16 KiB, a call.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        if let end { return end }
        var filled = 0
        while filled < buffer.count {
            var count = 0
            var verdict: Int32 = 0
            var code: Int32 = 0
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            if copenssl_read(tls, rest.baseAddress, rest.count, &count, &verdict, &code) == 1 {
                filled += count
                continue
            }
            let step = failure(verdict, code)
            switch step {
            case .moved, .wants: break
            case .ended, .cut, .broken, .failed: end = step
            }
            return filled > 0 ? .moved(filled) : step
        }
        return .moved(filled)
    }

    func write(_ buffer: UnsafeRawBufferPointer) -> Step {
        if let end { return end }
        var count = 0
        var verdict: Int32 = 0
        var code: Int32 = 0
        if copenssl_write(tls, buffer.baseAddress, buffer.count, &count, &verdict, &code) == 1 {
            return .moved(count)
        }
        return failure(verdict, code)
    }

    /// Whether nothing of the peer's is here but what TLS keeps to itself, such as session tickets.
    func isQuiet() -> Bool {
        guard end == nil, isHealthy else { return false }
        var byte: UInt8 = 0
        var count = 0
        var verdict: Int32 = 0
        var code: Int32 = 0
        if copenssl_peek(tls, &byte, 1, &count, &verdict, &code) == 1 { return false }
        switch failure(verdict, code) {
        case .wants: return true
        case .moved, .ended, .cut, .broken, .failed: return false
        }
    }

    /// Says close_notify as far as the socket takes it at once; the peer's is not waited for (RFC 8446 6.1).
    func farewell() {
        guard isHealthy else { return }
        ERR_clear_error()
        _ = SSL_shutdown(tls)
    }

    private func failure(_ verdict: Int32, _ code: Int32) -> Step {
        switch verdict {
        case SSL_ERROR_WANT_READ: return .wants(.read)
        case SSL_ERROR_WANT_WRITE: return .wants(.write)
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL:
            isHealthy = false
            return code == 0 ? .cut : .broken(code)
        default:
            isHealthy = false
            if copenssl_err_get_reason(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING,
                copenssl_err_get_lib(ERR_peek_error()) == ERR_LIB_SSL
            {
                return .cut
            }
            return .failed(TLSFailure.takeQueue(verification: SSL_get_verify_result(tls), host: host))
        }
    }
}
