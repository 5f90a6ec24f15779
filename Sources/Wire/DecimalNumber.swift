/// What a run of digits says: the numbers of lengths, ranges and ages.
///
/// Bounded by `Int64.max`, so that sizes fit a file offset and one can be added without a trap.
enum DecimalNumber: Equatable {
    case value(UInt64)
    /// Only digits, but more than `Int64.max`.
    case tooLarge
    /// Empty, or something else than digits 0-9.
    case malformed

    init(_ digits: some Collection<UInt8>) {
        guard !digits.isEmpty else {
            self = .malformed
            return
        }
        var value: UInt64 = 0
        var tooLarge = false
        for digit in digits {
            guard digit.isDigit else {
                self = .malformed
                return
            }
            if tooLarge { continue }
            // value is at most Int64.max, so ten times that may not fit.
            let (tenfold, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tenfold.addingReportingOverflow(UInt64(digit - 0x30))
            tooLarge = overflow || carry || sum > UInt64(Int64.max)
            if !tooLarge { value = sum }
        }
        self = tooLarge ? .tooLarge : .value(value)
    }

    /// nil when malformed or too large.
    var exact: UInt64? {
        switch self {
        case .value(let value): value
        case .tooLarge, .malformed: nil
        }
    }
}
