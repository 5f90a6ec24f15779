/// Numbers as people read them. No locale: output that scripts see must not change with the user's language.
enum Formats {
    /// Bytes in the largest binary unit that leaves at least 1, with one decimal: `812 B`, `1.0 KiB`, `3.4 GiB`.
    static func bytes(_ count: UInt64) -> String {
        guard count >= 1024 else { return "\(count) B" }
        let names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        for (index, name) in names.enumerated() {
            let unit = UInt64(1) << UInt64(10 * (index + 1))
            let tenths = tenths(of: count, unit: unit)
            // What rounds to 1024.0 is 1.0 of the next unit; the last unit holds every UInt64.
            if tenths < 10_240 || index == names.count - 1 { return "\(tenths / 10).\(tenths % 10) \(name)" }
        }
        return "\(count) B"
    }

    private static func tenths(of count: UInt64, unit: UInt64) -> UInt64 {
        // The remainder is below 2^60, so ten times it, plus half a unit, stays below 2^64.
        (count / unit) &* 10 &+ (count % unit &* 10 &+ unit / 2) / unit
    }

    /// Hundredths of a per cent, rounded down, so that 10000 means complete; nothing of nothing is complete.
    static func hundredths(_ done: UInt64, of total: UInt64) -> UInt64 {
        guard done < total else { return 10_000 }
        let product = done.multipliedFullWidth(by: 10_000)
        // done < total, so the quotient is below 10000 and fits.
        return total.dividingFullWidth(product).quotient
    }

    /// `42.07 %`, rounded down: `100.00 %` is shown only for what is complete.
    static func percent(_ done: UInt64, of total: UInt64) -> String {
        let value = hundredths(done, of: total)
        return "\(value / 100).\(twoDigits(Int64(value % 100))) %"
    }

    /// The two largest units of a span: `0s`, `42s`, `3m 12s`, `2h 05m`, `4d 03h`.
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e12 else { return "for ever" }
        let total = Int64(max(0, seconds))
        if total < 60 { return "\(total)s" }
        if total < 3600 { return "\(total / 60)m \(twoDigits(total % 60))s" }
        if total < 86_400 { return "\(total / 3600)h \(twoDigits(total / 60 % 60))m" }
        return "\(total / 86_400)d \(twoDigits(total / 3600 % 24))h"
    }

    /// Bytes per second; anything that is no speed counts as 0.
    static func rate(_ bytesPerSecond: Double) -> String {
        let whole = bytesPerSecond.isFinite && bytesPerSecond > 0 ? min(bytesPerSecond, 1e18) : 0
        return bytes(UInt64(whole)) + "/s"
    }

    /// Wall seconds since 1970 as RFC 3339 in UTC: `2026-02-03T04:05:06Z`. The form has four digits for a year,
    /// so what lies outside of 0000 to 9999 is shown as the nearest that has.
    static func time(_ wall: Int64) -> String {
        let bounded = min(max(wall, -62_167_219_200), 253_402_300_799)
        var day = bounded / 86_400
        var second = bounded % 86_400
        if second < 0 {
            second += 86_400
            day -= 1
        }
        let (year, month, dayOfMonth) = civil(day)
        let date = "\(fourDigits(year))-\(twoDigits(month))-\(twoDigits(dayOfMonth))"
        return date + "T\(twoDigits(second / 3600)):\(twoDigits(second / 60 % 60)):\(twoDigits(second % 60))Z"
    }

    /// The proleptic Gregorian date of a day counted from 1970-01-01. Years are taken to begin in March, which
    /// puts the leap day at the end; 146097 days are 400 years.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }

    private static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

    private static func fourDigits(_ value: Int64) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}

/// `1 entry`, `2 entries`.
func counted(_ count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }
