internal import Reconcile
internal import Storage

/// Until when an entry is not asked about, as the last run that met it had it.
struct Freshness: Hashable {
    /// Wall seconds; nil for ever.
    let until: Int64?
    let word: Word

    /// Whose word it is.
    enum Word: String, CaseIterable {
        case checksum, immutable
        case manifest, option, server
        case serverImmutable = "server-immutable"

        var sentence: String {
            switch self {
            case .checksum: "the manifest's checksum"
            case .immutable: "the manifest's immutable"
            case .manifest: "the manifest's max-age"
            case .option: "--max-age"
            case .server: "the server's Cache-Control or Expires"
            case .serverImmutable: "the server's immutable"
            }
        }
    }

    /// Nil when the next run asks.
    init?(of row: EntryRow, now: Int64) {
        guard let copy = row.copy, row.failure == nil else { return nil }
        let word = row.trust?.word
        let trust: EntryFacts.Trust
        switch row.trust?.maxAge {
        case .seconds(let seconds)?: trust = .seconds(seconds)
        case .server?: trust = .server
        case nil: trust = .seconds(0)
        }
        let facts = CopyFacts(
            checksumFits: word == .checksum ? true : nil, received: copy.received,
            freshUntil: copy.freshUntil,
            isImmutable: copy.isImmutable)
        let entry = EntryFacts(
            hasChecksum: word == .checksum, isImmutable: word == .immutable, trust: trust)
        guard let span = freshSpan(of: facts, entry: entry), span.holds(at: now, received: copy.received)
        else {
            return nil
        }
        until = span.until
        switch span.word {
        case .checksum: self.word = .checksum
        case .immutable: self.word = .immutable
        case .serverImmutable: self.word = .serverImmutable
        case .server: self.word = .server
        case .maxAge: self.word = word == .option ? .option : .manifest
        }
    }
}
