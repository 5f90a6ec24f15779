/// Bytes as the manifest's grammar sees them.
extension UInt8 {
    /// Space or TAB.
    var isBlank: Bool { self == 0x20 || self == 0x09 }
    var isControl: Bool { self < 0x20 || self == 0x7F }
    var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }
    var isLetter: Bool {
        let lower = self | 0x20
        return UInt8(ascii: "a") <= lower && lower <= UInt8(ascii: "z")
    }

    /// tchar (RFC 9110 5.6.2).
    var isTokenByte: Bool { isLetter || isDigit || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// `0x1F`.
    var shown: String { "0x" + (self < 16 ? "0" : "") + String(self, radix: 16, uppercase: true) }
}

extension UnsafeRawBufferPointer {
    /// A part of these bytes, itself counted from 0.
    func part(_ range: some RangeExpression<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }

    /// Without blanks around.
    var trimmed: UnsafeRawBufferPointer { self[...].trimmed }

    /// Without blanks before, and without blanks and CRs behind: some editors leave CR CR LF.
    var trimmedLine: UnsafeRawBufferPointer {
        var end = count
        while end > 0, self[end - 1].isBlank || self[end - 1] == 0x0D { end -= 1 }
        var start = 0
        while start < end, self[start].isBlank { start += 1 }
        return part(start..<end)
    }

    /// As text; nil when they are no UTF-8.
    var text: String? { String(validating: self, as: UTF8.self) }

    /// A number of nothing but digits; nil when it is none or too great.
    var digits: UInt64? {
        guard !isEmpty else { return nil }
        var number: UInt64 = 0
        for byte in self {
            guard byte.isDigit else { return nil }
            let (tens, isTooGreat) = number.multipliedReportingOverflow(by: 10)
            let (sum, isGreater) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            if isTooGreat || isGreater { return nil }
            number = sum
        }
        return number
    }

    /// How long the scheme is, when the bytes begin with one and `://` (RFC 3986 3.1).
    var schemeLength: Int? {
        guard let first, first.isLetter else { return nil }
        var index = 1
        while index < count {
            let byte = self[index]
            if byte == UInt8(ascii: ":") {
                guard count - index >= 3, self[index + 1] == 0x2F, self[index + 2] == 0x2F else { return nil }
                return index
            }
            guard byte.isLetter || byte.isDigit || byte == 0x2B || byte == 0x2D || byte == 0x2E else {
                return nil
            }
            index += 1
        }
        return nil
    }

    /// The name before the first `=`, lower-cased, and where its value starts; nil when these bytes are no option.
    /// `immutable` needs no value.
    var option: (name: String, value: UnsafeRawBufferPointer)? {
        var length = 0
        while length < count, self[length] != UInt8(ascii: "=") {
            let byte = self[length]
            guard
                byte.isLetter || byte.isDigit || byte == 0x2D || byte == 0x5F || byte == 0x2E || byte.isBlank
            else {
                return nil
            }
            length += 1
        }
        let name = part(..<length).trimmed
        guard !name.isEmpty, name.count <= 64, !name.contains(where: \.isBlank) else { return nil }
        let lower = String(decoding: name, as: UTF8.self).lowercased()
        if length < count { return (lower, part((length + 1)...).trimmed) }
        return lower == "immutable" ? (lower, trueWord) : nil
    }
}

extension Slice<UnsafeRawBufferPointer> {
    var text: String? { UnsafeRawBufferPointer(rebasing: self).trimmed.text }

    var trimmed: UnsafeRawBufferPointer {
        var (start, end) = (startIndex, endIndex)
        while start < end, base[start].isBlank { start += 1 }
        while end > start, base[end - 1].isBlank { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: base[start..<end])
    }
}

/// What a bare `immutable` stands for; static memory that is never freed.
private var trueWord: UnsafeRawBufferPointer {
    let word: StaticString = "true"
    return UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
}
