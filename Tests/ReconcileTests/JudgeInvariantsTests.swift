import Reconcile
import Testing
import Wire

/// One Content-Range and what is true of it, known because it was written here and not read from it.
private struct Span: Sendable {
    let text: String?
    /// The bytes of a part that is what was asked for from 40 on.
    var continues: ClosedRange<UInt64>?
    /// The size that a part tells.
    var total: UInt64?
    var isWhole = false
    var isWellFormed = true

    static let all: [Span] = [
        Span(text: nil, isWellFormed: false),
        Span(text: "bytes 40-99/100", continues: 40...99),
        Span(text: "bytes 40-99/*", continues: 40...99),
        Span(text: "bytes 40-59/100", continues: 40...59),
        Span(text: "bytes 0-99/100", isWhole: true),
        Span(text: "bytes 39-99/100"),
        Span(text: "bytes 41-99/100"),
        Span(text: "bytes 40-99/200", continues: 40...99, total: 200),
        Span(text: "bytes 40-199/200", continues: 40...199, total: 200),
        Span(text: "bytes */100"),
        Span(text: "bytes */40"),
        Span(text: "bytes */*", isWellFormed: false),
        Span(text: "bytes 40-39/100", isWellFormed: false),
        Span(text: "bytes 40-100/100", isWellFormed: false),
        Span(text: "items 40-99/100", isWellFormed: false),
        Span(text: "garbage", isWellFormed: false),
        Span(text: "", isWellFormed: false),
        Span(text: "bytes 40-18446744073709551616/*", isWellFormed: false),
        Span(text: "bytes 40-99/18446744073709551616", isWellFormed: false),
        Span(text: "bytes 18446744073709551656-18446744073709551715/100", isWellFormed: false),
        Span(text: "bytes 40-18446744073709551615/18446744073709551615", isWellFormed: false),
    ]
}

/// The marks of an answer, and how they stand to those that we hold.
private struct Mark: Sendable {
    let validators: Validators
    /// The ETag is ours, to the letter or but for `W/`.
    var isOurETag = false
    var isOurETagWeakly = false
    /// The date is not ours.
    var isOtherDate = false

    static let all: [Mark] = [
        Mark(validators: Validators()),
        Mark(validators: Marks.etag(Marks.strong), isOurETag: true, isOurETagWeakly: true),
        Mark(validators: Marks.etag(Marks.otherStrong)),
        Mark(validators: Marks.etag(Marks.weak), isOurETagWeakly: true),
        Mark(validators: Marks.etag(Marks.malformed)),
        Mark(validators: Marks.modified()),
        Mark(validators: Marks.modified(Marks.otherDate), isOtherDate: true),
        Mark(
            validators: Validators(etag: EntityTag(Marks.strong), lastModified: Marks.otherDate),
            isOurETag: true,
            isOurETagWeakly: true, isOtherDate: true),
    ]
}

/// What is held, and the requests that it leads to or that are made in spite of it.
private struct Holding: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let partial: PartialFacts?
    let asks: [Ask]
    var hasETag = false
    var hasDate = false

    static let all: [Holding] = [
        Holding(
            testDescription: "no partial", partial: nil,
            asks: [
                .whole, .revalidate(ifNoneMatch: Marks.strong, ifModifiedSince: Marks.date),
                .revalidate(ifNoneMatch: nil, ifModifiedSince: Marks.date),
            ]),
        Holding(
            testDescription: "a partial with ETag and date",
            partial: PartialFacts(length: 40, total: 100, validators: Marks.both(Marks.strong)),
            asks: [.rest(from: 40, ifRange: Marks.strong), .rest(from: 40, ifRange: nil), .whole],
            hasETag: true,
            hasDate: true),
        Holding(
            testDescription: "a partial with an ETag, of unknown size",
            partial: PartialFacts(length: 40, validators: Marks.etag(Marks.strong)),
            asks: [.rest(from: 40, ifRange: Marks.strong), .whole], hasETag: true),
        Holding(
            testDescription: "a partial with a date",
            partial: PartialFacts(length: 40, total: 100, validators: Marks.modified()),
            asks: [.rest(from: 40, ifRange: Marks.date), .whole], hasDate: true),
        Holding(
            testDescription: "a partial without a mark", partial: PartialFacts(length: 40, total: 100),
            asks: [
                .rest(from: 40, ifRange: nil), .whole,
                .revalidate(ifNoneMatch: Marks.strong, ifModifiedSince: nil),
            ]),
        Holding(
            testDescription: "a partial without a mark, coded, of unknown size",
            partial: PartialFacts(length: 40, coding: "gzip"), asks: [.rest(from: 40, ifRange: nil), .whole]),
        Holding(
            testDescription: "a whole partial",
            partial: PartialFacts(length: 100, total: 100, validators: Marks.etag(Marks.strong)),
            asks: [.prove(ifNoneMatch: Marks.strong), .whole], hasETag: true),
    ]
}

