import Wire

/// Content-Range.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    guard let text = text(input) else { return 0 }
    let range = ContentRange(parsing: text)
    if let received = receivedField(input), received.utf8.count == count {
        require(ContentRange(parsing: received) == range, "a range is another one in a head")
    }
    guard let range else { return 0 }
    require(range.part != nil || range.total != nil, "a range of nothing")
    require(range.total ?? 0 <= UInt64(Int64.max), "total \(range)")
    if let part = range.part { require(part.upperBound < range.total ?? UInt64(Int64.max), "\(range)") }

    let written =
        "bytes " + (range.part.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "*") + "/"
        + (range.total.map { "\($0)" } ?? "*")
    require(ContentRange(parsing: written) == range, "\(written) reads otherwise")
    // Leading zeros are all that may differ.
    let short = text.split(separator: " ").dropFirst().joined().split { !$0.isNumber && $0 != "*" }
        .map { $0.drop { $0 == "0" } }
    let long = written.dropFirst(6).split { !$0.isNumber && $0 != "*" }.map { $0.drop { $0 == "0" } }
    require(short == long, "\(text) is read as \(written)")
    return 0
}
