internal import COpenSSL
internal import Posix

/// Whom to trust and as whom to appear; paths are of PEM files.
package struct TLSOptions: Sendable, Hashable {
    /// Certificates to trust instead of the system's; nil for the system's, which `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR` move (SSL_CTX_set_default_verify_paths(3)).
    package var authorities: String?
    /// Our certificate with its chain, for servers that ask for one.
    package var certificate: String?
    /// The key of our certificate, unencrypted; nil when it is in the same file.
    package var key: String?

    package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
        self.authorities = authorities
        self.certificate = certificate
        self.key = key
    }
}

/// TLS cannot be set up: a file that was named is missing or wrong.
package struct TLSSetupError: Error, Sendable, Hashable {
    /// The file's path, or `tls`.
    package let subject: String
    /// Why, in OpenSSL's words.
    package let text: String
}

/// What all TLS sessions share: TLS 1.2 and later, peers verified, no renegotiation, sessions kept for resumption.
///
/// OpenSSL locks the context itself (openssl-threads(7)); after `init` nothing changes it.
package final class TLSContext: @unchecked Sendable {
    /// Bytes that OpenSSL reads ahead per connection.
    private static let readBufferSize = 64 * 1024

    private let context: OpaquePointer
    let sessions = SessionCache()

    package init(_ options: TLSOptions = TLSOptions()) throws(TLSSetupError) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw Self.failure("tls") }
        // From here on `deinit` frees it, also when something below throws.
        self.context = context
        guard copenssl_ctx_set_min_proto_version(context, TLS1_2_VERSION) == 1 else {
            throw Self.failure("tls")
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        copenssl_ctx_forbid_renegotiation(context)
        copenssl_ctx_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        // Several records a recv(2) instead of two calls a record.
        copenssl_ctx_set_read_ahead(context, 1)
        SSL_CTX_set_default_read_buffer_len(context, Self.readBufferSize)
        // The key of a certificate must not make OpenSSL ask for a password on the terminal.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
        try trust(options.authorities)
        try identify(options)
        // The first byte is the name's length (RFC 7301 3.1). Note the inverted result.
        let protocols: [UInt8] = [8] + Array("http/1.1".utf8)
        guard SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count)) == 0 else {
            throw Self.failure("tls")
        }
        copenssl_ctx_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL)
        SSL_CTX_sess_set_new_cb(context, acceptSession)
    }

    deinit { SSL_CTX_free(context) }

    private func trust(_ authorities: String?) throws(TLSSetupError) {
        ERR_clear_error()
        if let authorities {
            guard SSL_CTX_load_verify_file(context, authorities) == 1 else {
                throw Self.failure(authorities, lacks: "certificate")
            }
        } else {
            guard SSL_CTX_set_default_verify_paths(context) == 1 else { throw Self.failure("tls") }
        }
    }

    private func identify(_ options: TLSOptions) throws(TLSSetupError) {
        guard let certificate = options.certificate else { return }
        ERR_clear_error()
        guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
            throw Self.failure(certificate, lacks: "certificate")
        }
        let key = options.key ?? certificate
        var isEncrypted = false
        let isRead = withUnsafeMutablePointer(to: &isEncrypted) { flag in
            // Without an answer of ours OpenSSL asks the terminal for the passphrase (PEM_read(3)).
            SSL_CTX_set_default_passwd_cb(context) { _, _, _, flag in
                flag?.assumingMemoryBound(to: Bool.self).pointee = true
                return -1
            }
            SSL_CTX_set_default_passwd_cb_userdata(context, flag)
            defer { SSL_CTX_set_default_passwd_cb_userdata(context, nil) }
            return SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1
        }
        if isEncrypted {
            ERR_clear_error()
            throw TLSSetupError(
                subject: key, text: "the key is encrypted; only one without a passphrase can be used")
        }
        // A key of another kind than the certificate's takes the certificate's place.
        guard isRead || Self.isMismatch else { throw Self.failure(key, lacks: "private key") }
        guard isRead, SSL_CTX_check_private_key(context) == 1 else {
            ERR_clear_error()
            throw TLSSetupError(
                subject: key, text: "this is not the key of the certificate in \(certificate)")
        }
    }

    /// The newest error of this thread is that key and certificate do not belong together.
    private static var isMismatch: Bool {
        let code = ERR_peek_last_error()
        return copenssl_err_get_lib(code) == ERR_LIB_X509
            && copenssl_err_get_reason(code) == X509_R_KEY_VALUES_MISMATCH
    }

    /// A fresh session state; nil when there is no memory for it.
    func makeSession() -> OpaquePointer? { SSL_new(context) }

    /// Takes the error queue of this thread; the first error is the cause, the later ones say what it led to.
    ///
    /// - Parameter object: what was looked for in the file.
    private static func failure(_ subject: String, lacks object: String = "object") -> TLSSetupError {
        let code = ERR_peek_error()
        ERR_clear_error()
        if code & systemFlag != 0 {
            let error = SystemError("open", subject, code: Int32(truncatingIfNeeded: code & ~systemFlag))
            return TLSSetupError(subject: subject, text: error.reason)
        }
        let reason = copenssl_err_get_reason(code)
        let isEmpty =
            switch copenssl_err_get_lib(code) {
            case ERR_LIB_PEM: reason == PEM_R_NO_START_LINE
            case ERR_LIB_X509: reason == X509_R_NO_CERTIFICATE_OR_CRL_FOUND
            // Nothing that it could decode.
            case ERR_LIB_OSSL_DECODER: true
            default: false
            }
        if isEmpty { return TLSSetupError(subject: subject, text: "there is no \(object) in it (PEM)") }
        let words = ERR_reason_error_string(code).map { String(cString: $0) }
        return TLSSetupError(subject: subject, text: words ?? "error \(code)")
    }

    /// Set in the code of an error whose other bits are an errno (ERR_SYSTEM_FLAG of openssl/err.h).
    private static let systemFlag: UInt = 0x8000_0000
}