/// One answer to one request, and the verdict on it.
private struct Trial {
    let asked: Ask
    let span: Span
    let mark: Mark
    let answer: AnswerFacts
    let entry: EntryFacts
    let holding: Holding
    let copy: CopyFacts?

    var partial: PartialFacts? { holding.partial }

    func judge(after asked: Ask) -> Verdict {
        Reconcile.judge(asked: asked, answer: answer, entry: entry, partial: partial, copy: copy)
    }

    /// What is wrong with the verdict; nil when all is well.
    func violation(_ verdict: Verdict) -> String? {
        switch verdict {
        case .append(let end, let total): append(end, total)
        case .replace(let total): replace(total)
        case .current: notModified(isAsked: isRevalidation, known: copy != nil, "current")
        case .proven: notModified(isAsked: isProof, known: partial != nil, "proven")
        case .prove(let total): prove(total)
        case .askRestAlone: restAlone
        case .askWhole: whole
        case .redirect:
            [301, 302, 303, 307, 308].contains(answer.status) ? nil : "a redirect that is none"
        case .refuse(let refusal): refuse(refusal)
        }
    }

    private var isRevalidation: Bool { if case .revalidate = asked { true } else { false } }
    private var isProof: Bool { if case .prove = asked { true } else { false } }

    private func append(_ end: UInt64, _ total: UInt64?) -> String? {
        guard answer.status == 206, case .rest(let from, let ifRange) = asked, let partial else {
            return "appended what is no part that was asked for"
        }
        guard let range = span.continues, range.lowerBound == from, from == partial.length,
            end == range.upperBound + 1
        else { return "appended another range" }
        if let length = answer.length, length != end - from { return "appended in spite of its length" }
        if answer.coding != partial.coding { return "appended another coding" }
        if let total, end > total { return "appended beyond the end" }
        if let known = partial.total, total != known || span.total ?? known != known {
            return "appended a file of another size"
        }
        if answer.validators.etag != nil, !(mark.isOurETag && holding.hasETag) {
            return "appended another version"
        }
        if mark.isOtherDate, holding.hasDate { return "appended a version of another date" }
        if ifRange == nil {
            if holding.hasETag ? !mark.isOurETag : !entry.hasChecksum { return "appended without a proof" }
        }
        return nil
    }

    private func replace(_ total: UInt64?) -> String? {
        switch answer.status {
        case 200, 203:
            if span.text != nil { return "took a 200 that contradicts itself" }
            if total != answer.length { return "took another size" }
        case 206:
            if !span.isWhole || total != 100 || answer.length ?? 100 != 100 {
                return "took a part for the whole"
            }
        default: return "took the body of a \(answer.status)"
        }
        if answer.isHTML, !entry.acceptsHTML {
            if let partial, !partial.isHTML, entry.fileExtension != "html" {
                return "html displaces a partial"
            }
            if entry.fileExtension == "bin", !entry.hasChecksum, copy?.isHTML != true {
                return "html at .bin"
            }
        }
        if !answer.coding.isEmpty, !entry.acceptsCoded {
            if answer.coding != "gzip" || !(entry.hasChecksum || entry.fileExtension == "gz") {
                return "took a coded body"
            }
        }
        return nil
    }

    private func notModified(isAsked: Bool, known: Bool, _ word: String) -> String? {
        if answer.status != 304 || !isAsked || !known { return "\(word) without a question" }
        // The copy's and the whole partial's ETag is the one that all the marks are compared with.
        if answer.validators.etag != nil, !mark.isOurETagWeakly { return "\(word) by another version's 304" }
        return nil
    }

    private func prove(_ total: UInt64) -> String? {
        guard answer.status == 416, case .rest = asked, let partial, partial.total == nil,
            total == partial.length
        else { return "a proof without a reason" }
        if span.isWellFormed, span.text != "bytes */40" { return "a proof although the size is another" }
        if !entry.hasChecksum, !holding.hasETag { return "a proof that is impossible" }
        return nil
    }

    private var restAlone: String? {
        guard case .rest(let from, .some) = asked, [200, 203].contains(answer.status), mark.isOurETag else {
            return "once more without a reason"
        }
        return judge(after: .rest(from: from, ifRange: nil)) == .askRestAlone ? "once more without end" : nil
    }

    private var whole: String? {
        if asked == .whole { return "a plain GET after a plain GET" }
        if case .askWhole = judge(after: .whole) { return "a plain GET without end" }
        return nil
    }

