internal import Wire

/// Makes one entry of all entries of a batch that have one key, in the order in which keys are first met.
///
/// Mirrors, header fields and checksums are united; of everything else the first that says it counts. Checksums or
/// sizes that contradict each other refuse the entry, and the problem names both lines. Keys of earlier batches
/// are left out, since they are being fetched already: what such a line adds comes too late, which is reported when
/// it matters.
package func unite(
    _ entries: [Entry], seen: inout SeenKeys, problems: (ManifestProblem) -> Void
) -> [Entry] {
    var united: [Entry] = []
    united.reserveCapacity(entries.count)
    var positions: [Key: Int] = [:]
    positions.reserveCapacity(entries.count)
    var refused: Set<Key> = []
    for entry in entries {
        if let position = positions[entry.key] {
            if refused.contains(entry.key) { continue }
            guard let word = united[position].contradiction(with: entry) else {
                united[position].unite(with: entry)
                continue
            }
            refused.insert(entry.key)
            problems(
                ManifestProblem(
                    .refusedEntry, at: entry.place, key: entry.key,
                    "another \(word) than in \(united[position].place) for the same entry; correct one of the lines"
                ))
        } else if let first = seen.sighting(of: entry.key) {
            if let problem = entry.lateProblem(first) { problems(problem) }
        } else {
            positions[entry.key] = united.count
            united.append(entry)
        }
    }
    for entry in united {
        seen.insert(entry.key, at: entry.place, mark: .strongest(of: entry.checksums))
    }
    return refused.isEmpty ? united : united.filter { !refused.contains($0.key) }
}

extension Entry {
    /// What two entries of one key say differently that can only be one thing; nil when they agree.
    fileprivate func contradiction(with other: Entry) -> String? {
        for checksum in checksums {
            if other.checksums.contains(where: { $0.algorithm == checksum.algorithm && $0 != checksum }) {
                return "\(checksum.algorithm.rawValue) checksum"
            }
        }
        if let size, let otherSize = other.size, size != otherSize { return "size" }
        return nil
    }

    fileprivate mutating func unite(with other: Entry) {
        if other.fingerprint != fingerprint {
            // The same whichever line comes first.
            fingerprint = fingerprint &+ other.fingerprint
        }
        // Two URLs share a key only by `id=`.
        for mirror in [other.url] + other.mirrors where mirror != url && !mirrors.contains(mirror) {
            mirrors.append(mirror)
        }
        for checksum in other.checksums where !checksums.contains(checksum) { checksums.append(checksum) }
        for field in other.headers
        where !headers.contains(where: { $0.name.lowercased() == field.name.lowercased() }) {
            headers.append(field)
        }
        out = out ?? other.out
        size = size ?? other.size
        maxAge = maxAge ?? other.maxAge
        isImmutable = isImmutable || other.isImmutable
        if priority == 0 { priority = other.priority }
    }

    /// What there is to say of an entry whose key an earlier batch had.
    fileprivate func lateProblem(_ first: SeenKeys.Sighting) -> ManifestProblem? {
        guard !checksums.isEmpty else { return nil }
        switch first.mark?.compare(with: checksums) ?? .cannotTell {
        case .agrees: return nil
        case .contradicts:
            return ManifestProblem(
                .refusedEntry, at: place, key: key,
                "another checksum than in \(first.place) for the same entry; correct one of the lines")
        case .cannotTell:
            return ManifestProblem(
                .warning, at: place,
                "the checksum comes too late: write it in \(first.place), where the same entry stands first")
        }
    }
}
