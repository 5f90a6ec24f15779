import Storage

/// The order in which entries are taken: higher priority first, then small ones when that is wanted (those of unknown
/// size last), else as the manifest has them.
///
/// - Parameter size: bytes of the entry at an index, as far as anybody knows.
func turns(of entries: [Entry], smallestFirst: Bool, size: (Int) -> UInt64?) -> [Int] {
    guard smallestFirst || entries.contains(where: { $0.priority != 0 }) else {
        return Array(entries.indices)
    }
    let sizes = entries.indices.map { smallestFirst ? size($0) ?? .max : 0 }
    return entries.indices.sorted {
        // A priority may be as low as a number gets, which has no negative.
        (entries[$1].priority, sizes[$0], $0) < (entries[$0].priority, sizes[$1], $1)
    }
}
