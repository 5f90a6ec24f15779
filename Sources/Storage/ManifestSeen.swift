/// The keys that a run has met, and of each where and with which checksum, in at most 36 bytes a key.
///
/// A million entries must fit beside the transfers, so a checksum is kept as a mark: a hash of 29 bits that is
/// equal for equal checksums and differs for others but once in 500 million.
package struct SeenKeys: Sendable {
    /// What was kept of an entry.
    struct Sighting {
        let place: Place
        let mark: ChecksumMark?
    }

    private struct Record {
        let high: UInt64
        let low: UInt64
        let line: UInt32
        /// Of a `ChecksumMark`, 0 for none.
        var mark: UInt32
    }

    // In blocks, so that growing neither copies nor doubles what is there.
    private static let blockSize = 1 << 14
    private var blocks: [[Record]] = []
    // Open addressing by the key's low half, which is MD5 and so as good as random; 0 is free, else record + 1.
    private var slots: [UInt32] = [UInt32](repeating: 0, count: 1 << 10)
    // From which record on which manifest was read.
    private var manifests: [(first: Int, name: String)] = []
    // Records that a later manifest names as well.
    private var repeats: [String: [UInt32]] = [:]
    /// Different keys so far.
    package private(set) var count = 0

    package init() {}

    package func contains(_ key: Key) -> Bool { slots[slot(of: key)] != 0 }

    /// Where the key of a record was first met.
    func sighting(_ index: Int) -> Sighting {
        let record = record(index)
        return Sighting(
            place: Place(manifest: manifestName(of: index), line: Int(record.line)),
            mark: ChecksumMark(bits: record.mark))
    }

    private func manifestName(of index: Int) -> String { manifests.last { $0.first <= index }?.name ?? "" }

    /// Calls the body with each key that a manifest names, by its name as the user gave it; with some more than once.
    package func forEachKey(of manifest: String, _ body: (Key) -> Void) {
        for (place, (first, name)) in manifests.enumerated() where name == manifest {
            let end = place + 1 < manifests.count ? manifests[place + 1].first : count
            for index in first..<end { body(key(index)) }
        }
        for index in repeats[manifest] ?? [] { body(key(Int(index))) }
    }

    private func key(_ index: Int) -> Key {
        let record = record(index)
        return Key(high: record.high, low: record.low)
    }

    /// Keeps a new key and returns nil; of a key that is there already it returns the record, counted from 0.
    mutating func insert(_ key: Key, at place: Place, mark: ChecksumMark?) -> Int? {
        let found = slot(of: key)
        if slots[found] != 0 {
            let index = Int(slots[found]) - 1
            if manifestName(of: index) != place.manifest {
                repeats[place.manifest, default: []].append(UInt32(index))
            }
            return index
        }
        // So many would need 100 GB; past that all are new, which only costs a question too many.
        guard count < Int(UInt32.max) - 1 else { return nil }
        if manifests.last?.name != place.manifest { manifests.append((count, place.manifest)) }
        if blocks.isEmpty || blocks[blocks.count - 1].count == Self.blockSize {
            blocks.append([])
            blocks[blocks.count - 1].reserveCapacity(Self.blockSize)
        }
        blocks[blocks.count - 1].append(
            Record(high: key.high, low: key.low, line: UInt32(clamping: place.line), mark: mark?.bits ?? 0))
        count += 1
        slots[found] = UInt32(count)
        if count > slots.count / 4 * 3 { grow() }
        return nil
    }

    /// A further line told more of the entry.
    mutating func setMark(_ mark: ChecksumMark?, of index: Int) {
        blocks[index / Self.blockSize][index % Self.blockSize].mark = mark?.bits ?? 0
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: slots.count * 2)
        for index in 0..<count {
            let record = record(index)
            slots[slot(of: Key(high: record.high, low: record.low))] = UInt32(index + 1)
        }
    }

    private func record(_ index: Int) -> Record { blocks[index / Self.blockSize][index % Self.blockSize] }

    /// The key's slot, or the free one where it belongs; a quarter of them is always free.
    private func slot(of key: Key) -> Int {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: key.low) & mask
        while slots[slot] != 0 {
            let record = record(Int(slots[slot]) - 1)
            if record.low == key.low, record.high == key.high { return slot }
            slot = (slot + 1) & mask
        }
        return slot
    }
}

/// Which algorithm an entry's strongest checksum has, and 29 bits of its hash.
struct ChecksumMark: Equatable {
    /// Never 0.
    let bits: UInt32

    /// Nil for 0.
    init?(bits: UInt32) {
        guard bits != 0 else { return nil }
        self.bits = bits
    }

    init(_ checksum: Checksum) {
        let number: UInt32
        switch checksum.algorithm {
        case .md5: number = 1
        case .sha1: number = 2
        case .sha256: number = 3
        case .sha384: number = 4
        case .sha512: number = 5
        // No manifest names these.
        case .xxh3, .crc32, .crc32c: number = 7
        }
        let digest = checksum.bytes.withUnsafeBytes { hash($0, seed: 0) }
        bits = number << 29 | UInt32(truncatingIfNeeded: digest & 0x1FFF_FFFF)
    }

    private var algorithm: UInt32 { bits >> 29 }

    /// Of the checksum that is best suited to tell two files apart; nil when there is none.
    static func strongest(of checksums: [Checksum]) -> ChecksumMark? {
        checksums.isEmpty ? nil : checksums.map(ChecksumMark.init).max { $0.algorithm < $1.algorithm }
    }

    enum Comparison { case agrees, contradicts, cannotTell }

    /// How another entry's checksums go with this one.
    func compare(with checksums: [Checksum]) -> Comparison {
        guard let other = checksums.map(ChecksumMark.init).first(where: { $0.algorithm == algorithm }) else {
            return .cannotTell
        }
        return other == self ? .agrees : .contradicts
    }
}
