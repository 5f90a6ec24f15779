internal import Posix

/// Cuts a manifest's bytes into lines, in memory that its longest allowed line bounds.
struct ManifestLines: ~Copyable {
    /// Bytes that a line may have, its end not counted.
    static let maximumLength = 1 << 20
    /// How much of a line that is longer is shown.
    static let shownLength = 1 << 12

    struct Line {
        /// Without the LF. Valid until the next call.
        let bytes: UnsafeRawBufferPointer
        /// Only the line's beginning is there.
        let isTooLong: Bool
    }

    /// Of the last line that was returned; counted from 1.
    private(set) var number = 0
    private var source: ManifestSource
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    // What is not yet returned: buffer[start..<end]; no LF stands before `scanned`.
    private var start = 0
    private var scanned = 0
    private var end = 0
    private var isAtEnd = false
    private var isSkipping = false

    init(_ source: consuming ManifestSource) { self.source = source }

    deinit { buffer.deallocate() }

    /// The first bytes that no line was made of yet, at least `count` unless the manifest ends before.
    mutating func peek(_ count: Int) throws(ManifestError) -> UnsafeRawBufferPointer {
        while !isAtEnd, end - start < count { try refill() }
        return UnsafeRawBufferPointer(rebasing: buffer[start..<end])
    }

    /// Forgets bytes that `peek` showed.
    mutating func drop(_ count: Int) {
        start = min(start + count, end)
        scanned = max(scanned, start)
    }

    /// Nil at the end. A last line needs no LF.
    mutating func next() throws(ManifestError) -> Line? {
        while true {
            if let offset = firstOffset(of: 0x0A, in: UnsafeRawBufferPointer(rebasing: buffer[scanned..<end]))
            {
                let lineFeed = scanned + offset
                let line = start..<lineFeed
                (start, scanned) = (lineFeed + 1, lineFeed + 1)
                if isSkipping {
                    isSkipping = false
                    continue
                }
                return show(line)
            }
            scanned = end
            if isSkipping {
                start = end
            } else if end - start > Self.maximumLength {
                isSkipping = true
                return show(start..<end)
            }
            if isAtEnd {
                guard start < end else { return nil }
                let line = start..<end
                start = end
                return show(line)
            }
            try refill()
        }
    }

    private mutating func show(_ line: Range<Int>) -> Line {
        number += 1
        let isTooLong = line.count > Self.maximumLength
        let shown = isTooLong ? line.prefix(Self.shownLength) : line
        return Line(bytes: UnsafeRawBufferPointer(rebasing: buffer[shown]), isTooLong: isTooLong)
    }

    private mutating func refill() throws(ManifestError) {
        if start == end {
            (start, scanned, end) = (0, 0, 0)
        } else if end == buffer.count, start > 0 {
            UnsafeMutableRawBufferPointer(rebasing: buffer[..<(end - start)]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
            (start, scanned, end) = (0, scanned - start, end - start)
        } else if end == buffer.count {
            // A line of the greatest length and its end fit in twice that, so it stops here.
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: buffer.count * 2, alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(buffer))
            buffer.deallocate()
            buffer = larger
        }
        let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...]))
        if count == 0 { isAtEnd = true }
        end += count
    }
}
