import Reconcile
import Testing

/// `512`, and `512k`.
private func size(_ text: Substring) -> UInt64? {
    text.last == "k" ? UInt64(text.dropLast()).map { $0 * 1024 } : UInt64(text)
}

@Suite("The timetable of rates")
struct RateTimetableTests {
    @Test(
        "holds from each time until the next, over midnight too",
        arguments: [
            ("512k", [(0, 512 * 1024)]),
            ("off", [(0, nil)]),
            ("08:00,512k 18:00,off", [(0, nil), (480, 512 * 1024), (1080, nil)]),
            ("18:00,off 08:00,512k", [(0, nil), (480, 512 * 1024), (1080, nil)]),
            ("00:00,1 23:59,2", [(0, 1), (1439, 2)]),
            ("12:30,7", [(0, 7)]),
            (" 08:00,1   09:00,2 ", [(0, 2), (480, 1), (540, 2)]),
        ] as [(String, [(Int, UInt64?)])])
    func everyMinute(text: String, steps: [(Int, UInt64?)]) throws {
        let timetable = try #require(RateTimetable(text, size: size))
        for minute in 0..<RateTimetable.minutesADay {
            let wanted = steps.last { $0.0 <= minute }?.1
            #expect(timetable.rate(atMinute: minute) == wanted, "minute \(minute)")
        }
        #expect(timetable.changes == (Set(steps.map { $0.1 ?? 0 }).count > 1))
    }

    @Test(
        "is refused when it is none",
        arguments: [
            "", " ", "0", "k", "-1", "0k", "08:00", "08:00,", ",512k", "8:00,1", "24:00,1", "08:60,1",
            "08:00:00,1", "08:00,1,2", "08:00,1 08:00,2", "08:00,0", "ab:cd,1", "08:00,x", "08:00, 1",
            "+8:00,1",
            "08:00,1 off", "off,08:00", ",", "٠٨:00,1", "OFF",
        ])
    func refused(_ text: String) {
        #expect(RateTimetable(text, size: size) == nil)
    }
}

@Suite("The bytes of a run")
struct ByteAllowanceTests {
    @Test(
        "are never exceeded, and all given at last, whatever comes of what was reserved",
        arguments: [UInt64(0), 1, 1000, 16_384, 100_000, 3_000_000], [7, 4096, 524_288])
    func sum(bytes: UInt64, size: Int) {
        var allowance = ByteAllowance(bytes: bytes)
        var received: UInt64 = 0
        var held: [Int] = []
        var turns = 0
        while turns < 20_000_000 {
            turns += 1
            let given = allowance.reserve(size)
            #expect(given <= size)
            if given > 0 { held.append(given) }
            if given == 0, held.isEmpty { break }
            // Four readers; of every third reservation only a part comes.
            if held.count >= 4 || given == 0 {
                let reserved = held.removeFirst()
                let came = turns % 3 == 0 && reserved > 1 ? reserved / 2 : reserved
                allowance.giveBack(reserved - came)
                received += UInt64(came)
            }
            if received > bytes { break }
        }
        #expect(received == bytes)
    }

    @Test("have no bound unless one was set") func none() {
        var allowance = ByteAllowance(bytes: nil)
        for _ in 0..<10 { #expect(allowance.reserve(.max) == .max) }
        allowance.giveBack(.max)
        #expect(allowance.reserve(5) == 5)
    }

    @Test("take any numbers") func extremes() {
        var allowance = ByteAllowance(bytes: .max)
        #expect(allowance.reserve(.max) > 0)
        allowance.giveBack(.max)
        allowance.giveBack(.max)
        allowance.giveBack(-5)
        #expect(allowance.reserve(5) == 5)
        #expect(allowance.reserve(0) == 0)
    }
}
