internal import Posix
internal import Storage
internal import TestOrigin

/// The files of the origin, all their versions, and which of them is the present one.
///
/// A version is made of seed, file and number alone, so that each that ever was can be made again.
final class World: Sendable {
    /// How an origin tells versions apart.
    enum Style: UInt64, CaseIterable, Sendable {
        /// Strong ETags, with and without a date beside them.
        case tagged, taggedAndDated
        /// Last-Modified alone, long past when it is sent, and so strong (RFC 9110 8.8.2.2).
        case dated
        case weaklyTagged
        /// Nothing: each refresh is a whole transfer.
        case silent
        /// Nothing, but the manifest has a checksum; it never changes.
        case checked
        /// Strong ETags, behind a redirect to a place that is another for each version, or only has another query.
        case movedByPath, movedByQuery
    }

    let count: Int
    let seed: UInt64
    private let present: Monitor<[Int]>

    init(seed: UInt64, count: Int) {
        self.seed = seed
        self.count = count
        present = Monitor(Array(repeating: 0, count: count))
    }

    func style(of file: Int) -> Style { Style.allCases[file % Style.allCases.count] }

    /// What the manifest's URL ends with.
    func path(of file: Int) -> String {
        switch style(of: file) {
        case .tagged, .taggedAndDated, .dated, .weaklyTagged, .silent, .checked: "/f/\(file).bin"
        case .movedByPath, .movedByQuery: "/r/\(file).bin"
        }
    }

    /// The number of the present version.
    func version(of file: Int) -> Int { present.withLock { $0[file] } }

    /// All present versions.
    var versions: [Int] { present.withLock { $0 } }

    /// Puts a new version in the place of the present one.
    func change(_ file: Int) {
        if style(of: file) == .checked { return }
        present.withLock { $0[file] += 1 }
    }

    /// Bytes and validators of a version.
    func resource(_ file: Int, _ version: Int) -> Resource {
        let seed = contentSeed(file, version)
        let tag = "\"\(file)-\(version)\""
        let date = httpDate(1_600_000_000 + file * 1000 + version)
        let (etag, lastModified): (String?, String?) =
            switch style(of: file) {
            case .tagged, .movedByPath, .movedByQuery: (tag, nil)
            case .taggedAndDated: (tag, date)
            case .dated: (nil, date)
            case .weaklyTagged: ("W/" + tag, nil)
            case .silent, .checked: (nil, nil)
            }
        return Resource(seed: seed, size: size(file, version), etag: etag, lastModified: lastModified)
    }

    /// Bytes of a version; those of a file are often the same, since a size tells no version.
    func size(_ file: Int, _ version: Int) -> Int {
        var chance = Chance(seed, 1, UInt64(file), UInt64(version / 3))
        switch chance.number(in: 0..<100) {
        case 0..<55: return chance.number(in: 0..<16 << 10)
        case 55..<90: return chance.number(in: 16 << 10..<200 << 10)
        case 90..<98: return chance.number(in: 200 << 10..<1 << 20)
        default: return chance.number(in: 1 << 20..<3 << 20)
        }
    }

    private func contentSeed(_ file: Int, _ version: Int) -> UInt64 {
        var chance = Chance(seed, 2, UInt64(file), UInt64(version))
        return chance.next()
    }

    /// The digest of a version's bytes.
    func digest(_ file: Int, _ version: Int, _ algorithm: DigestAlgorithm = .xxh3) -> Checksum {
        var digest = RunningDigest(algorithm)
        pattern(seed: contentSeed(file, version), count: size(file, version)).withUnsafeBytes {
            digest.update($0)
        }
        return digest.finish()
    }

    /// The manifest of these files.
    func manifest(of files: [Int], at url: String) -> String {
        files.map { file in
            let checksum =
                style(of: file) == .checked ? "\tchecksum=\(digest(file, 0, .sha256))" : ""
            return "\(url)\(path(of: file))\(checksum)\n"
        }.joined()
    }
}
