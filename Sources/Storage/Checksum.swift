/// The digests that a manifest or a server may name.
package enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
    case md5
    case sha1 = "sha-1"
    case sha256 = "sha-256"
    case sha384 = "sha-384"
    case sha512 = "sha-512"
    /// Only our own guard against rot, when nobody named a digest.
    case xxh3 = "xxh3-128"

    /// Bytes of a digest.
    package var length: Int {
        switch self {
        case .md5, .xxh3: 16
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}

/// A digest with the algorithm that made it.
package struct Checksum: Hashable, Sendable {
    package let algorithm: DigestAlgorithm
    /// `algorithm.length` bytes.
    package let bytes: [UInt8]

    package init(algorithm: DigestAlgorithm, bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }
}
