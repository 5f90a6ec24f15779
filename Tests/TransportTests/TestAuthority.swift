import COpenSSL
import Posix

/// A certificate with its key, made in memory.
final class Identity: @unchecked Sendable {
    let certificate: OpaquePointer
    let key: OpaquePointer

    init(certificate: OpaquePointer, key: OpaquePointer) {
        self.certificate = certificate
        self.key = key
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    /// Writes the certificate, and the key when it is asked for, as PEM.
    func write(to path: String, withKey: Bool = false) throws {
        guard let file = BIO_new_file(path, "w") else { throw TestFailure(text: "cannot write \(path)") }
        defer { BIO_free(file) }
        guard PEM_write_bio_X509(file, certificate) == 1,
            !withKey || PEM_write_bio_PrivateKey(file, key, nil, nil, 0, nil, nil) == 1
        else { throw TestFailure(text: "cannot write \(path)") }
    }

    private static let serial = Monitor(1)

    /// Makes a certificate. Times are in seconds from now; without an issuer it signs itself.
    static func make(
        commonName: String, alternatives: String? = nil, isAuthority: Bool = false, from: Int = -3600,
        until: Int = 3600, issuer: Identity? = nil
    ) throws -> Identity {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_keygen(context, &key) == 1, let key,
            let certificate = X509_new()
        else { throw TestFailure(text: "no key") }
        let identity = Identity(certificate: certificate, key: key)
        X509_set_version(certificate, 2)
        let number = serial.withLock { serial in
            serial += 1
            return serial
        }
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), number)
        X509_gmtime_adj(X509_getm_notBefore(certificate), from)
        X509_gmtime_adj(X509_getm_notAfter(certificate), until)
        X509_set_pubkey(certificate, key)
        let name = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_FLAG | 1, commonName, -1, -1, 0)
        X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0.certificate) } ?? name)
        var extensions = [(NID_basic_constraints, isAuthority ? "critical,CA:TRUE" : "CA:FALSE")]
        if let alternatives { extensions.append((NID_subject_alt_name, alternatives)) }
        for (kind, value) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, nil, kind, value) else {
                throw TestFailure(text: "extension \(value)")
            }
            X509_add_ext(certificate, made, -1)
            X509_EXTENSION_free(made)
        }
        guard X509_sign(certificate, issuer?.key ?? key, nil) > 0 else {
            throw TestFailure(text: "not signed")
        }
        return identity
    }
}

/// What a TLS server of a test insists on.
struct ServerRules: Sendable {
    var newestVersion: Int32?
    var asksForCertificate = false
    var securityLevel: Int32?
}

/// A TLS server's context.
final class ServerContext: @unchecked Sendable {
    let context: OpaquePointer

    init(_ identity: Identity, rules: ServerRules = ServerRules(), clients: Identity? = nil) throws {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw TestFailure(text: "no context") }
        self.context = context
        if let level = rules.securityLevel { SSL_CTX_set_security_level(context, level) }
        if let version = rules.newestVersion {
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(min(version, TLS1_2_VERSION)), nil)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        }
        if rules.asksForCertificate, let clients {
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context), clients.certificate)
        }
        let id: [UInt8] = [1]
        SSL_CTX_set_session_id_context(context, id, 1)
        guard SSL_CTX_use_certificate(context, identity.certificate) == 1,
            SSL_CTX_use_PrivateKey(context, identity.key) == 1
        else { throw TestFailure(text: "no identity") }
    }

    deinit { SSL_CTX_free(context) }
}

/// The server's end of one TLS connection.
final class TLSPeer {
    private let tls: OpaquePointer
    let plain: Peer

    /// nil when the client refused.
    init?(_ peer: Peer, _ context: ServerContext) {
        guard let tls = SSL_new(context.context) else { return nil }
        self.tls = tls
        plain = peer
        SSL_set_fd(tls, peer.number)
        if SSL_accept(tls) != 1 { return nil }
    }

    deinit { SSL_free(tls) }

    /// The name that the client sent (SNI).
    var serverName: String? {
        SSL_get_servername(tls, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
    }

    var isResumed: Bool { SSL_session_reused(tls) == 1 }

    func request() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard SSL_read(tls, &byte, 1) == 1, bytes.count < 65536 else { return nil }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) { SSL_write(tls, bytes, Int32(bytes.count)) }

    /// Says close_notify.
    func farewell() { SSL_shutdown(tls) }
}
