internal import COpenSSL

/// Why TLS failed, by what can be done about it.
package struct TLSFailure: Error, Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// The certificate, or one above it, has expired.
        case expired
        /// The certificate, or one above it, is not valid yet.
        case notYetValid
        /// The certificate is for another host.
        case wrongName
        /// No trusted authority vouches for the certificate.
        case unknownAuthority
        /// The certificate vouches for itself only.
        case selfSigned
        /// The authority has withdrawn the certificate.
        case revoked
        /// The certificate fails otherwise; why, in OpenSSL's words.
        case otherCertificate(String)
        /// The server speaks nothing newer than TLS 1.1 (RFC 8996).
        case protocolTooOld
        /// The server ended the connection with this alert (RFC 8446 6).
        case alert(String)
        /// What came is not TLS, for instance plain HTTP.
        case notTLS
        /// Anything else, in OpenSSL's words.
        case other(String)
    }

    package let kind: Kind
    /// The reason in words, lower case, to follow the host's name and a colon.
    package let text: String

    package init(_ kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    /// The certificate was refused, so that no retry helps.
    package var isCertificate: Bool {
        switch kind {
        case .expired, .notYetValid, .wrongName, .unknownAuthority, .selfSigned, .revoked, .otherCertificate:
            true
        case .protocolTooOld, .alert, .notTLS, .other: false
        }
    }

    /// The certificate is outside its time: the one failure that a wrong clock of ours causes.
    package var isAboutTime: Bool { kind == .expired || kind == .notYetValid }

    /// From SSL_get_verify_result(3), see X509_STORE_CTX_get_error(3).
    init(verification code: Int, host: String) {
        let words = String(cString: X509_verify_cert_error_string(code))
        switch Int32(truncatingIfNeeded: code) {
        case X509_V_ERR_CERT_HAS_EXPIRED:
            self.init(.expired, text: "its certificate has expired")
        case X509_V_ERR_CERT_NOT_YET_VALID:
            self.init(.notYetValid, text: "its certificate is not valid yet")
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            self.init(.wrongName, text: "its certificate is not for \(host)")
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            self.init(.unknownAuthority, text: "its certificate is from an unknown authority")
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            self.init(.selfSigned, text: "its certificate is signed by itself only")
        case X509_V_ERR_CERT_REVOKED:
            self.init(.revoked, text: "its certificate has been revoked")
        default:
            self.init(.otherCertificate(words), text: "its certificate is refused: \(words)")
        }
    }

    /// Takes the error queue of this thread. `verification` is the session's verify result.
    static func takeQueue(verification: Int, host: String) -> TLSFailure {
        var first: UInt = 0
        // The first error is the cause, later ones say which functions it went through. The queue holds 16.
        for _ in 0..<32 {
            let code = ERR_get_error()
            if code == 0 { break }
            if first == 0 { first = code }
        }
        guard first != 0 else {
            return TLSFailure(.other("no reason given"), text: "tls failed without a reason")
        }
        let words = ERR_reason_error_string(first).map { String(cString: $0) } ?? "error \(first)"
        guard copenssl_err_get_lib(first) == ERR_LIB_SSL else {
            return TLSFailure(.other(words), text: "tls failed: \(words)")
        }
        let reason = copenssl_err_get_reason(first)
        switch reason {
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return TLSFailure(verification: verification, host: host)
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_VERSION_TOO_LOW,
            SSL_R_WRONG_SSL_VERSION:
            return TLSFailure(.protocolTooOld, text: "it speaks no TLS newer than 1.1")
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST,
            SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_RECORD_TOO_SMALL:
            return TLSFailure(.notTLS, text: "what it answers is not TLS")
        default:
            // Alerts of the peer have the alert's number above an offset: see SSL_alert_type_string(3).
            guard reason >= SSL_AD_REASON_OFFSET else {
                return TLSFailure(.other(words), text: "tls failed: \(words)")
            }
            let alert = String(cString: SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET))
            return TLSFailure(.alert(alert), text: "it ended tls with the alert \(alert)")
        }
    }
}
