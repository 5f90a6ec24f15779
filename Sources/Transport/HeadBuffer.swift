internal import Wire

/// Bytes received and not used yet: a head, or what came of the body together with it. It lives as long as its
/// connection, so that an exchange allocates nothing.
struct HeadBuffer: ~Copyable {
    static let initialCapacity = 16 * 1024
    /// A head of the largest size that is read, and room to read on.
    static let maximumCapacity = HeadScanner.maximumHeadSize + initialCapacity

    private var storage: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0

    init() { storage = .allocate(byteCount: Self.initialCapacity, alignment: 16) }

    deinit { storage.deallocate() }

    var isEmpty: Bool { start == end }

    /// Valid until the next change of the buffer.
    var unread: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[start..<end]) }

    /// All of the memory, to read a body into that nobody wants. What is unread lies in it.
    var scratch: UnsafeMutableRawBufferPointer { storage }

    mutating func clear() {
        start = 0
        end = 0
    }

    /// Uses up bytes of `unread`.
    mutating func drop(_ count: Int) {
        start = min(start + count, end)
        if start == end { clear() }
    }

    /// Where to receive more; empty when the buffer has reached its bound. Moves and grows as needed.
    mutating func room() -> UnsafeMutableRawBufferPointer {
        if start > 0 {
            storage.copyMemory(from: unread)
            end -= start
            start = 0
        }
        if end == storage.count, storage.count < Self.maximumCapacity {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: min(storage.count * 2, Self.maximumCapacity), alignment: 16)
            larger.copyMemory(from: unread)
            storage.deallocate()
            storage = larger
        }
        return UnsafeMutableRawBufferPointer(rebasing: storage[end...])
    }

    /// Counts bytes that were received into `room()`.
    mutating func fill(_ count: Int) { end = min(end + count, storage.count) }

    /// Takes the next head, interim or not, out of the buffer; nil when it is not all there.
    mutating func takeHead(_ scanner: inout HeadScanner) throws(MessageError) -> ResponseHead? {
        guard let length = try scanner.end(in: unread) else { return nil }
        let head = try ResponseHead(parsing: UnsafeRawBufferPointer(rebasing: unread[..<length]))
        drop(length)
        return head
    }

    /// Moves as many unread bytes as fit into the buffer, which may be `scratch`.
    mutating func move(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, end - start)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[start..<start + count]))
        drop(count)
        return count
    }
}
