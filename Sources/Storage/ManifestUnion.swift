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
    // Records of this batch start here; the nth belongs to the nth entry of the result.
    let base = seen.count
    // Only when there is something to unite are the entries copied.
    var united: [Entry]?
    var refused: Set<Key> = []
    for index in entries.indices {
        let key = entries[index].key
        let mark = ChecksumMark.strongest(of: entries[index].checksums)
        guard let record = seen.insert(key, at: entries[index].place, mark: mark) else {
            united?.append(entries[index])
            continue
        }
        var result = united ?? Array(entries[..<index])
        united = nil
        defer { united = result }
        if record < base {
            if let problem = entries[index].lateProblem(seen.sighting(record)) { problems(problem) }
        } else if !refused.contains(key) {
            let position = record - base
            if let word = result[position].contradiction(with: entries[index]) {
                refused.insert(key)
                problems(
                    ManifestProblem(
                        .refusedEntry, at: entries[index].place, key: key,
                        "another \(word) than in \(result[position].place) for the same entry; "
                            + "correct one of the lines"))
            } else {
                result[position].unite(with: entries[index])
                seen.setMark(.strongest(of: result[position].checksums), of: record)
            }
        }
    }
    guard let united else { return entries }
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
