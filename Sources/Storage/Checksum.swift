internal import Wire

/// The digests that a manifest or a server may name.
package enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
    case md5
    case sha1 = "sha-1"
    case sha256 = "sha-256"
    case sha384 = "sha-384"
    case sha512 = "sha-512"
    /// Only our own guard against rot, when nobody named a digest.
    case xxh3 = "xxh3-128"
    /// Only named by servers; too short to guard a file for years, so they judge a transfer and are not kept.
    case crc32
    case crc32c

    /// Made to be hard to meet by chance or on purpose, if not all of them still are.
    package var isCryptographic: Bool {
        switch self {
        case .md5, .sha1, .sha256, .sha384, .sha512: true
        case .xxh3, .crc32, .crc32c: false
        }
    }

    /// Bytes of a digest.
    package var length: Int {
        switch self {
        case .crc32, .crc32c: 4
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

extension Checksum: CustomStringConvertible {
    /// Reads `TYPE=HEX` (`md5`, `sha-1`, `sha-256`, `sha-384`, `sha-512`, with or without the hyphen, any case) or
    /// Subresource Integrity, `sha256-BASE64` (W3C SRI 3.5: sha256, sha384 and sha512 only). Nil for anything else,
    /// a wrong length included.
    package init?(parsing text: String) {
        if let sign = text.firstIndex(of: "=") {
            let name = text[..<sign].lowercased()
            // The others are no manifest's business, and padded base64 has its own `=`.
            let named = DigestAlgorithm.allCases.first { algorithm in
                algorithm.isCryptographic
                    && (name == algorithm.rawValue || name == algorithm.rawValue.filter { $0 != "-" })
            }
            if let named {
                self.init(named, hex: text[text.index(after: sign)...].utf8)
                return
            }
        }
        guard let hyphen = text.firstIndex(of: "-") else { return nil }
        let algorithm: DigestAlgorithm
        switch text[..<hyphen].lowercased() {
        case "sha256": algorithm = .sha256
        case "sha384": algorithm = .sha384
        case "sha512": algorithm = .sha512
        default: return nil
        }
        guard let bytes = Base64.decode(text[text.index(after: hyphen)...].utf8),
            bytes.count == algorithm.length
        else {
            return nil
        }
        self.init(algorithm: algorithm, bytes: bytes)
    }

    /// Hex digits of any case, as many as the algorithm has; else nil.
    package init?(_ algorithm: DigestAlgorithm, hex: some Collection<UInt8>) {
        guard hex.count == 2 * algorithm.length else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(algorithm.length)
        var half: UInt8?
        for digit in hex {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
            default: return nil
            }
            if let high = half {
                bytes.append(high << 4 | value)
                half = nil
            } else {
                half = value
            }
        }
        self.init(algorithm: algorithm, bytes: bytes)
    }

    /// Lower-case hex digits.
    package var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// As a manifest writes it: `sha-256=…`.
    package var description: String { algorithm.rawValue + "=" + hex }
}
