internal import Agent
internal import Posix
internal import Storage

/// The failures that the last run told, so that the same ones are not told again by each run.
struct ToldFailures: Equatable {
    /// One failure: what makes it the same next time, and how it is told.
    struct Item: Equatable {
        /// No blank in it but after its first word, and no TAB.
        let identity: String
        let sentence: String

        init(_ identity: String, _ sentence: String) {
            self.identity = identity
            self.sentence = DisplayText.printable(sentence)
        }

        /// An entry's. All that may pass by itself is one failure, or a server in trouble would be news in each run.
        init(_ row: EntryRow, _ failure: FailureRow) {
            let kind = failure.isPermanent ? failure.reason : "for now"
            self.init("entry \(row.key.hex) \(kind)", "\(row.url): \(failure.message)")
        }

        /// A line of a manifest that is bad.
        init(line sentence: String) { self.init("line " + DisplayText.printable(sentence), sentence) }

        /// What is told of the run as a whole. How many entries it is about, and what to do, makes it no other failure.
        init(run sentence: String) {
            let clause = sentence.split(separator: ";", maxSplits: 1).first ?? ""
            let words = clause.split(separator: " ").map { $0.allSatisfy(\.isNumber) ? "#" : String($0) }
            self.init("run " + DisplayText.printable(words.joined(separator: " ")), sentence)
        }

        var isOfEntry: Bool { identity.hasPrefix("entry ") }
    }

    /// What differs between two runs.
    struct Changes: Equatable {
        /// Sentences, in order.
        var new: [String] = []
        var over: [String] = []
    }

    /// Failures that are remembered. Of more than these some are told again.
    static let limit = 10_000
    /// The file's name beside the ledger, and bytes that it may have.
    static let fileName = "told"
    static let largest = 16 << 20

    private(set) var items: [Item] = []
    private var identities: Set<String> = []

    init() {}

    /// Once is enough.
    mutating func add(_ item: Item) {
        guard items.count < Self.limit, identities.insert(item.identity).inserted else { return }
        items.append(item)
    }

    /// What is new since, and what is over.
    func changes(since before: ToldFailures) -> Changes {
        Changes(
            new: items.filter { !before.identities.contains($0.identity) }.map(\.sentence),
            over: before.items.filter { !identities.contains($0.identity) }.map(\.sentence))
    }

    /// What a run that did not come to its end could not look at is not over.
    mutating func keep(_ before: ToldFailures, where isUnknown: (Item) -> Bool) {
        for item in before.items where isUnknown(item) { add(item) }
    }

    /// Reads `text`; lines that are none of it are passed over.
    init(parsing bytes: [UInt8]) {
        for line in bytes.split(separator: 0x0A) {
            guard let tab = line.firstIndex(of: 0x09) else { continue }
            let identity = String(decoding: line[..<tab], as: UTF8.self)
            add(Item(identity, String(decoding: line[(tab + 1)...], as: UTF8.self)))
        }
    }

    /// A line each: identity, TAB, sentence. Neither holds a control character.
    var text: String { items.map { "\($0.identity)\t\($0.sentence)\n" }.joined() }
}
