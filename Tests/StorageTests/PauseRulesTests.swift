import Posix
import Storage
import Testing

@Suite("Who is paused")
struct PauseRulesTests {
    @Test(
        "a pattern stands for the whole of a text",
        arguments: [
            ("", "", true), ("a", "", false), ("", "*", true), ("abc", "*", true), ("abc", "abc", true),
            ("abc", "ab", false), ("abc", "a*c", true), ("abc", "a?c", true), ("abc", "a??c", false),
            ("abcabd", "*abd", true), ("abcabd", "*abc", false), ("a/b/c.iso", "*.iso", true),
            ("a/b/c.iso", "a/*/c.iso", true), ("a[b]", "a[b]", true), ("ab", "a[b]", false),
            ("ä", "??", true),
            ("abc", "***c***", true), ("abc", "?*?*?", true), ("abc", "?*?*?*?", false),
        ])
    func patterns(_ text: String, _ pattern: String, _ fits: Bool) {
        #expect(matches(text, pattern: pattern) == fits)
    }

    @Test("many stars take no exponential time")
    func stars() {
        let text = String(repeating: "a", count: 4000)
        #expect(!matches(text, pattern: String(repeating: "a*", count: 60) + "b"))
    }

    /// What the user said, in order, and who is paused in the end: `a` has the key 1, `b` 2.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: [(isPaused: Bool, subject: PauseRule.Subject)]
        let paused: Set<String>
        let rules: Int

        init(
            _ description: String, _ words: [(Bool, PauseRule.Subject)], _ paused: Set<String>, rules: Int
        ) {
            testDescription = description
            self.words = words.map { (isPaused: $0.0, subject: $0.1) }
            self.paused = paused
            self.rules = rules
        }
    }

    private static let a = PauseRule.Subject.key(Sample.key(1))
    static let stories = [
        Story("nothing was said", [], [], rules: 0),
        Story("one by its key", [(true, a)], ["a"], rules: 1),
        Story("twice is once", [(true, a), (true, a)], ["a"], rules: 1),
        Story("and not any more", [(true, a), (false, a)], [], rules: 0),
        Story("all", [(true, .pattern("*"))], ["a", "b"], rules: 1),
        Story("all but one", [(true, .pattern("*")), (false, a)], ["b"], rules: 2),
        Story(
            "all but one, then all", [(true, .pattern("*")), (false, a), (true, .pattern("*"))], ["a", "b"],
            rules: 1),
        Story("all resumed", [(true, .pattern("*/b")), (true, a), (false, .pattern("*"))], [], rules: 0),
        Story("a pattern", [(true, .pattern("*/b"))], ["b"], rules: 1),
        Story("a pattern taken back", [(true, .pattern("*/b")), (false, .pattern("*/b"))], [], rules: 0),
        Story("all but a pattern", [(true, .pattern("*")), (false, .pattern("*/a"))], ["b"], rules: 2),
        Story(
            "a pattern after an exception", [(true, .pattern("*")), (false, a), (true, .pattern("*/a"))],
            ["a", "b"], rules: 3),
        Story("an exception from nothing", [(false, a), (false, .pattern("*/a"))], [], rules: 0),
    ]

    @Test("the last word about an entry counts, and empty words are not kept", arguments: stories)
    func lastWord(_ story: Story) throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try fillLedger(of: cache, entries: 1...1)
        for (isPaused, subject) in story.words {
            guard var ledger = try PauseLedger.open(in: cache.state) else { throw NothingThere() }
            try ledger.say(isPaused, of: [(subject, "text")])
        }
        var reader = try openReader(of: cache)
        let rules = try reader.pauseRules()
        #expect(rules.all.count == story.rules)
        let paused = [("a", UInt64(1)), ("b", 2)].filter { name, key in
            rules.isPaused(Sample.key(key), url: "http://h/\(name)")
        }
        #expect(Set(paused.map(\.0)) == story.paused)
    }

    @Test("is said while another connection writes, and seen by the mark")
    func besideWriter() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        try withWriter(of: cache) { writer in
            try writer.transaction(durable: false) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(1))
            }
            var reader = try openReader(of: cache)
            let before = try reader.pauseMark()
            guard var ledger = try PauseLedger.open(in: cache.state) else { throw NothingThere() }
            try ledger.say(true, of: [(Self.a, "text")])
            #expect(try reader.pauseMark() != before)
            try writer.transaction(durable: true) { ledger throws(LedgerError) in
                try ledger.save(Sample.entry(2))
            }
            let paused = try reader.pauseMark()
            try ledger.say(false, of: [(Self.a, "text")])
            #expect(try reader.pauseMark() != paused)
            #expect(try reader.counts().map(\.count) == [0, 2, 0, 0])
        }
    }

    @Test("a cache without a ledger has nobody to tell")
    func noLedger() throws {
        let fixture = try CacheFixture()
        let cache = try fixture.openCache()
        switch try PauseLedger.open(in: cache.state) {
        case nil: break
        case .some: Issue.record("there is no ledger")
        }
        #expect(try fixture.names(in: fixture.statePath) == ["partial"])
    }
}
