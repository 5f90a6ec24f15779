import Reconcile
import Testing
import Wire

/// One line of the rule of what to request.
struct AskRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let entry: EntryFacts
    let copy: CopyFacts?
    let partial: PartialFacts?
    let ignoresIfRange: Bool
    let expected: Ask

    init(
        _ name: String, _ entry: EntryFacts, copy: CopyFacts? = nil,
        partial: PartialFacts? = nil,
        ignoresIfRange: Bool = false, _ expected: Ask
    ) {
        testDescription = name
        self.entry = entry
        self.copy = copy
        self.partial = partial
        self.ignoresIfRange = ignoresIfRange
        self.expected = expected
    }

    init(
        _ name: String, copy: CopyFacts? = nil, partial: PartialFacts? = nil, ignoresIfRange: Bool = false,
        _ expected: Ask
    ) {
        self.init(
            name, EntryFacts(), copy: copy, partial: partial, ignoresIfRange: ignoresIfRange, expected)
    }

    var answer: Ask {
        ask(
            entry: entry, copy: copy, partial: partial, ignoresIfRange: ignoresIfRange, now: Marks.now)
    }
}

/// A copy that is 100 seconds old.
private func copy(
    _ validators: Validators = Marks.etag(Marks.strong), fits: Bool? = nil, freshFor: Int64? = nil,
    isImmutable: Bool = false, age: Int64 = 100
) -> CopyFacts {
    CopyFacts(
        validators: validators, checksumFits: fits, received: Marks.now - age,
        freshUntil: freshFor.map { Marks.now + $0 }, isImmutable: isImmutable)
}

private func partial(_ validators: Validators, total: UInt64? = 100) -> PartialFacts {
    PartialFacts(length: 40, total: total, validators: validators)
}

private let judged = EntryFacts(hasChecksum: true)
private let byServer = EntryFacts(trust: .server)
private let asked = Ask.revalidate(ifNoneMatch: Marks.strong, ifModifiedSince: nil)

@Suite("Ask")
struct AskTests {
    static let copies: [AskRow] = [
        AskRow("nothing is here", .whole),
        AskRow(
            "complete; the manifest's checksum does not fit", judged, copy: copy(fits: false), .whole),
        AskRow(
            "complete; the checksum does not fit; `immutable` in the manifest",
            EntryFacts(hasChecksum: true, isImmutable: true), copy: copy(fits: false), .whole),
        AskRow(
            "complete; the checksum does not fit; the server calls it fresh and immutable",
            EntryFacts(hasChecksum: true, trust: .server),
            copy: copy(fits: false, freshFor: 50, isImmutable: true), .whole),
        AskRow(
            "complete; the checksum does not fit; within max-age",
            EntryFacts(hasChecksum: true, trust: .seconds(1000)), copy: copy(fits: false), .whole),
        AskRow(
            "complete; the manifest's checksum fits", judged, copy: copy(fits: true), .nothing(.immutable)),
        AskRow(
            "complete; `immutable` in the manifest", EntryFacts(isImmutable: true), copy: copy(),
            .nothing(.immutable)),
        AskRow(
            "complete; `immutable` in the manifest; received in the future", EntryFacts(isImmutable: true),
            copy: copy(age: -10), .nothing(.immutable)),
        AskRow(
            "complete; `Cache-Control: immutable` and fresh by the server",
            copy: copy(freshFor: 1, isImmutable: true),
            .nothing(.immutable)),
        AskRow(
            "complete; `Cache-Control: immutable`, no longer fresh",
            copy: copy(freshFor: 0, isImmutable: true),
            asked),
        AskRow(
            "complete; `Cache-Control: immutable` without a lifetime", copy: copy(isImmutable: true), asked),
        AskRow(
            "complete; `Cache-Control: immutable`; received in the future",
            copy: copy(freshFor: 50, isImmutable: true, age: -1), asked),
        AskRow("complete; no max-age: ask every time", copy: copy(age: 0), asked),
        AskRow(
            "complete; max-age 101, 100 seconds old", EntryFacts(trust: .seconds(101)), copy: copy(),
            .nothing(.fresh)),
        AskRow(
            "complete; max-age 100, 100 seconds old", EntryFacts(trust: .seconds(100)), copy: copy(), asked),
        AskRow(
            "complete; max-age 1000; received in the future", EntryFacts(trust: .seconds(1000)),
            copy: copy(age: -1), asked),
        AskRow(
            "complete; max-age as large as can be, received at the beginning of time",
            EntryFacts(trust: .seconds(.max)),
            copy: CopyFacts(validators: Marks.etag(Marks.strong), received: .min), asked),
        AskRow(
            "complete; max-age `server`, and the server says fresh", byServer, copy: copy(freshFor: 1),
            .nothing(.fresh)),
        AskRow("complete; max-age `server`, and it has passed", byServer, copy: copy(freshFor: 0), asked),
        AskRow("complete; max-age `server`, and the server is silent", byServer, copy: copy(), asked),
        AskRow(
            "complete; fresh by the server, whose word was not asked for", copy: copy(freshFor: 50), asked),
        AskRow(
            "complete; `--refresh`, whatever says that it is fresh",
            EntryFacts(hasChecksum: true, isImmutable: true, trust: .never),
            copy: copy(fits: true, freshFor: 50, isImmutable: true), asked),
        AskRow(
            "complete; a weak ETag", copy: copy(Marks.etag(Marks.weak)),
            .revalidate(ifNoneMatch: Marks.weak, ifModifiedSince: nil)),
        AskRow(
            "complete; a malformed ETag", copy: copy(Marks.etag(Marks.malformed)),
            .revalidate(ifNoneMatch: Marks.malformed, ifModifiedSince: nil)),
        AskRow(
            "complete; ETag and date", copy: copy(Marks.both(Marks.strong)),
            .revalidate(ifNoneMatch: Marks.strong, ifModifiedSince: Marks.date)),
        AskRow(
            "complete; a date only", copy: copy(Marks.modified()),
            .revalidate(ifNoneMatch: nil, ifModifiedSince: Marks.date)),
        AskRow(
            "complete; a date of the same second as its answer", copy: copy(Marks.modified(dateAfter: 0)),
            .revalidate(ifNoneMatch: nil, ifModifiedSince: Marks.date)),
        AskRow("complete; no version mark", copy: copy(Validators()), .whole),
    ]

