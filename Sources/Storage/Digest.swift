package import Posix

/// A digest that is computed while bytes come.
package struct RunningDigest: ~Copyable, Sendable {
    package let algorithm: DigestAlgorithm
    /// Bytes fed so far.
    package private(set) var count: UInt64 = 0
    // One of the three is there, as the algorithm says.
    private var context: DigestContext?
    private var state: DigestState?
    private var crc: CyclicCheck?

    package init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        // Not by `map` or `?:`: Swift 6.3 destroys a noncopyable value that comes out of them once too often.
        if let method = DigestMethods.shared[algorithm] {
            context = DigestContext(method)
        } else {
            context = nil
        }
        crc = CyclicCheck(algorithm)
        if algorithm == .xxh3 { state = DigestState() } else { state = nil }
    }

    /// Takes up what `savedState` put down. Nil when another version of libxxhash saved it, or when it is no
    /// such state: then the bytes must be read again.
    package init?(restoring saved: [UInt8]) {
        guard saved.count > 8, let state = DigestState(restoring: Array(saved.dropFirst(8))) else {
            return nil
        }
        algorithm = .xxh3
        count = saved.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        context = nil
        crc = nil
        self.state = consume state
    }

    /// What `init(restoring:)` takes; nil for algorithms other than `xxh3`. It holds the last few hundred bytes
    /// that were fed.
    package var savedState: [UInt8]? {
        let saved: [UInt8]?
        switch state {
        case .some(let state): saved = state.saved
        case .none: saved = nil
        }
        guard let saved else { return nil }
        return (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) } + saved
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count += UInt64(bytes.count)
        context?.update(bytes)
        state?.update(bytes)
        crc?.update(bytes)
    }

    package consuming func finish() -> Checksum {
        if let bytes = crc?.bytes { return Checksum(algorithm: algorithm, bytes: bytes) }
        if let bytes = state?.finish() { return Checksum(algorithm: algorithm, bytes: bytes) }
        var bytes = [UInt8](repeating: 0, count: algorithm.length)
        bytes.withUnsafeMutableBytes { context?.finish(into: $0) }
        return Checksum(algorithm: algorithm, bytes: bytes)
    }

    /// Feeds a file's bytes from offset `count` up to `end`, or to the end of the file. False when the stop was
    /// raised, or when the file ends before `end`: then the digest is good for nothing.
    package mutating func update(
        from file: borrowing Descriptor, upTo end: UInt64?, stop: Stop?
    ) throws(SystemError) -> Bool {
        file.adviseSequential(from: count)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        while count < end ?? .max {
            if let stop, stop.isRaised { return false }
            let wanted = Int(min(UInt64(buffer.count), (end ?? .max) - count))
            let got = try file.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: count)
            if got == 0 { return end == nil }
            update(UnsafeRawBufferPointer(rebasing: buffer[..<got]))
        }
        return true
    }
}

/// The digest of a file from its first byte to `limit`, or to its end. Nil when the stop was raised, or when the
/// file is shorter than `limit`.
package func digest(
    of file: borrowing Descriptor, algorithm: DigestAlgorithm, limit: UInt64? = nil, stop: Stop? = nil
) throws(SystemError) -> Checksum? {
    var running = RunningDigest(algorithm)
    guard try running.update(from: file, upTo: limit, stop: stop) else { return nil }
    return running.finish()
}