    private func refuse(_ refusal: Refusal) -> String? {
        switch refusal {
        case .status(let status):
            return status == answer.status && ![200, 203, 206, 304].contains(status)
                ? nil : "refused another status"
        case .coded(let coding):
            return coding == answer.coding && !coding.isEmpty && !entry.acceptsCoded
                ? nil : "refused no coding"
        case .portal: return answer.isHTML && !entry.acceptsHTML ? nil : "took no html for a portal"
        case .unaskedNotModified:
            return answer.status == 304 && !isRevalidation && !isProof
                ? nil : "refused a 304 that was asked for"
        case .useless: return asked == .whole ? nil : "gave up before the plain GET"
        }
    }
}

extension Trial: CustomStringConvertible {
    var description: String {
        """
        \(asked) → \(answer.status) range \(span.text ?? "none"), length \(answer.length.map { "\($0)" } ?? "none"), \
        \(answer.validators), coding \(answer.coding), \(answer.mediaType ?? "no type"); \(entry); \(holding.testDescription)
        """
    }
}

@Suite("Judge, whatever comes")
struct JudgeInvariantsTests {
    /// What the manifest says, and the copy that is there.
    private static let entries: [(EntryFacts, CopyFacts?)] = [
        (EntryFacts(), nil), (EntryFacts(), CopyFacts(validators: Marks.both(Marks.strong))),
        (EntryFacts(hasChecksum: true), nil), (EntryFacts(fileExtension: "gz"), nil),
        (EntryFacts(fileExtension: ""), CopyFacts(validators: Marks.both(Marks.strong))),
        (EntryFacts(fileExtension: "html", acceptsCoded: true), nil), (EntryFacts(acceptsHTML: true), nil),
    ]
    private static let bodies: [(coding: String, type: String?)] = [
        ("", nil), ("gzip", nil), ("br", nil), ("", "text/html"), ("gzip", "text/html"),
    ]

    /// Statuses with the Content-Range and Content-Length that make a difference to them: all, or present and absent.
    private static let heads: [(status: Int, span: Span, length: UInt64?)] = {
        let few = [Span.all[0], Span.all[1], Span.all[4]]
        let lengths: [UInt64?] = [nil, 60, 20, 100, 17]
        var heads: [(Int, Span, UInt64?)] = []
        for (span, length) in pairs(Span.all, lengths) { heads.append((206, span, length)) }
        for span in Span.all { heads.append((416, span, 0)) }
        for (span, length) in pairs(few, lengths) { heads.append((200, span, length)) }
        for (status, span) in pairs([202, 203, 301, 304, 404, 503], few) { heads.append((status, span, nil)) }
        return heads
    }()

    /// Calls the body with every answer to every request.
    private static func forEachTrial(_ holding: Holding, _ body: (Trial) -> Void) {
        for asked in holding.asks {
            for (head, mark) in pairs(heads, Mark.all) {
                for (content, (entry, copy)) in pairs(bodies, entries) {
                    let answer = AnswerFacts(
                        status: head.status, contentRange: head.span.text, length: head.length,
                        validators: mark.validators, coding: content.coding, mediaType: content.type)
                    body(
                        Trial(
                            asked: asked, span: head.span, mark: mark, answer: answer, entry: entry,
                            holding: holding, copy: copy))
                }
            }
        }
    }

    @Test("a verdict has its grounds, with", arguments: Holding.all)
    fileprivate func hasItsGrounds(_ holding: Holding) {
        var violations: [String: String] = [:]
        var kinds: Set<Kind> = []
        Self.forEachTrial(holding) { trial in
            let verdict = trial.judge(after: trial.asked)
            if let violation = trial.violation(verdict), violations[violation] == nil {
                violations[violation] = "\(trial)"
            }
            kinds.insert(Kind(verdict))
        }
        for (violation, trial) in violations { Issue.record("\(violation): \(trial)") }
        // The enumeration is of no use when it does not reach the verdicts that it is about.
        let canAppend = holding.asks.contains { if case .rest = $0 { true } else { false } }
        let canProve = holding.asks.contains { if case .prove = $0 { true } else { false } }
        let canConfirm = holding.asks.contains { if case .revalidate = $0 { true } else { false } }
        #expect(kinds.isSuperset(of: [.replace, .refuse, .redirect]))
        #expect(kinds.contains(.append) == canAppend)
        #expect(kinds.contains(.proven) == canProve)
        #expect(kinds.contains(.current) == canConfirm)
    }
}

/// A verdict without what it carries.
private enum Kind {
    case append, replace, current, proven, prove, askRestAlone, askWhole, redirect, refuse

    init(_ verdict: Verdict) {
        self =
            switch verdict {
            case .append: .append
            case .replace: .replace
            case .current: .current
            case .proven: .proven
            case .prove: .prove
            case .askRestAlone: .askRestAlone
            case .askWhole: .askWhole
            case .redirect: .redirect
            case .refuse: .refuse
            }
    }
}