    static let partials: [AskRow] = [
        AskRow(
            "40 of 100 bytes; a strong ETag", partial: partial(Marks.etag(Marks.strong)),
            .rest(from: 40, ifRange: Marks.strong)),
        AskRow(
            "40 bytes of an unknown size; a strong ETag",
            partial: partial(Marks.etag(Marks.strong), total: nil),
            .rest(from: 40, ifRange: Marks.strong)),
        AskRow(
            "40 of 100 bytes; a strong ETag and a date", partial: partial(Marks.both(Marks.strong)),
            .rest(from: 40, ifRange: Marks.strong)),
        AskRow(
            "40 of 100 bytes; a date a second before its answer's Date", partial: partial(Marks.modified()),
            .rest(from: 40, ifRange: Marks.date)),
        AskRow(
            "40 of 100 bytes; a date of the same second as its answer",
            partial: partial(Marks.modified(dateAfter: 0)), .whole),
        AskRow(
            "40 of 100 bytes; a date, and the answer had no Date",
            partial: partial(Marks.modified(dateAfter: nil)), .whole),
        AskRow("40 of 100 bytes; a date that is none", partial: partial(Marks.modified("yesterday")), .whole),
        AskRow("40 of 100 bytes; a weak ETag", partial: partial(Marks.etag(Marks.weak)), .whole),
        AskRow(
            "40 of 100 bytes; a weak ETag bars the date too", partial: partial(Marks.both(Marks.weak)), .whole
        ),
        AskRow("40 of 100 bytes; a malformed ETag", partial: partial(Marks.etag(Marks.malformed)), .whole),
        AskRow(
            "40 of 100 bytes; a malformed ETag bars the date too",
            partial: partial(Marks.both(Marks.malformed)),
            .whole),
        AskRow("40 of 100 bytes; no version mark", partial: partial(Validators()), .whole),
        AskRow(
            "40 of 100 bytes; no version mark, but a checksum will judge", judged,
            partial: partial(Validators()),
            .rest(from: 40, ifRange: nil)),
        AskRow(
            "40 of 100 bytes; a weak ETag, but a checksum will judge", judged,
            partial: partial(Marks.etag(Marks.weak)), .rest(from: 40, ifRange: nil)),
        AskRow(
            "40 of 100 bytes; a strong ETag, and a checksum will judge", judged,
            partial: partial(Marks.etag(Marks.strong)), .rest(from: 40, ifRange: Marks.strong)),
        AskRow(
            "40 of 100 bytes; a strong ETag; this origin knows no If-Range",
            partial: partial(Marks.etag(Marks.strong)), ignoresIfRange: true, .rest(from: 40, ifRange: nil)),
        AskRow(
            "40 of 100 bytes; a date; this origin knows no If-Range", partial: partial(Marks.modified()),
            ignoresIfRange: true, .rest(from: 40, ifRange: Marks.date)),
        AskRow(
            "all 40 bytes; a checksum", judged, partial: partial(Marks.etag(Marks.strong), total: 40), .check),
        AskRow(
            "all 40 bytes; a checksum, no version mark", judged, partial: partial(Validators(), total: 40),
            .check),
        AskRow(
            "all 40 bytes; a strong ETag", partial: partial(Marks.both(Marks.strong), total: 40),
            .prove(ifNoneMatch: Marks.strong)),
        AskRow(
            "all 40 bytes by the manifest's size; a strong ETag", EntryFacts(size: 40),
            partial: partial(Marks.etag(Marks.strong), total: nil), .prove(ifNoneMatch: Marks.strong)),
        AskRow(
            "all 40 bytes by the manifest's size; a checksum", EntryFacts(hasChecksum: true, size: 40),
            partial: partial(Validators(), total: nil), .check),
        AskRow(
            "40 bytes, the manifest's size, of 100 by the answer; a strong ETag", EntryFacts(size: 40),
            partial: partial(Marks.etag(Marks.strong)), .rest(from: 40, ifRange: Marks.strong)),
        AskRow("all 40 bytes; a date", partial: partial(Marks.modified(), total: 40), .whole),
        AskRow("all 40 bytes; a weak ETag", partial: partial(Marks.etag(Marks.weak), total: 40), .whole),
        AskRow("all 40 bytes; no version mark", partial: partial(Validators(), total: 40), .whole),
    ]

