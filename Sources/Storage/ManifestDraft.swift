internal import CXXHash
internal import Wire

/// An entry whose options are still being read.
struct ManifestDraft {
    private let url: HTTPURL
    private let written: String
    let place: Place
    private(set) var key: Key
    private var mirrors: [HTTPURL] = []
    private var out: String?
    private var checksums: [(checksum: Checksum, line: Int)] = []
    private var size: (bytes: UInt64, line: Int)?
    private var headers: [(name: String, value: String)] = []
    private let defaults: ManifestDefaults
    private var maxAge: MaxAge?
    private var isImmutable: Bool?
    private var priority: Int?
    private var fingerprint: UInt64
    /// The first thing that the entry says in two ways which cannot both be; then it must not be fetched.
    private(set) var contradiction: String?

    init(
        url: HTTPURL, written: UnsafeRawBufferPointer, key: Key, place: Place, defaults: ManifestDefaults,
        fingerprint seed: UInt64
    ) {
        self.url = url
        self.written = String(decoding: written, as: UTF8.self)
        self.key = key
        self.place = place
        self.defaults = defaults
        fingerprint = hash(written, seed: seed)
        if let checksum = Checksum(fragmentOf: written) { add(checksum, line: place.line) }
    }

    mutating func add(mirror: HTTPURL, written: UnsafeRawBufferPointer) {
        if mirror != url, !mirrors.contains(mirror) { mirrors.append(mirror) }
        fingerprint = hash(written, seed: fingerprint)
    }

    /// Of a value that is said twice, the last counts, save for those that must agree.
    mutating func apply(_ option: ManifestOption, written: UnsafeRawBufferPointer, line: Int) {
        fingerprint = hash(written, seed: fingerprint)
        switch option {
        case .out(let path): out = path
        case .checksum(let checksum): add(checksum, line: line)
        case .size(let bytes):
            if let size, size.bytes != bytes {
                contradiction = contradiction ?? "two sizes, in lines \(size.line) and \(line)"
            }
            size = (bytes, line)
        case .header(let name, let value): headers.append((name, value))
        case .maxAge(let age): maxAge = age
        case .isImmutable(let flag): isImmutable = flag
        case .priority(let number): priority = number
        case .id(let id): key = id
        case .ignored, .unknown: break
        }
    }

    private mutating func add(_ checksum: Checksum, line: Int) {
        if let other = checksums.first(where: { $0.checksum.algorithm == checksum.algorithm }) {
            guard other.checksum != checksum else { return }
            contradiction =
                contradiction
                ?? "two \(checksum.algorithm.rawValue) checksums, in lines \(other.line) and \(line)"
        } else {
            checksums.append((checksum, line))
        }
    }

    /// The entry as far as it was read.
    func finish() -> Entry {
        var entry = Entry(
            key: key, fileExtension: url.fileExtension, written: written, url: url, place: place)
        entry.mirrors = mirrors
        entry.out = out
        entry.checksums = checksums.map(\.checksum)
        entry.size = size?.bytes
        entry.headers =
            headers
            + defaults.headers.filter { field in
                !headers.contains { $0.name.lowercased() == field.name.lowercased() }
            }
        entry.maxAge = maxAge ?? defaults.maxAge
        entry.isImmutable = isImmutable ?? defaults.isImmutable
        entry.priority = priority ?? defaults.priority
        entry.fingerprint = fingerprint
        return entry
    }
}

/// The same in every version of libxxhash since 0.8.0.
func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    XXH3_64bits_withSeed(bytes.baseAddress, bytes.count, seed)
}
