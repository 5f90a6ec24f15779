import Reconcile
import Testing
import Wire

/// One line of the rule of what an answer means.
struct JudgeRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let asked: Ask
    let answer: AnswerFacts
    let entry: EntryFacts
    let partial: PartialFacts?
    let copy: CopyFacts?
    let expected: Verdict

    init(
        _ asked: Ask, _ name: String, _ answer: AnswerFacts, _ entry: EntryFacts,
        partial: PartialFacts? = nil, copy: CopyFacts? = nil, _ expected: Verdict
    ) {
        testDescription = name
        self.asked = asked
        self.answer = answer
        self.entry = entry
        self.partial = partial
        self.copy = copy
        self.expected = expected
    }

    init(
        _ asked: Ask, _ name: String, _ answer: AnswerFacts, partial: PartialFacts? = nil,
        copy: CopyFacts? = nil, _ expected: Verdict
    ) {
        self.init(asked, name, answer, EntryFacts(), partial: partial, copy: copy, expected)
    }

    var verdict: Verdict {
        judge(asked: asked, answer: answer, entry: entry, partial: partial, copy: copy)
    }
}

private let tagged = Marks.etag(Marks.strong)
private let judged = EntryFacts(hasChecksum: true)
private let gz = EntryFacts(fileExtension: "gz")
private let resumed = Ask.rest(from: 40, ifRange: Marks.strong)
private let alone = Ask.rest(from: 40, ifRange: nil)
private let conditional = Ask.revalidate(ifNoneMatch: Marks.strong, ifModifiedSince: nil)
private let proof = Ask.prove(ifNoneMatch: Marks.strong)
private let held = PartialFacts(length: 40, total: 100, validators: tagged)
private let endless = PartialFacts(length: 40, validators: tagged)
private let unmarked = PartialFacts(length: 40, total: 100)
private let whole = PartialFacts(length: 100, total: 100, validators: tagged)
private let kept = CopyFacts(validators: tagged)

private func part(
    _ range: String?, length: UInt64? = 60, _ validators: Validators = tagged, coding: String = ""
) -> AnswerFacts {
    AnswerFacts(status: 206, contentRange: range, length: length, validators: validators, coding: coding)
}

private func all(
    _ validators: Validators = Marks.etag(Marks.otherStrong), length: UInt64? = 100, coding: String = "",
    type: String? = nil, status: Int = 200
) -> AnswerFacts {
    AnswerFacts(status: status, length: length, validators: validators, coding: coding, mediaType: type)
}

private func status(_ code: Int, _ validators: Validators = Validators(), range: String? = nil) -> AnswerFacts
{
    AnswerFacts(status: code, contentRange: range, validators: validators)
}

/// A part after `Range: bytes=40-` with If-Range; the partial holds 40 of 100 bytes with our strong ETag.
private func rest(
    _ name: String, _ answer: AnswerFacts, partial: PartialFacts = held, _ expected: Verdict
) -> JudgeRow {
    JudgeRow(resumed, name, answer, partial: partial, expected)
}

private let goesOn = Verdict.append(upTo: 100, total: 100)

