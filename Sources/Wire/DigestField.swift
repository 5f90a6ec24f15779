/// Reads a Repr-Digest or Content-Digest (RFC 9530 2, 3): `sha-256=:BASE64:, sha-512=:BASE64:`.
///
/// Algorithms in lower case; of one named twice the last counts (RFC 8941 3.2). Members of another form are left out.
package func parseDigestField(_ value: String) -> [(algorithm: String, bytes: [UInt8])] {
    var digests: [(algorithm: String, bytes: [UInt8])] = []
    for (name, argument) in members(of: value) {
        guard argument.first == 0x3A, let end = argument.dropFirst().firstIndex(of: 0x3A) else { continue }
        let after = argument[(end + 1)...].trimmingBlanks()
        guard after.isEmpty || after.first == 0x3B else { continue }
        guard let bytes = Base64.decode(argument[..<end].dropFirst()) else { continue }
        digests.removeAll { $0.algorithm == name }
        digests.append((name, bytes))
    }
    return digests
}

/// Reads the older `Digest: SHA-256=BASE64,MD5=BASE64` (RFC 3230 4.3.2), which `x-goog-hash` is written like too.
///
/// Algorithms in lower case; members that are no base64 are left out.
package func parseOldDigestField(_ value: String) -> [(algorithm: String, bytes: [UInt8])] {
    members(of: value).compactMap { name, argument in
        Base64.decode(argument).flatMap { $0.isEmpty ? nil : (name, $0) }
    }
}

/// More algorithms than anybody knows; keeps the search for repeated names short.
private let maximumMembers = 64

private func members(of value: String) -> [(name: String, argument: ArraySlice<UInt8>)] {
    splitOutsideQuotes(Array(value.utf8)[...], at: 0x2C).prefix(maximumMembers).compactMap { member in
        let member = member.trimmingBlanks()
        guard let equals = member.firstIndex(of: 0x3D) else { return nil }
        let name = member[..<equals]
        guard !name.isEmpty, name.allSatisfy(\.isToken) else { return nil }
        return (String(decoding: name.map(\.lowercased), as: UTF8.self), member[(equals + 1)...])
    }
}
