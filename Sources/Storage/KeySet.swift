/// Keys and nothing else, in at most 43 bytes each while there are many.
package struct KeySet: Sendable {
    // Open addressing by the key's low half, which is MD5 and so as good as random; all zeros are a free place.
    private var slots = [Key](repeating: .zero, count: 1 << 10)
    private var hasZero = false
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package func contains(_ key: Key) -> Bool {
        key == .zero ? hasZero : slots[slot(of: key)] == key
    }

    package mutating func insert(_ key: Key) {
        if key == .zero {
            if !hasZero { count += 1 }
            hasZero = true
            return
        }
        let found = slot(of: key)
        if slots[found] == key { return }
        slots[found] = key
        count += 1
        if count > slots.count / 4 * 3 { grow() }
    }

    private mutating func grow() {
        let old = slots
        slots = [Key](repeating: .zero, count: old.count * 2)
        for key in old where key != .zero { slots[slot(of: key)] = key }
    }

    /// The key's place, or the free one where it belongs; a quarter of them is always free.
    private func slot(of key: Key) -> Int {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: key.low) & mask
        while slots[slot] != .zero, slots[slot] != key { slot = (slot + 1) & mask }
        return slot
    }
}

extension Key {
    fileprivate static let zero = Key(high: 0, low: 0)
}