@Suite("Judge")
struct JudgeTests {
    static let parts: [JudgeRow] = [
        rest("206 `bytes 40-99/100` with our ETag", part("bytes 40-99/100"), goesOn),
        rest("206 `bytes 40-99/100` without a version mark", part("bytes 40-99/100", Validators()), goesOn),
        rest("206 `bytes 40-99/100` without Content-Length", part("bytes 40-99/100", length: nil), goesOn),
        rest("206 `bytes 40-99/*`", part("bytes 40-99/*"), goesOn),
        rest(
            "206 `bytes 40-59/100`, less than was asked for", part("bytes 40-59/100", length: 20),
            .append(upTo: 60, total: 100)),
        rest(
            "206 `bytes 40-99/100`; the size was unknown", part("bytes 40-99/100"), partial: endless, goesOn),
        rest(
            "206 `bytes 40-99/*`; the size is unknown", part("bytes 40-99/*"), partial: endless,
            .append(upTo: 100, total: nil)),
        rest("206 without Content-Range", part(nil), .askWhole(.rangeWrong)),
        rest("206 `lines 40-99/100`, another unit", part("lines 40-99/100"), .askWhole(.rangeWrong)),
        rest("206 `bytes */100`", part("bytes */100"), .askWhole(.rangeWrong)),
        rest(
            "206 `bytes 0-99/100`, an earlier start", part("bytes 0-99/100", length: 100),
            .askWhole(.rangeWrong)),
        rest(
            "206 `bytes 41-99/100`, a later start", part("bytes 41-99/100", length: 59),
            .askWhole(.rangeWrong)),
        rest(
            "206 `bytes 40-39/100`, an end before the start", part("bytes 40-39/100"), .askWhole(.rangeWrong)),
        rest(
            "206 `bytes 40-100/100`, an end beyond the size", part("bytes 40-100/100"), .askWhole(.rangeWrong)
        ),
        rest(
            "206 `bytes 40-18446744073709551615/*`, beyond all bounds",
            part("bytes 40-18446744073709551615/*"),
            .askWhole(.rangeWrong)),
        rest(
            "206 `bytes 40-9223372036854775806/*`, the largest end that there is",
            part("bytes 40-9223372036854775806/*", length: nil), .askWhole(.sizeDiffers)),
        rest(
            "206 `bytes 40-9223372036854775806/*`; the size is unknown",
            part("bytes 40-9223372036854775806/*", length: nil), partial: endless,
            .append(upTo: 9_223_372_036_854_775_807, total: nil)),
        rest("206 `bytes 40-99/101`, another size", part("bytes 40-99/101"), .askWhole(.sizeDiffers)),
        rest(
            "206 `bytes 40-100/*`, more than the known size", part("bytes 40-100/*", length: 61),
            .askWhole(.sizeDiffers)),
        rest(
            "206 `bytes 40-99/100` with another Content-Length", part("bytes 40-99/100", length: 59),
            .askWhole(.lengthDiffers)),
        rest(
            "206 `bytes 40-99/100` with a Content-Encoding", part("bytes 40-99/100", coding: "gzip"),
            .askWhole(.codingDiffers)),
        rest(
            "206 `bytes 40-99/100` without the Content-Encoding that it began with", part("bytes 40-99/100"),
            partial: PartialFacts(length: 40, total: 100, validators: tagged, coding: "gzip"),
            .askWhole(.codingDiffers)),
        rest(
            "206 `bytes 40-99/100` with the Content-Encoding that it began with",
            part("bytes 40-99/100", coding: "gzip"),
            partial: PartialFacts(length: 40, total: 100, validators: tagged, coding: "gzip"), goesOn),
        rest(
            "206 `bytes 40-99/100` with another ETag", part("bytes 40-99/100", Marks.etag(Marks.otherStrong)),
            .askWhole(.versionDiffers)),
        rest(
            "206 `bytes 40-99/100` with our ETag made weak", part("bytes 40-99/100", Marks.etag(Marks.weak)),
            .askWhole(.versionDiffers)),
        rest(
            "206 `bytes 40-99/100` with a malformed ETag",
            part("bytes 40-99/100", Marks.etag(Marks.malformed)),
            .askWhole(.versionDiffers)),
        rest(
            "206 `bytes 40-99/100` with our ETag and another date",
            part("bytes 40-99/100", Validators(etag: EntityTag(Marks.strong), lastModified: Marks.otherDate)),
            partial: PartialFacts(length: 40, total: 100, validators: Marks.both(Marks.strong)),
            .askWhole(.versionDiffers)),
        rest(
            "206 `bytes 40-99/100` with our ETag and a date that we had not",
            part("bytes 40-99/100", Marks.both(Marks.strong)), goesOn),
        JudgeRow(
            .rest(from: 40, ifRange: Marks.date), "206 `bytes 40-99/100` with our date",
            part("bytes 40-99/100", Marks.modified()),
            partial: PartialFacts(length: 40, total: 100, validators: Marks.modified()), goesOn),
        JudgeRow(
            .rest(from: 40, ifRange: Marks.date), "206 `bytes 40-99/100` with another date",
            part("bytes 40-99/100", Marks.modified(Marks.otherDate)),
            partial: PartialFacts(length: 40, total: 100, validators: Marks.modified()),
            .askWhole(.versionDiffers)),
        JudgeRow(
            .rest(from: 40, ifRange: Marks.date), "206 `bytes 40-99/100` with an ETag that we had not",
            part("bytes 40-99/100", tagged),
            partial: PartialFacts(length: 40, total: 100, validators: Marks.modified()),
            .askWhole(.versionDiffers)),
        JudgeRow(
            alone, "206 `bytes 40-99/100` with our strong ETag", part("bytes 40-99/100"), partial: held,
            goesOn),
        JudgeRow(
            alone, "206 `bytes 40-99/100` without ours", part("bytes 40-99/100", Validators()), partial: held,
            .askWhole(.versionUnproven)),
        JudgeRow(
            alone, "206 `bytes 40-99/100` without our strong ETag, though a checksum will judge",
            part("bytes 40-99/100", Validators()), judged, partial: held, .askWhole(.versionUnproven)),
        JudgeRow(
            alone, "206 `bytes 40-99/100`; no version mark, a checksum will judge",
            part("bytes 40-99/100", Validators()), judged, partial: unmarked, goesOn),
        JudgeRow(
            alone, "206 `bytes 40-99/100`; no version mark and no checksum",
            part("bytes 40-99/100", Validators()), partial: unmarked, .askWhole(.versionUnproven)),
        JudgeRow(
            alone, "206 `bytes 40-99/100` with an ETag that we had not, a checksum will judge",
            part("bytes 40-99/100"), judged, partial: unmarked, .askWhole(.versionDiffers)),
        JudgeRow(
            .whole, "206 `bytes 0-99/100`, the whole", part("bytes 0-99/100", length: 100),
            .replace(total: 100)),
        JudgeRow(
            .whole, "206 `bytes 0-98/100`", part("bytes 0-98/100", length: 99),
            .refuse(.useless(.partUnasked))),
        JudgeRow(
            .whole, "206 `bytes 1-99/100`", part("bytes 1-99/100", length: 99),
            .refuse(.useless(.partUnasked))),
        JudgeRow(
            .whole, "206 `bytes 0-99/*`", part("bytes 0-99/*", length: 100), .refuse(.useless(.partUnasked))),
        JudgeRow(
            .whole, "206 `bytes 0-99/100` with another Content-Length", part("bytes 0-99/100", length: 10),
            .refuse(.useless(.partUnasked))),
        JudgeRow(.whole, "206 without Content-Range", part(nil), .refuse(.useless(.partUnasked))),
        JudgeRow(
            conditional, "206 `bytes 0-99/100`, the whole", part("bytes 0-99/100", length: 100), copy: kept,
            .replace(total: 100)),
        JudgeRow(
            conditional, "206 `bytes 0-98/100`", part("bytes 0-98/100", length: 99), copy: kept,
            .askWhole(.partUnasked)),
        JudgeRow(
            proof, "206 `bytes 99-99/100`", part("bytes 99-99/100", length: 1), partial: whole,
            .askWhole(.partUnasked)),
    ]

