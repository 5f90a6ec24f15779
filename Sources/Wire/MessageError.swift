/// What is malformed in an answer, or contradicts itself.
package enum MessageError: Error, Sendable, Hashable {
    /// Not `HTTP/1.x` and three digits of 100 to 599 (RFC 9112 4).
    case notHTTP
    case headTooLarge
    case tooManyFields
    /// A CR without its LF, or a NUL (RFC 9112 2.2, RFC 9110 5.5).
    case strayControl
    case fieldWithoutColon
    /// Not a token, or a blank before the colon (RFC 9112 5.1).
    case malformedFieldName
    /// A folded line before the first field (RFC 9112 2.2).
    case foldBeforeFields

    /// Any but `chunked` alone (RFC 9112 6.1).
    case unsupportedTransferCoding(String)
    /// The value, cut to 64 bytes.
    case malformedContentLength(String)
    case contentLengthTooLarge
    case differentContentLengths(UInt64, UInt64)

    case malformedChunkSize
    /// More than `Int64.max`.
    case chunkTooLarge
    /// More than 16 KiB.
    case chunkLineTooLong
    /// Something else than a line end after the data.
    case malformedChunkEnd
    /// More than 64 KiB.
    case trailersTooLarge
    case malformedTrailers

    /// Bytes behind the head of a proxy's answer to CONNECT, before anything was sent through the tunnel.
    case bytesBeforeTunnel
}

extension MessageError: CustomStringConvertible {
    /// A clause without capital and full stop.
    package var description: String {
        switch self {
        case .notHTTP: "the answer is no HTTP/1 message"
        case .headTooLarge: "the head of the answer is longer than \(HeadScanner.maximumHeadSize / 1024) KiB"
        case .tooManyFields: "the answer has more than \(ResponseHead.maximumFieldCount) header fields"
        case .strayControl: "a lone CR or a NUL in the head of the answer"
        case .fieldWithoutColon: "a header field without a colon"
        case .malformedFieldName: "a malformed header field name"
        case .foldBeforeFields: "a folded line before the first header field"
        case .unsupportedTransferCoding(let coding): "the transfer coding '\(coding)' is not supported"
        case .malformedContentLength(let value): "a malformed Content-Length: '\(value)'"
        case .contentLengthTooLarge: "the Content-Length is too large"
        case .differentContentLengths(let one, let other):
            "two different Content-Length values: \(one) and \(other)"
        case .malformedChunkSize: "a malformed chunk size"
        case .chunkTooLarge: "the chunk size is too large"
        case .chunkLineTooLong: "a chunk line is longer than \(ChunkedDecoder.maximumLineSize / 1024) KiB"
        case .malformedChunkEnd: "the data of a chunk does not end where its size says"
        case .trailersTooLarge: "the trailers are longer than \(ChunkedDecoder.maximumTrailerSize / 1024) KiB"
        case .malformedTrailers: "malformed trailers after the last chunk"
        case .bytesBeforeTunnel: "the tunnel brings bytes that nobody asked for"
        }
    }
}
