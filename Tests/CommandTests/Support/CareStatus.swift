internal import FoundationEssentials
internal import Storage
internal import Testing

/// What `status --json` says, as far as the tests of its care for a cache ask.
struct CareStatus: Decodable {
    struct Fresh: Decodable, Equatable {
        let until: String?
        let by: String
    }

    struct Entry: Decodable {
        let url, state: String
        let gone, paused: Bool
        let received, checked: String?
        let fresh: Fresh?
    }

    struct Failure: Decodable {
        let url, reason: String
        let gone, copy: Bool
    }

    struct Pause: Decodable {
        let subject: String
        let pattern, paused: Bool
    }

    struct Run: Decodable {
        let exit_code: Int?
        let paused: Int
    }

    let running: Bool
    let entries: Int
    let states: [String: Int]
    let failures: [Failure]
    let pauses: [Pause]
    let urls: [Entry]?
    let last_run: Run?

    /// Asks the test's cache, about these URLs alone when there are some.
    static func ask(_ urls: [String] = []) throws -> CareStatus {
        let outcome = try Program.run(["status", "--json", "--cache", Program.cache] + urls)
        try #require(outcome.code == 0, "\(outcome)")
        return try JSONDecoder().decode(CareStatus.self, from: Data(outcome.output.utf8))
    }
}

extension Program {
    /// Every copy that the ledger claims is there, with its size, and every file has the ledger's word unless it was
    /// left by a kill.
    static func expectHonestLedger(
        _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var missing: [String] = []
        if var reader = try LedgerReader.open(cache: cache) {
            try reader.forEachEntry { row throws(LedgerError) in
                guard let copy = row.copy else { return }
                if size(of: "\(cache)/\(row.fileName)") != Int(copy.size) { missing.append(row.fileName) }
            }
        }
        #expect(missing.isEmpty, comment, sourceLocation: sourceLocation)
    }
}
