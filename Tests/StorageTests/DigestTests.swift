import Foundation
import Posix
import Storage
import Testing

@Suite struct DigestTests {
    static let text = Array("abc".utf8)

    /// The test vectors of RFC 1321 and FIPS 180-4, and what `xxh128sum` prints.
    @Test(arguments: [
        (DigestAlgorithm.md5, "900150983cd24fb0d6963f7d28e17f72"),
        (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            .sha384,
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
        ),
        (
            .sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (.xxh3, "06b05ab6733a618578af5f94892f3950"),
        (.crc32, "352441c2"),
        (.crc32c, "364b3fb7"),
    ])
    func knownDigests(algorithm: DigestAlgorithm, hex: String) {
        #expect(digest(Self.text, algorithm).hex == hex)
    }

    @Test(arguments: DigestAlgorithm.allCases) func piecesMakeTheSameDigest(algorithm: DigestAlgorithm) {
        let bytes = pattern(100_000)
        let whole = digest(bytes, algorithm)
        #expect(whole.bytes.count == algorithm.length)
        for size in [1, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 65_536] {
            var running = RunningDigest(algorithm)
            var rest = bytes[...]
            while !rest.isEmpty {
                feed(rest.prefix(size), to: &running)
                rest = rest.dropFirst(size)
            }
            let count = running.count
            let found = running.finish()
            #expect(count == 100_000)
            #expect(found == whole, "pieces of \(size)")
        }
    }

    @Test(arguments: DigestAlgorithm.allCases) func nothingHasADigestToo(algorithm: DigestAlgorithm) {
        var running = RunningDigest(algorithm)
        running.update(UnsafeRawBufferPointer(start: nil, count: 0))
        let found = running.finish()
        #expect(found == digest([], algorithm))
    }

    /// Around every border that XXH3 has: 16, 128 and 240 bytes, stripes of 64, its buffer of 256, blocks of 1024.
    @Test func aSavedStateGoesOnFromWhereverItWas() throws {
        let bytes = pattern(5000)
        let whole = digest(bytes, .xxh3)
        for offset in Array(0...700) + Array(900...1300) + [2047, 2048, 2049, 4095, 4096, 4097, 4999, 5000] {
            var first = RunningDigest(.xxh3)
            feed(bytes.prefix(offset), to: &first)
            let saved = try state(of: first)
            var second = try restored(saved)
            let (count, again) = (second.count, try state(of: second))
            #expect(count == UInt64(offset))
            #expect(again == saved)
            feed(bytes.dropFirst(offset), to: &second)
            let found = second.finish()
            #expect(found == whole, "saved at \(offset)")
            // Saving did not disturb the first.
            feed(bytes.dropFirst(offset), to: &first)
            let undisturbed = first.finish()
            #expect(undisturbed == whole)
        }
    }

    @Test func aStateIsKeptThroughManyRestarts() throws {
        let bytes = pattern(70_000)
        var saved = try fresh()
        var rest = bytes[...]
        var size = 1
        while !rest.isEmpty {
            var running = try restored(saved)
            feed(rest.prefix(size), to: &running)
            rest = rest.dropFirst(size)
            size = size * 7 % 1021
            saved = try state(of: running)
        }
        let last = try restored(saved)
        let found = last.finish()
        #expect(found == digest(bytes, .xxh3))
    }

    @Test func onlyXXH3HasAStateToSave() {
        for algorithm in DigestAlgorithm.allCases where algorithm != .xxh3 {
            let running = RunningDigest(algorithm)
            let saved = running.savedState
            #expect(saved == nil)
        }
    }

    @Test func aForeignStateIsNotRestored() throws {
        let saved = try fresh()
        #expect(!isRestored([]))
        #expect(!isRestored(Array(saved.dropLast())))
        #expect(!isRestored(saved + [0]))
        // Every byte is either part of the hash or checked; none may lead outside the buffers.
        for index in saved.indices {
            var other = saved
            other[index] = 0xFF
            if var running = RunningDigest(restoring: other) { feed(pattern(3000)[...], to: &running) }
        }
        #expect(!isRestored([UInt8](repeating: 0xFF, count: saved.count)))
    }

    @Test(arguments: DigestAlgorithm.allCases) func aFileIsReadToItsLimit(algorithm: DigestAlgorithm) throws {
        let bytes = pattern(2_500_000)
        let file = try TemporaryFile(bytes)
        let descriptor = try Descriptor(reading: file.path)
        for limit in [0, 1, 1 << 20, (1 << 20) + 1, 2_500_000] {
            let found = try Storage.digest(of: descriptor, algorithm: algorithm, limit: UInt64(limit))
            #expect(found == digest(Array(bytes.prefix(limit)), algorithm))
        }
        let whole = try Storage.digest(of: descriptor, algorithm: algorithm)
        let beyond = try Storage.digest(of: descriptor, algorithm: algorithm, limit: 2_500_001)
        #expect(whole == digest(bytes, algorithm))
        #expect(beyond == nil)
    }

    @Test func aFileIsTakenUpWhereTheBytesEnded() throws {
        let bytes = pattern(300_000)
        let file = try TemporaryFile(bytes)
        let descriptor = try Descriptor(reading: file.path)
        var running = RunningDigest(.md5)
        feed(bytes.prefix(1000), to: &running)
        let isWhole = try running.update(from: descriptor, upTo: 200_000, stop: nil)
        let isAtEnd = try running.update(from: descriptor, upTo: nil, stop: nil)
        let found = running.finish()
        #expect(isWhole && isAtEnd)
        #expect(found == digest(bytes, .md5))
    }

    @Test func aStopEndsIt() throws {
        let file = try TemporaryFile([1])
        let stop = try Stop()
        stop.raise()
        let descriptor = try Descriptor(reading: file.path)
        let found = try Storage.digest(of: descriptor, algorithm: .md5, stop: stop)
        #expect(found == nil)
    }

    private struct NotRestored: Error {}

    // #expect and #require cannot take what is not Copyable.
    private func restored(_ saved: [UInt8]) throws -> RunningDigest {
        guard let running = RunningDigest(restoring: saved) else { throw NotRestored() }
        return running
    }

    private func isRestored(_ saved: [UInt8]) -> Bool {
        switch RunningDigest(restoring: saved) {
        case .some: true
        case .none: false
        }
    }

    private func state(of running: borrowing RunningDigest) throws -> [UInt8] {
        let saved = running.savedState
        return try #require(saved)
    }

    private func fresh() throws -> [UInt8] {
        let running = RunningDigest(.xxh3)
        return try state(of: running)
    }

    private func digest(_ bytes: [UInt8], _ algorithm: DigestAlgorithm) -> Checksum {
        var running = RunningDigest(algorithm)
        feed(bytes[...], to: &running)
        return running.finish()
    }

    private func feed(_ bytes: ArraySlice<UInt8>, to running: inout RunningDigest) {
        bytes.withUnsafeBytes { running.update($0) }
    }

    private func pattern(_ count: Int) -> [UInt8] {
        var state: UInt64 = 88_172_645_463_325_252
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }
}
