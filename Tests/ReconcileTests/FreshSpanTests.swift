import Reconcile
import Testing

@Suite("Until when a copy is believed, and by whose word")
struct FreshSpanTests {
    /// What may be known of a copy, all combinations.
    static let copies: [CopyFacts] = {
        var copies: [CopyFacts] = []
        for fits in [nil, true, false] as [Bool?] {
            for until in [nil, 900, 1000, 1500, .max] as [Int64?] {
                for isImmutable in [false, true] {
                    copies.append(
                        CopyFacts(
                            checksumFits: fits, received: 1000, freshUntil: until, isImmutable: isImmutable))
                }
            }
        }
        return copies
    }()

    static let entries: [EntryFacts] = {
        let trusts: [EntryFacts.Trust] = [
            .never, .server, .seconds(0), .seconds(-5), .seconds(100), .seconds(1000), .seconds(.max),
        ]
        return trusts.flatMap { trust in
            [false, true].map { EntryFacts(isImmutable: $0, trust: trust) }
        }
    }()

    @Test("agrees with what a run believes, at any time", arguments: entries)
    func agrees(_ entry: EntryFacts) {
        for copy in Self.copies {
            let span = freshSpan(of: copy, entry: entry)
            for now: Int64 in [0, 999, 1000, 1001, 1099, 1100, 1499, 1500, 1999, 2000, 1 << 40] {
                let believed = belief(in: copy, entry: entry, now: now) != nil
                #expect(
                    believed == (span?.holds(at: now, received: copy.received) ?? false),
                    "\(copy) at \(now): \(String(describing: span))")
            }
        }
    }

    @Test("the longest word counts")
    func words() {
        func span(_ trust: EntryFacts.Trust, until: Int64? = nil, isImmutable: Bool = false) -> FreshSpan? {
            freshSpan(
                of: CopyFacts(received: 1000, freshUntil: until, isImmutable: isImmutable),
                entry: EntryFacts(trust: trust))
        }
        #expect(span(.seconds(50)) == FreshSpan(until: 1050, word: .maxAge))
        #expect(span(.seconds(50), until: 2000) == FreshSpan(until: 1050, word: .maxAge))
        #expect(span(.server, until: 2000) == FreshSpan(until: 2000, word: .server))
        #expect(span(.server) == nil)
        #expect(span(.seconds(0)) == nil)
        #expect(
            span(.seconds(50), until: 2000, isImmutable: true)
                == FreshSpan(until: 2000, word: .serverImmutable))
        #expect(
            span(.seconds(5000), until: 2000, isImmutable: true) == FreshSpan(until: 6000, word: .maxAge))
    }
}
