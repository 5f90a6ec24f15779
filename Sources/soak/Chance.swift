/// Seeded chance (SplitMix64), so that a soak that found something can be made again.
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    /// Chance that depends on these numbers alone.
    init(_ numbers: UInt64...) {
        state = 0
        for number in numbers {
            state ^= number
            state = next()
        }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// True so many times of 1000.
    mutating func permille(_ share: Int) -> Bool { number(in: 0..<1000) < share }

    mutating func number(in range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

    /// Spread over magnitudes, so that short and long are as likely.
    mutating func spread(_ low: Int, _ high: Int) -> Int {
        var top = low
        while top < high, permille(750) { top = min(high, top * 2 + 1) }
        return number(in: low..<top + 1)
    }
}

/// A number for a text, the same in every process (FNV-1a).
func number(of text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
}
