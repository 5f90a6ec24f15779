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
}
