internal import CXXHash

/// A running XXH3-128, which alone among the digests can be put down and taken up by a later process.
struct DigestState: ~Copyable, @unchecked Sendable {
    // XXH3_state_t wants 64-byte alignment; the library's own allocator knows.
    private let state: OpaquePointer

    init() {
        guard let state = XXH3_createState() else { preconditionFailure("no memory for a digest") }
        self.state = state
        XXH3_128bits_reset(state)
    }

    /// Nil when the bytes were saved by another version of the library, or by nobody.
    init?(restoring bytes: [UInt8]) {
        guard bytes.count == MemoryLayout<cxxhash_saved>.size else { return nil }
        var saved = cxxhash_saved()
        withUnsafeMutableBytes(of: &saved) { $0.copyBytes(from: bytes) }
        guard let state = XXH3_createState() else { preconditionFailure("no memory for a digest") }
        guard cxxhash_restore(state, &saved) == 1 else {
            XXH3_freeState(state)
            return nil
        }
        self.state = state
    }

    deinit { XXH3_freeState(state) }

    /// Only for this machine and this version of the library.
    var saved: [UInt8]? {
        var saved = cxxhash_saved()
        guard cxxhash_save(state, &saved) == 1 else { return nil }
        return withUnsafeBytes(of: &saved) { Array($0) }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        precondition(XXH3_128bits_update(state, start, bytes.count) == XXH_OK, "XXH3_128bits_update")
    }

    /// The canonical form: 16 bytes, big-endian.
    func finish() -> [UInt8] {
        var canonical = XXH128_canonical_t()
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state))
        return withUnsafeBytes(of: &canonical) { Array($0) }
    }
}