    static let together: [AskRow] = [
        AskRow(
            "a stale copy, and 40 of 100 bytes of a newer one with a strong ETag", copy: copy(),
            partial: partial(Marks.etag(Marks.otherStrong)), .rest(from: 40, ifRange: Marks.otherStrong)),
        AskRow(
            "a stale copy, and 40 of 100 bytes without a version mark", copy: copy(),
            partial: partial(Validators()), asked),
        AskRow(
            "a stale copy, and all 40 bytes with a weak ETag", copy: copy(),
            partial: partial(Marks.etag(Marks.weak), total: 40), asked),
        AskRow(
            "a fresh copy, and 40 of 100 bytes", EntryFacts(trust: .seconds(1000)), copy: copy(),
            partial: partial(Marks.etag(Marks.otherStrong)), .nothing(.fresh)),
        AskRow(
            "a copy that the checksum does not fit, and 40 of 100 bytes with a strong ETag", judged,
            copy: copy(fits: false), partial: partial(Marks.etag(Marks.otherStrong)),
            .rest(from: 40, ifRange: Marks.otherStrong)),
        AskRow(
            "a copy that the checksum does not fit, and all 40 bytes", judged, copy: copy(fits: false),
            partial: partial(Validators(), total: 40), .check),
    ]

    static let rows = copies + partials + together

    static var table: RuleTable {
        RuleTable(
            title: "Ask", about: "What is requested, by what is here. `Accept-Encoding: identity` always.",
            columns: ["what is here", "request"], rows: rows.map { [$0.testDescription, words($0.answer)] })
    }

    static func words(_ ask: Ask) -> String {
        func conditions(_ tag: String?, _ date: String?) -> String {
            [tag.map { "If-None-Match: \($0)" }, date.map { "If-Modified-Since: \($0)" }]
                .compactMap { $0 }.map { "`\($0)`" }.joined(separator: ", ")
        }
        return switch ask {
        case .nothing(.immutable): "none: immutable"
        case .nothing(.fresh): "none: fresh"
        case .whole: "GET"
        case .revalidate(let tag, let date): "GET with \(conditions(tag, date))"
        case .rest(let from, nil): "GET with `Range: bytes=\(from)-` alone"
        case .rest(let from, let mark?): "GET with `Range: bytes=\(from)-`, `If-Range: \(mark)`"
        case .prove(let tag): "GET with `If-None-Match: \(tag)`; a 304 proves the bytes"
        case .check: "none: the checksum decides"
        }
    }

    @Test("here is", arguments: rows)
    func asks(_ row: AskRow) { #expect(row.answer == row.expected) }

    @Test("a server that knows no If-Range changes nothing but If-Range", arguments: rows)
    func ignoringIfRange(_ row: AskRow) {
        let other = ask(
            entry: row.entry, copy: row.copy, partial: row.partial, ignoresIfRange: true, now: Marks.now)
        if case .rest(let from, _) = row.answer, case .rest(let otherFrom, let mark) = other {
            #expect(from == otherFrom)
            #expect(mark == nil || mark == Marks.date)
        } else {
            #expect(other == row.answer)
        }
    }

    @Test("a copy that the checksum does not fit is never believed", arguments: rows)
    func neverBelieved(_ row: AskRow) {
        guard var copy = row.copy else { return }
        copy.checksumFits = false
        #expect(belief(in: copy, entry: row.entry, now: Marks.now) == nil)
    }
}
