/// Reads a date in one of the three forms of RFC 9110 5.6.7, as seconds since 1970.
///
/// `now` (seconds since 1970) places the two-digit year of the RFC 850 form: never more than 50 years ahead. The
/// name of the day is not compared with the date; a leap second counts as the second after it.
package func parseHTTPDate(_ text: String, now: Int64) -> Int64? {
    var scanner = DateScanner(text)
    let date = scanner.imfFixdate() ?? scanner.rfc850(now: now) ?? scanner.asctime()
    return date?.seconds
}

/// Writes an IMF-fixdate; outside the years 1 to 9999 the nearest second that can be written.
package func formatHTTPDate(_ seconds: Int64) -> String {
    let seconds = min(max(seconds, -62_135_596_800), 253_402_300_799)
    let day = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
    let second = seconds - day * 86_400
    let (year, month, dayOfMonth) = CalendarDate.civil(day: day)
    // 1 January 1970 was a Thursday.
    let weekday = Int(((day + 4) % 7 + 7) % 7)
    func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    return
        "\(CalendarDate.weekdays[weekday]), \(padded(dayOfMonth, 2)) \(CalendarDate.months[Int(month) - 1]) "
        + "\(padded(year, 4)) \(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2)) GMT"
}

/// A date of the proleptic Gregorian calendar in UTC; its parts are checked when it is made.
private struct CalendarDate {
    static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let longWeekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    let seconds: Int64

    init?(year: Int64, month: Int64, day: Int64, time: (hour: Int64, minute: Int64, second: Int64)) {
        guard (0...9999).contains(year), (1...12).contains(month) else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...lengths[Int(month) - 1]).contains(day) else { return nil }
        guard (0...23).contains(time.hour), (0...59).contains(time.minute), (0...60).contains(time.second)
        else {
            return nil
        }
        // Years that begin in March put the leap day last; 719468 days lie between 1 March 0 and 1970.
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        seconds = days * 86_400 + time.hour * 3600 + time.minute * 60 + time.second
    }

    /// The date of a day counted from 1 January 1970, for the years 0 to 9999.
    static func civil(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

/// Fits the fixed columns of the three forms on a text.
private struct DateScanner {
    private let text: [UInt8]
    private var position = 0

    init(_ text: String) { self.text = Array(text.utf8.prefix(64)) }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    mutating func imfFixdate() -> CalendarDate? {
        position = 0
        guard name(CalendarDate.weekdays) != nil, literal(", "), let day = digits(2), literal(" "),
            let month = name(CalendarDate.months), literal(" "), let year = digits(4), literal(" "),
            let time = time(), literal(" GMT"), isAtEnd
        else { return nil }
        return CalendarDate(year: year, month: month + 1, day: day, time: time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    mutating func rfc850(now: Int64) -> CalendarDate? {
        position = 0
        guard name(CalendarDate.longWeekdays) != nil, literal(", "), let day = digits(2), literal("-"),
            let month = name(CalendarDate.months), literal("-"), let short = digits(2), literal(" "),
            let time = time(), literal(" GMT"), isAtEnd
        else { return nil }
        let bounded = min(max(now, 0), 253_402_300_799)
        let thisYear = CalendarDate.civil(day: bounded / 86_400).year
        let year = thisYear - thisYear % 100 + short
        let candidates = [year + 100, year, year - 100].compactMap {
            CalendarDate(year: $0, month: month + 1, day: day, time: time)
        }
        // Fifty Gregorian years are 18,262 or 18,263 days.
        return candidates.first { $0.seconds <= bounded + 18_263 * 86_400 }
    }

    /// `Sun Nov  6 08:49:37 1994`
    mutating func asctime() -> CalendarDate? {
        position = 0
        guard name(CalendarDate.weekdays) != nil, literal(" "), let month = name(CalendarDate.months),
            literal(" "),
            let day = literal(" ") ? digits(1) : digits(2), literal(" "), let time = time(), literal(" "),
            let year = digits(4), isAtEnd
        else { return nil }
        return CalendarDate(year: year, month: month + 1, day: day, time: time)
    }

    private var isAtEnd: Bool { position == text.count }

    private mutating func time() -> (hour: Int64, minute: Int64, second: Int64)? {
        guard let hour = digits(2), literal(":"), let minute = digits(2), literal(":"), let second = digits(2)
        else {
            return nil
        }
        return (hour, minute, second)
    }

    private mutating func digits(_ count: Int) -> Int64? {
        guard text.count - position >= count else { return nil }
        guard let value = DecimalNumber(text[position..<position + count]).exact else { return nil }
        position += count
        return Int64(value)
    }

    private mutating func literal(_ expected: String) -> Bool {
        guard text[position...].starts(with: expected.utf8) else { return false }
        position += expected.utf8.count
        return true
    }

    /// The index of the name that stands here.
    private mutating func name(_ names: [String]) -> Int64? {
        for (index, name) in names.enumerated() where literal(name) { return Int64(index) }
        return nil
    }
}
