/// Takes the chunked coding off a body (RFC 9112 7.1), in the buffer that it was read into.
package struct ChunkedDecoder: Sendable {
    /// Bytes of a chunk line, its end included.
    package static let maximumLineSize = 16 * 1024
    /// Bytes of all trailer lines, their ends included.
    package static let maximumTrailerSize = 64 * 1024

    private enum State {
        /// Before the first digit of a size.
        case sizeStart
        case size
        /// Blanks between the size and `;` or the line end.
        case afterSize
        /// From `;` on; a quoted string holds no line end, so the next one ends it (RFC 9112 7.1.1).
        case chunkExtension
        /// CR of the chunk line seen.
        case sizeLineFeed
        case data
        case dataEnd
        /// CR after the data seen.
        case dataLineFeed
        case trailerStart
        case trailer
        /// CR of the last, empty line seen.
        case lastLineFeed
        case complete
    }

    private var state = State.sizeStart
    private var remaining: UInt64 = 0
    private var lineSize = 0

    package init() {}

    /// The last chunk and its trailers were read to their end.
    package var isComplete: Bool { state == .complete }

    /// Moves the payload in the buffer to its front.
    ///
    /// `payload` is the count of bytes that stand there now, `consumed` of those that were used: all of them, unless
    /// the message ended before.
    package mutating func decode(
        _ buffer: UnsafeMutableRawBufferPointer
    ) throws(MessageError) -> (payload: Int, consumed: Int) {
        var payload = 0
        var position = 0
        while position < buffer.count, state != .complete {
            guard state == .data else {
                try step(buffer[position])
                position += 1
                continue
            }
            let count = Int(min(remaining, UInt64(buffer.count - position)))
            if position != payload {
                let target = UnsafeMutableRawBufferPointer(rebasing: buffer[payload..<payload + count])
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[position..<position + count]))
            }
            payload += count
            position += count
            remaining -= UInt64(count)
            if remaining == 0 { state = .dataEnd }
        }
        return (payload, position)
    }

    private mutating func step(_ byte: UInt8) throws(MessageError) {
        switch state {
        case .sizeStart:
            guard let digit = byte.hexValue else { throw .malformedChunkSize }
            lineSize = 1
            remaining = UInt64(digit)
            state = .size
        case .size:
            try countLine()
            if let digit = byte.hexValue {
                guard remaining <= UInt64(Int64.max) >> 4 else { throw .chunkTooLarge }
                remaining = remaining << 4 | UInt64(digit)
            } else {
                try endSize(byte)
            }
        case .afterSize:
            try countLine()
            try endSize(byte)
        case .chunkExtension:
            try countLine()
            if byte == .lineFeed { endLine() } else if byte == .carriageReturn { state = .sizeLineFeed }
        case .sizeLineFeed:
            try countLine()
            guard byte == .lineFeed else { throw .malformedChunkSize }
            endLine()
        case .dataEnd:
            guard byte == .carriageReturn || byte == .lineFeed else { throw .malformedChunkEnd }
            state = byte == .lineFeed ? .sizeStart : .dataLineFeed
        case .dataLineFeed:
            guard byte == .lineFeed else { throw .malformedChunkEnd }
            state = .sizeStart
        case .trailerStart:
            try countTrailer()
            switch byte {
            case .lineFeed: state = .complete
            case .carriageReturn: state = .lastLineFeed
            default: state = .trailer
            }
        case .trailer:
            try countTrailer()
            if byte == .lineFeed { state = .trailerStart }
        case .lastLineFeed:
            try countTrailer()
            guard byte == .lineFeed else { throw .malformedTrailers }
            state = .complete
        case .data, .complete:
            break
        }
    }

    private mutating func endSize(_ byte: UInt8) throws(MessageError) {
        switch byte {
        case .lineFeed: endLine()
        case .carriageReturn: state = .sizeLineFeed
        case 0x3B: state = .chunkExtension
        case .space, 0x09: state = .afterSize
        default: throw .malformedChunkSize
        }
    }

    private mutating func endLine() {
        lineSize = 0
        state = remaining == 0 ? .trailerStart : .data
    }

    private mutating func countLine() throws(MessageError) {
        lineSize += 1
        if lineSize > Self.maximumLineSize { throw .chunkLineTooLong }
    }

    private mutating func countTrailer() throws(MessageError) {
        lineSize += 1
        if lineSize > Self.maximumTrailerSize { throw .trailersTooLarge }
    }
}
