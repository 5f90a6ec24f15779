import Testing

@testable internal import Wire

@Suite struct HTTPDateTests {
    /// 2024-01-01 00:00:00.
    static let now: Int64 = 1_704_067_200

    static let dates: [(text: String, seconds: Int64)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Wed Nov 16 08:49:37 1994", 784_975_777),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
        ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
        ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ]

    @Test(arguments: dates)
    func readsAllThreeForms(_ row: (text: String, seconds: Int64)) {
        #expect(parseHTTPDate(row.text, now: Self.now) == row.seconds)
    }

    @Test(arguments: [
        "", "0", "784111777", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 06 Nov 1994 08:49:37 gmt", "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 00:00:00 GMT",
        "Mon, 29 Feb 1900 00:00:00 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun Nov 06 08:49:37 1994 GMT", "Sun Nov  16 08:49:37 1994",
        "06 Nov 1994 08:49:37 GMT",
        "Xyz, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT, x",
    ])
    func refusesOtherForms(_ text: String) {
        #expect(parseHTTPDate(text, now: Self.now) == nil)
    }

    static let shortYears: [(text: String, now: Int64, expected: String)] = [
        ("Sunday, 01-Jan-74 00:00:00 GMT", 1_704_067_200, "Mon, 01 Jan 2074 00:00:00 GMT"),
        ("Sunday, 03-Jan-74 00:00:00 GMT", 1_704_067_200, "Thu, 03 Jan 1974 00:00:00 GMT"),
        ("Sunday, 01-Jan-75 00:00:00 GMT", 1_704_067_200, "Wed, 01 Jan 1975 00:00:00 GMT"),
        ("Sunday, 01-Jan-24 00:00:00 GMT", 1_704_067_200, "Mon, 01 Jan 2024 00:00:00 GMT"),
        ("Sunday, 31-Dec-99 00:00:00 GMT", 1_704_067_200, "Fri, 31 Dec 1999 00:00:00 GMT"),
        // Late in a century the next one's years are near.
        ("Sunday, 01-Jan-05 00:00:00 GMT", 3_900_000_000, "Thu, 01 Jan 2105 00:00:00 GMT"),
    ]

    @Test(arguments: shortYears)
    func placesTwoDigitYearsWithinFiftyYears(_ row: (text: String, now: Int64, expected: String)) {
        #expect(parseHTTPDate(row.text, now: row.now).map { formatHTTPDate($0) } == row.expected)
    }

    @Test(arguments: [Int64.min, -1, 0, Int64.max])
    func survivesAnyClock(_ now: Int64) {
        #expect(parseHTTPDate("Sun, 06 Nov 1994 08:49:37 GMT", now: now) == 784_111_777)
        #expect(parseHTTPDate("Sunday, 06-Nov-94 08:49:37 GMT", now: now) != nil)
    }

    @Test func readsBackWhatItWrites() {
        // Steps that meet every month, leap days and both sides of 1970.
        for seconds in stride(from: Int64(-62_135_596_800), through: 253_402_300_799, by: 86_399 * 331) {
            #expect(parseHTTPDate(formatHTTPDate(seconds), now: 0) == seconds)
        }
    }

    static let written: [(seconds: Int64, text: String)] = [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"), (Int64.min, "Mon, 01 Jan 0001 00:00:00 GMT"),
    ]

    @Test(arguments: written)
    func writesFixdates(_ row: (seconds: Int64, text: String)) {
        #expect(formatHTTPDate(row.seconds) == row.text)
    }
}

@Suite struct RetryAfterTests {
    static let rows: [(text: String, now: Int64, seconds: Int64?)] = [
        ("0", 5, 0), ("120", 5, 120), ("007", 5, 7), ("4611686018427387903", 5, Int64.max / 2),
        ("4611686018427387904", 5, Int64.max / 2), ("99999999999999999999999", 5, Int64.max / 2),
        ("Thu, 01 Jan 1970 00:01:00 GMT", 0, 60), ("Thu, 01 Jan 1970 00:01:00 GMT", 60, 0),
        ("Thu, 01 Jan 1970 00:01:00 GMT", 1000, 0), ("Thu Jan  1 00:01:00 1970", 10, 50),
        ("Thu, 01 Jan 1970 00:01:00 GMT", Int64.min, Int64.max / 2),
        ("Thu, 01 Jan 1970 00:01:00 GMT", Int64.max, 0),
        ("", 5, nil), ("-1", 5, nil), ("+1", 5, nil), ("1.5", 5, nil), ("1s", 5, nil), (" 1", 5, nil),
        ("1, 2", 5, nil),
        ("soon", 5, nil), ("0x5", 5, nil), ("1e3", 5, nil),
    ]

    @Test(arguments: rows)
    func readsBothForms(_ row: (text: String, now: Int64, seconds: Int64?)) {
        #expect(parseRetryAfter(row.text, now: row.now) == row.seconds)
    }
}
