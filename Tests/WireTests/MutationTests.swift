import Testing

@testable internal import Wire

/// Damages good inputs in ways that are the same each time, and asks that no parser traps and that it never matters
/// how the bytes came.
@Suite struct MutationTests {
    /// xorshift64*: small, seeded, the same everywhere.
    struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return state &* 0x2545_F491_4F6C_DD1D
        }
    }

    static let spice: [[UInt8]] =
        [
            "\r", "\n", "\r\n", "\r\n\r\n", " ", "\t", "\0", ":", ",", ";", "\"", "=", "0", "9", "f", "-",
            "/", "//", "..", "?",
            "#", "%", "%4", "@", "[", "]", "::", "*", "ffffffffffffffff", "18446744073709551616",
            "9223372036854775807", "-1",
            "max-age=", "HTTP/1.", "chunked", "\u{E9}", "\u{1F600}",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0x80]]

    static func mutate(_ seed: [UInt8], with random: inout Generator) -> [UInt8] {
        var bytes = seed
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let start = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, start + Int.random(in: 0...3, using: &random))
            bytes.replaceSubrange(start..<end, with: spice.randomElement(using: &random) ?? [])
        }
        return bytes
    }

    static let rounds = 500

    @Test(
        arguments: HeadScannerTests.heads + [
            "HTTP/1.1 206 x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        ])
    func headsAreReadAlikeHoweverTheyCome(_ seed: String) {
        var random = Generator(state: 0x5EED)
        for _ in 0..<Self.rounds {
            let bytes = Self.mutate(Array((seed + "rest").utf8), with: &random)
            let whole = Outcome { () throws(MessageError) in try scan(bytes, step: max(1, bytes.count)) }
            let single = Outcome { () throws(MessageError) in try scan(bytes, step: 1) }
            #expect(whole == single, "\(bytes)")
            guard case .value(let length?) = whole else { continue }
            let exact = Outcome { () throws(MessageError) in try Self.describe(Array(bytes[..<length])) }
            let surplus = Outcome { () throws(MessageError) in try Self.describe(bytes) }
            #expect(exact == surplus, "\(bytes)")
        }
    }

    /// Everything that a head says, so that all of it is reached.
    static func describe(_ bytes: [UInt8]) throws(MessageError) -> [String] {
        let head = try parseHead(bytes)
        let framing = Outcome { () throws(MessageError) in try MessageFraming(head: head) }
        let validators = Validators(head: head, now: 0)
        return ["\(head.status) \(head.reason) \(framing) \(String(describing: validators.strong))"]
            + head.fields.map { "\($0.name): \($0.value)" }
    }

    @Test(arguments: ChunkedDecoderTests.messages.map(\.text))
    func chunksAreReadAlikeHoweverTheyCome(_ seed: String) {
        var random = Generator(state: 0xC0FFEE)
        for _ in 0..<Self.rounds {
            let bytes = Self.mutate(Array((seed + "rest").utf8), with: &random)
            let whole = Outcome { () throws(MessageError) in try decodeChunked([bytes]) }
            let single = Outcome { () throws(MessageError) in try decodeChunked(pieces(bytes, of: 1)) }
            let uneven = Outcome { () throws(MessageError) in try decodeChunked(pieces(bytes, of: 7)) }
            #expect(whole == single && whole == uneven, "\(bytes)")
        }
    }

    @Test func urlsComeBackUnchangedOnceTheyAreEncoded() throws {
        var random = Generator(state: 0xBEEF)
        var parsed = 0
        for seed in HTTPURLTests.accepted.map(\.text) + HTTPURLTests.refused.map(\.text) {
            for _ in 0..<60 {
                let bytes = Self.mutate(Array(seed.utf8), with: &random)
                let text = String(decoding: bytes, as: UTF8.self)
                let masked = HTTPURL.maskedText(text)
                #expect(HTTPURL.maskedText(masked) == masked, "\(text)")
                guard let url = Self.parse(bytes) else { continue }
                parsed += 1
                let isSafe = url.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
                #expect(isSafe && url.target.hasPrefix("/"), "\(bytes)")
                let again = Self.parse(Array(URLResolvingTests.whole(url).utf8))
                #expect(again == url, "\(bytes)")
                _ = (url.masked, url.fileExtension, url.source, url.basicCredentials)
                #expect(Self.follow(text, from: url)?.path.hasPrefix("/") != false, "\(bytes)")
            }
        }
        // Damage must not be so heavy that nothing is left to compare.
        #expect(parsed > 500)
    }

    static func parse(_ bytes: [UInt8]) -> HTTPURL? {
        bytes.withUnsafeBytes { buffer in
            do throws(URLError) { return try HTTPURL(parsing: buffer) } catch { return nil }
        }
    }

    static func follow(_ reference: String, from base: HTTPURL) -> HTTPURL? {
        do throws(URLError) { return try base.resolving(reference) } catch { return nil }
    }

    @Test func smallFieldsNeverTrap() {
        var random = Generator(state: 0xFACE)
        let seeds = [
            "bytes 0-9223372036854775806/9223372036854775807", "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "99999999999999999999",
            "private=\"a, b\", max-age=60, immutable", "sha-256=:Zm9v:, SHA-512=:Zg==:;q=1",
            "SHA-256=Zm9v,MD5=Zg==",
            "text/html; charset=utf-8", "W/\"a\"",
        ]
        for seed in seeds {
            for _ in 0..<Self.rounds {
                let text = String(decoding: Self.mutate(Array(seed.utf8), with: &random), as: UTF8.self)
                if let range = ContentRange(parsing: text), let part = range.part {
                    #expect(part.upperBound < range.total ?? UInt64(Int64.max), "\(text)")
                }
                #expect(parseRetryAfter(text, now: .min) ?? 0 >= 0, "\(text)")
                #expect(CacheControl(text).maxAge ?? 0 >= 0, "\(text)")
                if let date = parseHTTPDate(text, now: .max) { #expect(abs(date) < 1 << 38, "\(text)") }
                _ = (parseDigestField(text), parseOldDigestField(text), mediaType(text), EntityTag(text).kind)
            }
        }
    }
}
