/// What an origin may do to a request.
enum Fault: CaseIterable {
    /// The connection ends before a byte of the answer, by FIN or RST.
    case dropped, reset
    /// Nothing comes any more, before the head and in the body.
    case silentHead, silentBody
    /// The connection ends in the body.
    case cutBody, resetBody
    /// 503, without and with Retry-After.
    case busy, busyForASecond
    /// 404, for once.
    case missing
    /// A 206 that ends early, or that nobody asked for.
    case shortRange
    /// A 206 whose Content-Range is not what was asked for.
    case shiftedRange, otherTotal
    /// A 206 of the present version, whatever If-Range says.
    case deafToIfRange
    /// 200 although a Range would do; 416, 304 and 202 that make no sense.
    case wholeInstead, unsatisfiable, notModified, accepted
    /// The file changes while the old version is sent, whole or not.
    case changedBehind, changedAndCut
    /// Chunks, without and with the last one.
    case chunksCut, chunks
    /// A few bytes at a time.
    case slow
    /// Something that looks like another answer follows the body.
    case surplus
    /// Interim answers come first.
    case interim
    /// A body without a length, all of it.
    case untilClose
}
