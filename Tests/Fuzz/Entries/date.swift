import Glibc
import Wire

/// HTTP dates and Retry-After.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    if count >= 8 { checkWritten(input.loadUnaligned(as: Int64.self)) }
    checkChosen(choice(input))
    guard let text = text(input) else { return 0 }
    for now in [0, 1_700_000_000, 253_402_300_799, Int64.min, Int64.max] { check(text, now: now) }
    if let received = receivedField(input), received.utf8.count == count {
        require(
            parseRetryAfter(received, now: 0) == parseRetryAfter(text, now: 0),
            "a date is another one in a head")
    }
    return 0
}

/// A date whose parts the input chooses, valid or not: the C library knows whether there is such a day.
private func checkChosen(_ number: UInt64) {
    var rest = number
    func next(_ bound: UInt64) -> Int {
        defer { rest /= bound }
        return Int(rest % bound)
    }
    // Half of the years are the first of a century, and most days one at a border.
    let year = next(2) == 0 ? next(99) * 100 + 100 : next(9_999) + 1
    let month = next(12)
    let day = [0, 1, 9, 10, 28, 29, 30, 31][next(8)]
    let (hour, minute, second) = ([0, 12, 23, 24][next(4)], [0, 59, 60][next(3)], [0, 59, 60, 61][next(4)])
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month), Int32(day))
    let seconds = timegm(&parts) + hour * 3600 + minute * 60 + second
    // timegm(3) carries what is too much over into another month.
    let isDay = parts.tm_mday == Int32(day)
    let isValid = isDay && hour < 24 && minute < 60 && second <= 60

    func padded(_ value: Int, _ width: Int) -> String {
        String(repeating: "0", count: max(0, width - "\(value)".utf8.count)) + "\(value)"
    }
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let time = "\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))"
    let texts = [
        "Sun, \(padded(day, 2)) \(months[month]) \(padded(year, 4)) \(time) GMT",
        "Mon \(months[month]) \(day < 10 ? " " : "")\(day) \(time) \(padded(year, 4))",
    ]
    for text in texts {
        let read = parseHTTPDate(text, now: 0)
        require(read == (isValid ? Int64(seconds) : nil), "\(text) is read as \(read ?? .min)")
    }
}

private func check(_ text: String, now: Int64) {
    if let wait = parseRetryAfter(text, now: now) { require(wait >= 0 && wait <= .max / 2, "\(wait)") }
    guard let date = parseHTTPDate(text, now: now) else { return }
    // The years 0 to 9999, a leap second at the end of the last one.
    require(date >= -62_167_219_200 && date <= 253_402_300_800, "\(date)")
    checkWritten(date)
    let isFixdate = text.utf8.count == 29 && text.utf8.last == UInt8(ascii: "T")
    if isFixdate, date >= -62_135_596_800, !text.contains(":60 ") {
        // But for the day of the week, which nobody compares.
        require(formatHTTPDate(date).dropFirst(3) == text.dropFirst(3), "\(text) is read as \(date)")
    }
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