    static let wholes: [JudgeRow] = [
        JudgeRow(.whole, "200", all(), .replace(total: 100)),
        JudgeRow(.whole, "200 without Content-Length", all(length: nil), .replace(total: nil)),
        JudgeRow(.whole, "203", all(status: 203), .replace(total: 100)),
        JudgeRow(conditional, "200", all(), copy: kept, .replace(total: 100)),
        JudgeRow(conditional, "200 with the ETag of the copy", all(tagged), copy: kept, .replace(total: 100)),
        JudgeRow(proof, "200", all(), partial: whole, .replace(total: 100)),
        rest("200 with another ETag", all(), .replace(total: 100)),
        rest("200 without an ETag", all(Validators()), .replace(total: 100)),
        rest("200 with our ETag: it may not know If-Range", all(tagged), .askRestAlone),
        rest("203 with our ETag", all(tagged, status: 203), .askRestAlone),
        JudgeRow(alone, "200 with our ETag", all(tagged), partial: held, .replace(total: 100)),
        JudgeRow(
            .whole, "200 with a Content-Range",
            AnswerFacts(status: 200, contentRange: "bytes 0-99/100", length: 100),
            .refuse(.useless(.selfContradicting))),
        rest(
            "200 with a Content-Range",
            AnswerFacts(status: 200, contentRange: "bytes 40-99/100", length: 60, validators: tagged),
            .askWhole(.selfContradicting)),
        JudgeRow(
            conditional, "200 with a Content-Range that is garbage",
            AnswerFacts(status: 200, contentRange: "x", length: 100), copy: kept,
            .askWhole(.selfContradicting)),
    ]

