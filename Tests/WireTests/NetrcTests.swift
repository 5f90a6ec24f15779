import Testing

@testable internal import Wire

@Suite struct NetrcTests {
    /// A file, a host, and the login that it gets as `user:password`.
    static let rows: [(text: String, host: String, login: String?)] = [
        ("", "h", nil),
        ("machine h login u password p", "h", "u:p"),
        ("machine h login u password p\n", "other", nil),
        ("machine h login u password p", "sub.h", nil),
        ("machine h login u password p", "h.sub", nil),
        ("machine H login u password p", "h", "u:p"),
        ("machine h\n\tlogin u\r\n\tpassword p\r\n", "h", "u:p"),
        ("machine h password p login u", "h", "u:p"),
        ("machine a login u password p machine b login v password q", "b", "v:q"),
        ("machine a login u password p machine a login v password q", "a", "u:p"),
        ("machine a login u password p\ndefault login d password q", "z", "d:q"),
        ("default login d password q\nmachine a login u password p", "a", "u:p"),
        ("machine h login u account x password p", "h", "u:p"),
        ("machine h login u", "h", "u:"), ("machine h password p", "h", ":p"), ("machine h", "h", ":"),
        ("machine h login \"u v\" password \"p \\\"q\\\" \\\\ \\n\\t\\r\"", "h", "u v:p \"q\" \\ \n\t\r"),
        ("machine h login \"\" password \"\"", "h", ":"),
        ("machine \"h\" login u password p", "h", "u:p"),
        ("machine h login u\\n password p\"q", "h", "u\\n:p\"q"),
        ("# machine h login x password y\nmachine h login u password p", "h", "u:p"),
        ("machine h # login x\nlogin u # password y\n#\n password p", "h", "u:p"),
        ("#\n#x", "h", nil),
        ("machine h login u password #p", "h", "u:#p"), ("machine h login u password p#q", "h", "u:p#q"),
        ("machine login login login password password", "login", "login:password"),
        ("macdef init\nmachine h login x password y\n\nmachine h login u password p", "h", "u:p"),
        ("macdef init\r\nmachine h login x\r\n\r\nmachine h login u password p", "h", "u:p"),
        ("machine h login u password p\nmacdef init\nquit", "h", "u:p"),
        ("machine h login u macdef m\nx\n\npassword p", "h", "u:p"),
        ("machine ::1 login u password p", "::1", "u:p"),
    ]

    @Test(arguments: rows)
    func findsTheLoginOfAHost(_ row: (text: String, host: String, login: String?)) throws {
        let login = try Netrc(parsing: Array(row.text.utf8)).login(for: row.host)
        #expect(login.map { String(decoding: $0.user + [0x3A] + $0.password, as: UTF8.self) } == row.login)
    }

    @Test(arguments: [
        ("machine", 1, NetrcError.Cause.noValue), ("machine h login", 1, .noValue),
        ("machine h\nlogin\n\n", 2, .noValue),
        ("login u", 1, .noMachine), ("\npassword hunter2", 2, .noMachine),
        ("machine h\npassword my hunter2", 2, .unknownWord),
        ("machine h login u password \"hunter2", 1, .openQuote),
        ("machine h password \"hunter2\n\"", 1, .openQuote),
        ("machine h password \"hunter2\\", 1, .openQuote),
        ("# c\n\nhunter2", 3, .unknownWord), ("macdef m\na\n\nhunter2", 4, .unknownWord),
        ("macdef", 1, .noValue),
    ])
    func namesTheLineAndNoWord(text: String, line: Int, cause: NetrcError.Cause) {
        let error = #expect(throws: NetrcError.self) { try Netrc(parsing: Array(text.utf8)) }
        #expect(error == NetrcError(line: line, cause: cause))
        #expect(error.map { "\($0)".contains("hunter2") } == false)
    }

    @Test func everyBeginningIsReadOrRefused() {
        var bytes: [UInt8] = []
        for row in Self.rows { bytes += Array(row.text.utf8) + [0x0A] }
        for end in 0...bytes.count {
            do throws(NetrcError) {
                _ = try Netrc(parsing: Array(bytes[..<end]))
            } catch {
                #expect(error.line >= 1)
            }
        }
    }
}
