internal import COpenSSL

/// OpenSSL's implementations, looked up once: a fetch costs more than the MD5 of a URL. See EVP_MD_fetch(3).
struct DigestMethods: @unchecked Sendable {
    // An EVP_MD is never changed once it was fetched, so that threads may share it (openssl-threads(7)).
    static let shared = DigestMethods()

    private let md5: OpaquePointer
    private let sha1: OpaquePointer
    private let sha256: OpaquePointer
    private let sha384: OpaquePointer
    private let sha512: OpaquePointer

    private init() {
        func fetch(_ name: String) -> OpaquePointer {
            // A machine whose default is FIPS hides MD5, which names files here and protects nothing.
            guard let method = EVP_MD_fetch(nil, name, nil) ?? EVP_MD_fetch(nil, name, "-fips") else {
                preconditionFailure("OpenSSL has no \(name)")
            }
            return method
        }
        md5 = fetch("MD5")
        sha1 = fetch("SHA1")
        sha256 = fetch("SHA2-256")
        sha384 = fetch("SHA2-384")
        sha512 = fetch("SHA2-512")
    }

    /// Nil for what OpenSSL does not compute.
    subscript(algorithm: DigestAlgorithm) -> OpaquePointer? {
        switch algorithm {
        case .md5: md5
        case .sha1: sha1
        case .sha256: sha256
        case .sha384: sha384
        case .sha512: sha512
        case .xxh3, .crc32, .crc32c: nil
        }
    }
}

/// An EVP_MD_CTX that is used again and again; freed with its owner.
struct DigestContext: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer
    private let method: OpaquePointer

    init(_ method: OpaquePointer) {
        // Null means that memory has run out, which nothing in this process outlives.
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("no memory for a digest") }
        self.context = context
        self.method = method
        begin()
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Forgets what was fed.
    mutating func begin() {
        precondition(EVP_DigestInit_ex2(context, method, nil) == 1, "EVP_DigestInit_ex2")
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "EVP_DigestUpdate")
    }

    /// Writes the digest, which must fit, and leaves the context to `begin`.
    mutating func finish(into digest: UnsafeMutableRawBufferPointer) {
        precondition(digest.count >= Int(EVP_MD_get_size(method)))
        let start = digest.bindMemory(to: UInt8.self).baseAddress
        precondition(EVP_DigestFinal_ex(context, start, nil) == 1, "EVP_DigestFinal_ex")
    }
}
