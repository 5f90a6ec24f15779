/// Makes many keys with one digest context.
package struct KeyMaker: ~Copyable {
    private var context: DigestContext

    package init() {
        guard let md5 = DigestMethods.shared[.md5] else { preconditionFailure("OpenSSL has no MD5") }
        context = DigestContext(md5)
    }

    /// The key of a URL as written, or of an `id=`; the caller has trimmed the blanks.
    package mutating func key(of bytes: UnsafeRawBufferPointer) -> Key {
        context.begin()
        context.update(bytes)
        return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 8) { digest in
            context.finish(into: digest)
            return Key(
                high: UInt64(bigEndian: digest.load(as: UInt64.self)),
                low: UInt64(bigEndian: digest.load(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}

extension Key {
    /// The key of a URL as written, or of an `id=`, blanks around it trimmed. For many, see `KeyMaker`.
    package init(md5Of bytes: UnsafeRawBufferPointer) {
        var maker = KeyMaker()
        self = maker.key(of: bytes)
    }

    /// The same of a text's UTF-8.
    package init(md5Of text: String) {
        var text = text
        self = text.withUTF8 { Key(md5Of: UnsafeRawBufferPointer($0)) }
    }
}
