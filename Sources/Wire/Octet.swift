/// The character classes that the grammars of RFC 3986, RFC 9110 and RFC 9112 are made of.
extension UInt8 {
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }

    var isDigit: Bool { self >= 0x30 && self <= 0x39 }

    var isAlpha: Bool { (self | 0x20) >= 0x61 && (self | 0x20) <= 0x7A }

    var isAlphanumeric: Bool { isDigit || isAlpha }

    /// C0 controls and DEL (RFC 5234 B.1).
    var isControl: Bool { self < 0x20 || self == 0x7F }

    /// OWS is made of these (RFC 9110 5.6.3).
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// tchar (RFC 9110 5.6.2).
    var isToken: Bool {
        switch self {
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7A, 0x7C, 0x7E:
            true
        default: false
        }
    }

    /// pchar without the escapes (RFC 3986 3.3): unreserved, sub-delims, `:` and `@`.
    var isPathCharacter: Bool {
        switch self {
        case 0x21, 0x24, 0x26...0x2E, 0x30...0x3B, 0x3D, 0x40...0x5A, 0x5F, 0x61...0x7A, 0x7E: true
        default: false
        }
    }

    /// Letters folded to lower case, all else as it is; ASCII only.
    var lowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }

    /// The value of a hexadecimal digit of either case.
    var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }
}

/// Lends the UTF-8 bytes of a text; passes the error on with its type.
func withBytes<Value, Failure: Error>(
    of text: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
) throws(Failure) -> Value {
    var text = text
    let result: Result<Value, Failure> = text.withUTF8 { utf8 in
        do throws(Failure) {
            return .success(try body(UnsafeRawBufferPointer(utf8)))
        } catch {
            return .failure(error)
        }
    }
    return try result.get()
}

extension BidirectionalCollection<UInt8> {
    /// Without the spaces and tabs at both ends (OWS, RFC 9110 5.6.3).
    func trimmingBlanks() -> SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank })
        else {
            return self[endIndex...]
        }
        return self[first...last]
    }

    /// Equal but for the case of ASCII letters; the name is given in lower case.
    func equalsIgnoringCase(_ lowercase: StaticString) -> Bool {
        lowercase.withUTF8Buffer { name in
            count == name.count && zip(self, name).allSatisfy { $0.lowercased == $1 }
        }
    }
}
