import Storage
import Testing

@Suite struct KeyTests {
    // What `printf %s "$URL" | openssl md5` prints.
    static let known: [(text: String, hex: String)] = [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("http://127.0.0.1:8080/a b", "627a16b48142afaefaca8ebeb642328b"),
    ]

    @Test(arguments: known) func isTheMD5OfTheText(row: (text: String, hex: String)) {
        #expect(Key(md5Of: row.text).hex == row.hex)
    }

    @Test func makerForgetsTheTextBefore() {
        var maker = KeyMaker()
        for row in Self.known {
            let key = Array(row.text.utf8).withUnsafeBytes { maker.key(of: $0) }
            #expect(key == Key(md5Of: row.text))
        }
    }

    @Test func hexAndBytesLeadBack() {
        for number in 0..<200 {
            let key = Key(md5Of: "\(number)")
            #expect(Key(hex: key.hex) == key)
            #expect(Key(hex: key.hex[...]) == key)
            #expect(Key(bytes: key.bytes) == key)
            #expect(key.bytes.count == 16)
        }
    }

    @Test func sortsAsItsHexDoes() {
        let keys = (0..<200).map { Key(md5Of: "\($0)") }
        #expect(keys.sorted().map(\.hex) == keys.map(\.hex).sorted())
    }

    @Test(arguments: [
        "", "d41d8cd98f00b204e9800998ecf8427", "d41d8cd98f00b204e9800998ecf8427e0",
        "D41D8CD98F00B204E9800998ECF8427E", "d41d8cd98f00b204e9800998ecf8427g",
        "é41d8cd98f00b204e9800998ecf8427e",
    ])
    func otherSpellingsAreNoKey(hex: String) {
        #expect(Key(hex: hex) == nil)
    }

    @Test(arguments: [0, 15, 17]) func onlySixteenBytesAreAKey(count: Int) {
        #expect(Key(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }
}
