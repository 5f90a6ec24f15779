import Storage
import Wire

extension Checksum {
    /// The digest of the whole representation that an answer names and that we can compute, the strongest one; one
    /// that does not parse judges nothing.
    ///
    /// - Parameter isWhole: the answer's body is the whole, so that a digest of the body is one of the file.
    static func serverDigest(in head: ResponseHead, isWhole: Bool) -> Checksum? {
        // Of the representation, whichever part of it the body is (RFC 9530 3, RFC 3230 4.3.2).
        var found = head.value("repr-digest").map(parseDigestField) ?? []
        found += head.value("digest").map(parseOldDigestField) ?? []
        // Of the object as it is stored: one that is stored compressed is sent to us unpacked.
        if head.value("x-goog-stored-content-encoding")?.lowercased() ?? "identity" == "identity" {
            found += head.value("x-goog-hash").map(parseOldDigestField) ?? []
        }
        if isWhole {
            // Of the body (RFC 9530 2, RFC 1864); the object stores' are of the object, and name no part.
            found += head.value("content-digest").map(parseDigestField) ?? []
            found += base64(head.value("content-md5")).map { ("md5", $0) }
            found += base64(head.value("x-amz-checksum-sha256")).map { ("sha-256", $0) }
            found += base64(head.value("x-amz-checksum-sha1")).map { ("sha", $0) }
            // A composite checksum is one of the parts' checksums, not of the bytes.
            if head.value("x-amz-checksum-type")?.lowercased() != "composite" {
                found += base64(head.value("x-amz-checksum-crc32")).map { ("crc32", $0) }
                found += base64(head.value("x-amz-checksum-crc32c")).map { ("crc32c", $0) }
            }
        }
        let usable = found.compactMap { name, bytes -> Checksum? in
            guard let algorithm = algorithm(named: name), bytes.count == algorithm.length else { return nil }
            return Checksum(algorithm: algorithm, bytes: bytes)
        }
        return usable.max { $0.algorithm.length < $1.algorithm.length }
    }

    /// Names of the registry (RFC 9530 7.2, RFC 3230 4.1.1) and of Google's field.
    private static func algorithm(named name: String) -> DigestAlgorithm? {
        switch name {
        case "sha-512": .sha512
        case "sha-384": .sha384
        case "sha-256": .sha256
        case "sha": .sha1
        case "md5": .md5
        case "crc32c": .crc32c
        case "crc32": .crc32
        default: nil
        }
    }

    /// One value, or none: what is no base64, a composite's `-2` behind it included, is left out.
    private static func base64(_ value: String?) -> [[UInt8]] {
        value.flatMap { Base64.decode(Array($0.utf8)) }.map { [$0] } ?? []
    }
}
