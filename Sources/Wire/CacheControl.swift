/// The directives of a Cache-Control field that a private cache obeys (RFC 9111 5.2.2, RFC 8246).
package struct CacheControl: Hashable, Sendable {
    /// Seconds, at most 2^31 (RFC 9111 1.2.2); 0 when malformed; the smallest of several (RFC 9111 4.2.1).
    package private(set) var maxAge: Int64?
    package private(set) var noStore = false
    /// Also for `no-cache="field"`: the whole answer is treated so.
    package private(set) var noCache = false
    package private(set) var isImmutable = false
    package private(set) var mustRevalidate = false

    private static let longestAge: Int64 = 1 << 31

    /// Unknown directives are ignored.
    package init(_ fieldValue: String) {
        let bytes = Array(fieldValue.utf8)
        for directive in splitOutsideQuotes(bytes[...], at: 0x2C) {
            let equals = directive.firstIndex(of: 0x3D) ?? directive.endIndex
            apply(directive[..<equals].trimmingBlanks(), argument: directive[equals...].dropFirst())
        }
    }

    private mutating func apply(_ name: ArraySlice<UInt8>, argument: ArraySlice<UInt8>) {
        if name.equalsIgnoringCase("max-age") {
            let age = Self.age(argument)
            maxAge = maxAge.map { min($0, age) } ?? age
        } else if name.equalsIgnoringCase("no-store") {
            noStore = true
        } else if name.equalsIgnoringCase("no-cache") {
            noCache = true
        } else if name.equalsIgnoringCase("immutable") {
            isImmutable = true
        } else if name.equalsIgnoringCase("must-revalidate") {
            mustRevalidate = true
        }
    }

    /// A number, or one in quotes (RFC 9111 5.2).
    private static func age(_ argument: ArraySlice<UInt8>) -> Int64 {
        var digits = argument
        if digits.count >= 2, digits.first == 0x22, digits.last == 0x22 {
            digits = digits.dropFirst().dropLast()
        }
        return switch DecimalNumber(digits) {
        case .value(let seconds): Int64(min(seconds, UInt64(longestAge)))
        case .tooLarge: longestAge
        case .malformed: 0
        }
    }
}
