import Glibc
import Wire

/// HTTP dates and Retry-After.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    if count >= 8 { checkWritten(input.loadUnaligned(as: Int64.self)) }
    guard let text = text(input) else { return 0 }
    for now in [0, 1_700_000_000, 253_402_300_799, Int64.min, Int64.max] { check(text, now: now) }
    if let received = receivedField(input), received.utf8.count == count {
        require(
            parseRetryAfter(received, now: 0) == parseRetryAfter(text, now: 0),
            "a date is another one in a head")
    }
    return 0
}

private func check(_ text: String, now: Int64) {
    if let wait = parseRetryAfter(text, now: now) { require(wait >= 0 && wait <= .max / 2, "\(wait)") }
    guard let date = parseHTTPDate(text, now: now) else { return }
    // The years 0 to 9999, a leap second at the end of the last one.
    require(date >= -62_167_219_200 && date <= 253_402_300_800, "\(date)")
    checkWritten(date)
    if text.utf8.contains(0x2D) {
        // RFC 850: never more than fifty years ahead.
        let present = min(max(now, 0), 253_402_300_799)
        require(date <= present + 18_263 * 86_400, "\(text) is too far ahead of \(now)")
    }
}

/// The C library writes the same date, and reading it gives it back.
private func checkWritten(_ seconds: Int64) {
    let written = formatHTTPDate(seconds)
    var time = time_t(min(max(seconds, -62_135_596_800), 253_402_300_799))
    let expected = time
    var parts = tm()
    gmtime_r(&time, &parts)
    var buffer = [CChar](repeating: 0, count: 64)
    let length = strftime(&buffer, buffer.count, "%a, %d %b ", &parts)
    var year = [CChar](repeating: 0, count: 64)
    let rest = strftime(&year, year.count, " %H:%M:%S GMT", &parts)
    let digits = String(Int(parts.tm_year) + 1900)
    let bytes =
        buffer[..<length].map { UInt8(bitPattern: $0) }
        + Array(String(repeating: "0", count: max(0, 4 - digits.utf8.count)).utf8) + Array(digits.utf8)
        + year[..<rest].map { UInt8(bitPattern: $0) }
    require(Array(written.utf8) == bytes, "\(seconds) is written \(written)")
    require(parseHTTPDate(written, now: 0) == Int64(expected), "\(written) is not read as \(seconds)")
}
