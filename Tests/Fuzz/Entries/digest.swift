import Storage
import Wire

/// Repr-Digest and its older kin, base64, and the checksums of manifests.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    require(Base64.decode(Array(Base64.encode(input).utf8)) == Array(input), "base64 does not come back")
    if let decoded = Base64.decode(input) {
        require(Array(Base64.encode(decoded).utf8) == Array(input), "base64 has two spellings")
    }
    guard let text = text(input) else { return 0 }
    checkFields(text)
    if let received = receivedField(input) {
        require(
            digests(parseDigestField(received)) == digests(parseDigestField(text)),
            "a digest is another one in a head")
    }
    guard let checksum = Checksum(parsing: text) else { return 0 }
    require(checksum.bytes.count == checksum.algorithm.length, "\(checksum)")
    require(Checksum(parsing: checksum.description) == checksum, "\(checksum) reads otherwise")
    return 0
}

private func digests(_ list: [(algorithm: String, bytes: [UInt8])]) -> [String] {
    list.map { "\($0.algorithm) \($0.bytes)" }
}

private func checkFields(_ text: String) {
    let new = parseDigestField(text)
    let old = parseOldDigestField(text)
    require(Set(new.map(\.algorithm)).count == new.count, "an algorithm is named twice")
    require(max(new.count, old.count) <= 64, "more than 64 members")
    for name in (new + old).map(\.algorithm) {
        let isToken = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) }
        require(!name.isEmpty && isToken, "the algorithm \(name)")
    }
    let newAgain = new.map { "\($0.algorithm)=:\(Base64.encode($0.bytes)):" }.joined(separator: ", ")
    require(digests(parseDigestField(newAgain)) == digests(new), "\(newAgain) reads otherwise")
    let oldAgain = old.map { "\($0.algorithm)=\(Base64.encode($0.bytes))" }.joined(separator: ",")
    require(digests(parseOldDigestField(oldAgain)) == digests(old), "\(oldAgain) reads otherwise")
}