    static let pages: [JudgeRow] = [
        JudgeRow(.whole, "200, html at `.bin`", all(type: "text/html"), .refuse(.portal)),
        JudgeRow(.whole, "200, xhtml at `.bin`", all(type: "application/xhtml+xml"), .refuse(.portal)),
        JudgeRow(
            .whole, "206 of the whole, html at `.bin`",
            AnswerFacts(status: 206, contentRange: "bytes 0-9/10", length: 10, mediaType: "text/html"),
            .refuse(.portal)),
        JudgeRow(
            .whole, "200, html at `.bin`, `--accept-html`", all(type: "text/html"),
            EntryFacts(acceptsHTML: true), .replace(total: 100)),
        JudgeRow(
            .whole, "200, html at `.bin`, a checksum will judge", all(type: "text/html"), judged,
            .replace(total: 100)),
        JudgeRow(
            conditional, "200, html at `.bin`, the copy is html too", all(type: "text/html"),
            copy: CopyFacts(validators: tagged, isHTML: true), .replace(total: 100)),
        JudgeRow(
            conditional, "200, html at `.bin`, the copy is not html", all(type: "text/html"), copy: kept,
            .refuse(.portal)),
        JudgeRow(
            .whole, "200, html at `.html`", all(type: "text/html"), EntryFacts(fileExtension: "html"),
            .replace(total: 100)),
        JudgeRow(
            .whole, "200, html at `.php`", all(type: "text/html"), EntryFacts(fileExtension: "php"),
            .replace(total: 100)),
        JudgeRow(
            .whole, "200, html at a name without extension", all(type: "text/html"),
            EntryFacts(fileExtension: ""), .replace(total: 100)),
        JudgeRow(
            resumed, "200, html at `.bin`, a checksum will judge", all(type: "text/html"), judged,
            partial: held,
            .refuse(.portal)),
        JudgeRow(
            resumed, "200, html at a name without extension", all(type: "text/html"),
            EntryFacts(fileExtension: ""), partial: held, .refuse(.portal)),
        JudgeRow(
            resumed, "200, html at `.php`", all(type: "text/html"), EntryFacts(fileExtension: "php"),
            partial: held, .refuse(.portal)),
        JudgeRow(
            resumed, "200, html at `.php`, the partial is html too", all(type: "text/html"),
            EntryFacts(fileExtension: "php"),
            partial: PartialFacts(length: 40, total: 100, validators: tagged, isHTML: true),
            .replace(total: 100)),
        JudgeRow(
            resumed, "200, html at `.html`", all(type: "text/html"), EntryFacts(fileExtension: "html"),
            partial: held, .replace(total: 100)),
        JudgeRow(
            resumed, "200, html at `.bin`, `--accept-html`", all(type: "text/html"),
            EntryFacts(acceptsHTML: true), partial: held, .replace(total: 100)),
    ]

