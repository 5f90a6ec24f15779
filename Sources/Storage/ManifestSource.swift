internal import Posix

/// A manifest's bytes as they lie there.
final class ManifestFile {
    private let file: Descriptor
    private let name: String
    private let stop: Stop
    private let mayBlock: Bool

    /// `-` is standard input.
    init(path: String, stop: Stop?) throws(ManifestError) {
        name = path
        do throws(SystemError) {
            if path == "-" {
                file = try Descriptor(duplicating: 0, subject: "standard input")
            } else {
                file = try Descriptor(reading: path)
            }
            // After the file: with standard input closed, a new descriptor would be number 0 and pass for it.
            self.stop = if let stop { stop } else { try Stop() }
            let status = try file.status()
            mayBlock = status.kind != .regular
            if status.kind != .folder {
                file.adviseSequential(from: 0)
                return
            }
        } catch {
            throw .unreadable(path, error)
        }
        throw .isFolder(path)
    }

    /// Waits for a writer as long as it takes: it ends by data, by the writer's end, or by the stop.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int {
        do throws(SystemError) {
            while !stop.isRaised {
                if mayBlock, try file.wait(.read, until: .never, stop: stop) != .ready { continue }
                if let count = try file.readIfReady(into: buffer) { return count }
            }
        } catch {
            throw .unreadable(name, error)
        }
        throw .stopped(name)
    }
}

/// A manifest's bytes, decompressed when they are gzip.
struct ManifestSource: ~Copyable {
    typealias Fill = (UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int

    private let name: String
    private let fill: Fill
    private let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    // What was read but not handed on: raw[start..<end].
    private var start = 0
    private var end = 0
    private var isAtEnd = false
    private var wasLookedAt = false
    private var gzip: GzipStream?

    init(name: String, fill: @escaping Fill) {
        self.name = name
        self.fill = fill
    }

    deinit { raw.deallocate() }

    /// 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int {
        if !wasLookedAt {
            wasLookedAt = true
            while !isAtEnd, end < 3 { try refill() }
            if GzipStream.begins(UnsafeRawBufferPointer(rebasing: raw[..<end])) { gzip = GzipStream() }
        }
        if gzip != nil { return try readGzip(into: buffer) }
        guard start < end else { return isAtEnd ? 0 : try fill(buffer) }
        let count = min(end - start, buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: raw[start..<start + count]))
        start += count
        return count
    }

    private mutating func readGzip(into buffer: UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int {
        while true {
            let made = try inflate(into: buffer)
            if made > 0 || isAtEnd { return made }
            try refill()
        }
    }

    private mutating func inflate(into buffer: UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int {
        do throws(GzipStream.Fault) {
            var input = UnsafeRawBufferPointer(rebasing: raw[start..<end])
            let made = try gzip?.step(&input, into: buffer) ?? 0
            start = end - input.count
            if made == 0, isAtEnd { try gzip?.end() }
            return made
        } catch {
            switch error {
            case .damaged: throw .unusable(name, why: "the gzip data is damaged: make or fetch it again")
            case .truncated:
                throw .unusable(name, why: "the gzip data ends too early: make or fetch it again")
            }
        }
    }

    private mutating func refill() throws(ManifestError) {
        if start == end { (start, end) = (0, 0) }
        let count = try fill(UnsafeMutableRawBufferPointer(rebasing: raw[end...]))
        if count == 0 { isAtEnd = true }
        end += count
    }
}
