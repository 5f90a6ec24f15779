/// The name of an entry in cache and ledger: the MD5 of its URL as written, or of its `id=`.
package struct Key: Hashable, Sendable, Comparable {
    /// The first eight bytes of the digest, big-endian, so that keys sort as their hex does.
    package let high: UInt64
    /// The last eight bytes, big-endian.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func < (left: Key, right: Key) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }

    /// 32 lower-case hex digits, as `openssl md5` prints them.
    package var hex: String {
        func pad(_ half: UInt64) -> String {
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }
        return pad(high) + pad(low)
    }

    /// Nil unless it is 32 hex digits in lower case: other spellings are no file name of ours.
    package init?(hex: some StringProtocol) {
        var halves: (UInt64, UInt64) = (0, 0)
        var count = 0
        for byte in hex.utf8 {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            guard count < 32 else { return nil }
            if count < 16 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
            count += 1
        }
        guard count == 32 else { return nil }
        self.init(high: halves.0, low: halves.1)
    }

    /// The digest's 16 bytes, as the ledger keeps them.
    package var bytes: [UInt8] {
        (0..<16).map { index in
            let half = index < 8 ? high : low
            return UInt8(truncatingIfNeeded: half >> (56 - 8 * (index % 8)))
        }
    }

    /// Nil unless there are 16.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}