    static let codings: [JudgeRow] = [
        JudgeRow(.whole, "200 in gzip at `.bin`", all(coding: "gzip"), .refuse(.coded("gzip"))),
        JudgeRow(.whole, "200 in gzip at `.gz`", all(coding: "gzip"), gz, .replace(total: 100)),
        JudgeRow(.whole, "200 in x-gzip at `.gz`", all(coding: "x-gzip"), gz, .replace(total: 100)),
        JudgeRow(
            .whole, "200 in gzip at `.tgz`", all(coding: "gzip"), EntryFacts(fileExtension: "tgz"),
            .replace(total: 100)),
        JudgeRow(
            .whole, "200 in gzip at `.svgz`", all(coding: "gzip"), EntryFacts(fileExtension: "svgz"),
            .replace(total: 100)),
        JudgeRow(
            .whole, "200 in gzip at `.bin`, a checksum will judge", all(coding: "gzip"), judged,
            .replace(total: 100)),
        JudgeRow(.whole, "200 in br at `.gz`", all(coding: "br"), gz, .refuse(.coded("br"))),
        JudgeRow(
            .whole, "200 in br at `.bin`, a checksum would judge", all(coding: "br"), judged,
            .refuse(.coded("br"))),
        JudgeRow(
            .whole, "200 in gzip twice at `.gz`", all(coding: "gzip, gzip"), gz, .refuse(.coded("gzip, gzip"))
        ),
        JudgeRow(
            .whole, "200 in br at `.bin`, `--accept-coded`", all(coding: "br"),
            EntryFacts(acceptsCoded: true),
            .replace(total: 100)),
    ]

    static let others: [JudgeRow] = [
        JudgeRow(conditional, "304 without an ETag", status(304), copy: kept, .current),
        JudgeRow(conditional, "304 with our ETag", status(304, tagged), copy: kept, .current),
        JudgeRow(
            conditional, "304 with our ETag made weak", status(304, Marks.etag(Marks.weak)), copy: kept,
            .current),
        JudgeRow(
            .revalidate(ifNoneMatch: Marks.weak, ifModifiedSince: nil), "304 with our ETag made strong",
            status(304, tagged), copy: CopyFacts(validators: Marks.etag(Marks.weak)), .current),
        JudgeRow(
            .revalidate(ifNoneMatch: Marks.malformed, ifModifiedSince: nil), "304 with our malformed ETag",
            status(304, Marks.etag(Marks.malformed)),
            copy: CopyFacts(validators: Marks.etag(Marks.malformed)),
            .current),
        JudgeRow(
            conditional, "304 with another ETag", status(304, Marks.etag(Marks.otherStrong)), copy: kept,
            .askWhole(.notModifiedWrong)),
        JudgeRow(
            .revalidate(ifNoneMatch: nil, ifModifiedSince: Marks.date), "304 without an ETag", status(304),
            copy: CopyFacts(validators: Marks.modified()), .current),
        JudgeRow(
            .revalidate(ifNoneMatch: nil, ifModifiedSince: Marks.date), "304 with an ETag that we had not",
            status(304, tagged), copy: CopyFacts(validators: Marks.modified()), .askWhole(.notModifiedWrong)),
        JudgeRow(proof, "304 without an ETag", status(304), partial: whole, .proven),
        JudgeRow(proof, "304 with our ETag", status(304, tagged), partial: whole, .proven),
        JudgeRow(
            proof, "304 with another ETag", status(304, Marks.etag(Marks.otherStrong)), partial: whole,
            .askWhole(.notModifiedWrong)),
        JudgeRow(.whole, "304", status(304, tagged), copy: kept, .refuse(.unaskedNotModified)),
        rest("304", status(304, tagged), .refuse(.unaskedNotModified)),
        rest("416", status(416, range: "bytes */40"), .askWhole(.rangeRefused)),
        rest(
            "416 `bytes */40`; the size was unknown", status(416, range: "bytes */40"), partial: endless,
            .prove(total: 40)),
        rest(
            "416 `bytes */40` with another ETag; the size was unknown",
            status(416, Marks.etag(Marks.otherStrong), range: "bytes */40"), partial: endless,
            .askWhole(.rangeRefused)),
        rest(
            "416 `bytes */39`; the size was unknown", status(416, range: "bytes */39"), partial: endless,
            .askWhole(.rangeRefused)),
        rest(
            "416 without Content-Range; the size was unknown", status(416), partial: endless,
            .askWhole(.rangeRefused)),
        JudgeRow(
            .rest(from: 40, ifRange: Marks.date), "416 `bytes */40`; the size was unknown",
            status(416, range: "bytes */40"), partial: PartialFacts(length: 40, validators: Marks.modified()),
            .askWhole(.rangeRefused)),
        JudgeRow(
            alone, "416 without Content-Range; the size was unknown, and a checksum can tell", status(416),
            judged,
            partial: PartialFacts(length: 40), .prove(total: 40)),
        JudgeRow(
            alone, "416 `bytes */40`; the size was unknown, and a checksum can tell",
            status(416, range: "bytes */40"), judged, partial: PartialFacts(length: 40), .prove(total: 40)),
        JudgeRow(
            alone, "416 `bytes */39`; the size was unknown, and a checksum would judge",
            status(416, range: "bytes */39"), judged, partial: PartialFacts(length: 40),
            .askWhole(.rangeRefused)),
        JudgeRow(.whole, "416", status(416), .refuse(.status(416))),
        JudgeRow(conditional, "416", status(416), copy: kept, .askWhole(.rangeRefused)),
        JudgeRow(proof, "416", status(416), partial: whole, .askWhole(.rangeRefused)),
    ]

    static let redirects = [301, 302, 303, 307, 308].map {
        JudgeRow(.whole, "\($0)", status($0), .redirect)
    }
    static let refusals = [
        202, 204, 205, 226, 300, 305, 306, 401, 403, 404, 407, 410, 418, 429, 500, 503, 511,
    ].map {
        JudgeRow(.whole, "\($0)", status($0), .refuse(.status($0)))
    }

    static let rows = parts + wholes + pages + codings + others + redirects + refusals

    static var table: RuleTable {
        RuleTable(
            title: "Judge",
            about: """
                What the head of an answer means. Where a part was asked for, 40 bytes are held, of 100 unless the row \
                says that the size is unknown; \(Marks.strong) is our ETag. A body that is taken whole goes into a new \
                partial, and the old one stays until that is complete or longer.
                """,
            columns: ["asked", "answer", "meaning"],
            rows: rows.map { [AskTests.words($0.asked), $0.testDescription, words($0.verdict)] })
    }

    static func words(_ verdict: Verdict) -> String {
        func bytes(_ total: UInt64?) -> String { total.map { "\($0) bytes" } ?? "unknown size" }
        return switch verdict {
        case .append(let end, let total):
            "goes on, up to \(end), of \(total.map { "\($0)" } ?? "unknown size")"
        case .replace(let total): "the whole, \(bytes(total))"
        case .current: "the copy is current"
        case .proven: "the bytes are the whole: publish"
        case .prove: "the bytes may be the whole: prove them"
        case .askRestAlone: "once more with Range alone"
        case .askWhole(let objection): "one plain GET: \(objection.rawValue)"
        case .redirect: "follow the Location"
        case .refuse(.status): "no file: see Answers"
        case .refuse(.coded(let coding)): "no file: coded (\(coding))"
        case .refuse(.portal): "no file: a captive portal?"
        case .refuse(.unaskedNotModified): "no file: malformed, nobody asked"
        case .refuse(.useless(let objection)): "no file: malformed, \(objection.rawValue)"
        }
    }

    @Test("answer", arguments: rows)
    func judges(_ row: JudgeRow) { #expect(row.verdict == row.expected) }

    @Test("each kind of verdict and objection has a row")
    func isComplete() {
        var objections: Set<Objection> = []
        for row in Self.rows {
            switch row.expected {
            case .askWhole(let objection), .refuse(.useless(let objection)): objections.insert(objection)
            case .append, .replace, .current, .proven, .prove, .askRestAlone, .redirect, .refuse: continue
            }
        }
        #expect(objections == Set(Objection.allCases))
    }
}
