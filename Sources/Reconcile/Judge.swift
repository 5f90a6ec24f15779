package import Wire

/// What a response head means for the bytes that we hold.
package enum Verdict: Hashable, Sendable {
    /// The body continues the partial up to this offset (exclusive); the whole size when known.
    case append(upTo: UInt64, total: UInt64?)
    /// The body is the whole thing, from byte 0, into a new partial.
    case replace(total: UInt64?)
    /// The copy is current.
    case current
    /// The partial is the whole current version: publish it.
    case proven
    /// The partial may be whole, at this size: ask for the proof.
    case prove(total: UInt64)
    /// The version is ours, yet the whole came although a part was asked for: this server knows no If-Range. Once
    /// with Range alone.
    case askRestAlone
    /// The answer is of no use: one plain GET, and what else to forget.
    case askWhole(Objection)
    /// Follow the Location.
    case redirect
    /// No body of ours: see `Disposition`.
    case refuse(Refusal)
}

/// Why an answer cannot be used as it is.
package enum Objection: String, Hashable, Sendable, CaseIterable {
    case rangeWrong = "its Content-Range is not what was asked for"
    case sizeDiffers = "it tells another whole size"
    case lengthDiffers = "its Content-Length is not the range's"
    case versionDiffers = "it is of another version"
    case versionUnproven = "it does not name the version that we hold"
    case codingDiffers = "it has another Content-Encoding"
    case partUnasked = "it is a part that nobody asked for"
    case selfContradicting = "it is a 200 with a Content-Range"
    case notModifiedWrong = "its 304 names another version"
    case rangeRefused = "the range was refused"
}

/// Why an answer brings no file.
package enum Refusal: Hashable, Sendable {
    /// Classified by `disposition(ofStatus:)`.
    case status(Int)
    /// A real Content-Encoding that nobody asked for.
    case coded(String)
    /// Html where the name says otherwise: perhaps a captive portal.
    case portal
    /// A 304 that nobody asked for.
    case unaskedNotModified
    /// Still of no use after the plain GET.
    case useless(Objection)
}

/// The rule of what an answer means (one row per line in the tests and in docs/rules.md).
///
/// - Parameters:
///   - asked: what was requested at the hop that answered.
///   - partial: the partial that the request was about, or that a whole answer would displace.
///   - copy: the published file.
package func judge(
    asked: Ask, answer: AnswerFacts, entry: EntryFacts, partial: PartialFacts?, copy: CopyFacts?
) -> Verdict {
    switch answer.status {
    case 200, 203:
        if answer.contentRange != nil { return useless(asked, .selfContradicting) }
        if case .rest(_, .some) = asked, case .etag(let tag) = partial?.validators.strong,
            answer.validators.etag?.stronglyEquals(EntityTag(tag)) == true
        {
            return .askRestAlone
        }
        return whole(total: answer.length, answer: answer, entry: entry, partial: partial, copy: copy)
    case 206:
        if case .rest(let from, let ifRange) = asked, let partial {
            return part(from: from, ifRange: ifRange, answer: answer, entry: entry, partial: partial)
        }
        guard let range = answer.contentRange.flatMap(ContentRange.init(parsing:)), let bytes = range.part,
            let total = range.total, bytes.lowerBound == 0, bytes.upperBound == total - 1,
            answer.length == nil || answer.length == total
        else { return useless(asked, .partUnasked) }
        return whole(total: total, answer: answer, entry: entry, partial: partial, copy: copy)
    case 304:
        return notModified(asked: asked, answer: answer, partial: partial, copy: copy)
    case 416:
        return rangeRefused(asked: asked, answer: answer, entry: entry, partial: partial)
    case 301, 302, 303, 307, 308:
        return .redirect
    default:
        return .refuse(.status(answer.status))
    }
}

/// One plain GET, unless that is what was asked.
private func useless(_ asked: Ask, _ objection: Objection) -> Verdict {
    asked == .whole ? .refuse(.useless(objection)) : .askWhole(objection)
}

private func whole(
    total: UInt64?, answer: AnswerFacts, entry: EntryFacts, partial: PartialFacts?, copy: CopyFacts?
) -> Verdict {
    if answer.isHTML, !entry.acceptsHTML {
        // A portal's page must not cost bytes that we hold, even where a checksum would unmask it in the end.
        if let partial, !partial.isHTML, !entry.isHTMLByName { return .refuse(.portal) }
        if !entry.namesHTML, !entry.hasChecksum, copy?.isHTML != true { return .refuse(.portal) }
    }
    if !answer.coding.isEmpty, !entry.acceptsCoded {
        let isGzip = answer.coding == "gzip" || answer.coding == "x-gzip"
        // With a checksum the received bytes are judged at the end.
        guard isGzip, entry.isGzipByName || entry.hasChecksum else { return .refuse(.coded(answer.coding)) }
    }
    return .replace(total: total)
}

private func part(
    from: UInt64, ifRange: String?, answer: AnswerFacts, entry: EntryFacts, partial: PartialFacts
) -> Verdict {
    guard let range = answer.contentRange.flatMap(ContentRange.init(parsing:)), let bytes = range.part,
        bytes.lowerBound == from, bytes.upperBound < .max
    else { return .askWhole(.rangeWrong) }
    if let known = partial.total {
        if let told = range.total, told != known { return .askWhole(.sizeDiffers) }
        if bytes.upperBound >= known { return .askWhole(.sizeDiffers) }
    }
    if let length = answer.length, length != UInt64(bytes.count) { return .askWhole(.lengthDiffers) }
    if answer.coding != partial.coding { return .askWhole(.codingDiffers) }
    if differs(answer.validators, from: partial.validators) { return .askWhole(.versionDiffers) }
    if ifRange == nil {
        // Without If-Range the server compared nothing: the 206 itself must name our version (RFC 9110
        // 15.3.7.3), or the manifest's checksum judges the whole.
        switch partial.validators.strong {
        case .etag(let tag):
            guard answer.validators.etag?.stronglyEquals(EntityTag(tag)) == true else {
                return .askWhole(.versionUnproven)
            }
        case .lastModified, nil:
            guard entry.hasChecksum else { return .askWhole(.versionUnproven) }
        }
    }
    return .append(upTo: bytes.upperBound + 1, total: range.total ?? partial.total)
}

/// Whether an answer's marks contradict the ones that we hold. An absent mark contradicts nothing. An ETag that
/// appears where the first answer had none does; a date that appears does not, since If-Range or the ETag has
/// spoken already, or the checksum will.
package func differs(_ theirs: Validators, from ours: Validators) -> Bool {
    if let tag = theirs.etag, tag != ours.etag { return true }
    if let date = theirs.lastModified, let own = ours.lastModified, date != own { return true }
    return false
}

private func notModified(
    asked: Ask, answer: AnswerFacts, partial: PartialFacts?, copy: CopyFacts?
) -> Verdict {
    switch asked {
    case .revalidate:
        return names(copy?.validators, answer) ? .current : .askWhole(.notModifiedWrong)
    case .prove:
        return names(partial?.validators, answer) ? .proven : .askWhole(.notModifiedWrong)
    case .whole, .rest, .nothing, .check:
        return .refuse(.unaskedNotModified)
    }
}

/// Whether a 304 is about what we hold: its ETag, when it has one, is weakly equal to ours (RFC 9110 15.4.5).
private func names(_ ours: Validators?, _ answer: AnswerFacts) -> Bool {
    guard let ours else { return false }
    guard let theirs = answer.validators.etag else { return true }
    return ours.etag.map(theirs.weaklyEquals) ?? false
}

private func rangeRefused(asked: Ask, answer: AnswerFacts, entry: EntryFacts, partial: PartialFacts?)
    -> Verdict
{
    switch asked {
    case .rest:
        // All bytes may be there already, when the first answer did not tell its size. The 416 alone proves
        // nothing (RFC 9110 15.5.17), but it is worth the question.
        if let partial, partial.total == nil, isWorthProving(partial, answer, entry) {
            return .prove(total: partial.length)
        }
        return .askWhole(.rangeRefused)
    case .revalidate, .prove:
        return .askWhole(.rangeRefused)
    case .whole, .nothing, .check:
        return .refuse(.status(416))
    }
}

/// Whether a 416 leaves open that the partial is the whole, and there is a way to prove it.
private func isWorthProving(_ partial: PartialFacts, _ answer: AnswerFacts, _ entry: EntryFacts) -> Bool {
    let range = answer.contentRange.flatMap(ContentRange.init(parsing:))
    if let range, range.part != nil || range.total != partial.length { return false }
    // The manifest's checksum proves it here, at no more than the cost of reading the file.
    if entry.hasChecksum { return true }
    guard range != nil, case .etag(let tag) = partial.validators.strong else { return false }
    return answer.validators.etag.map { $0.stronglyEquals(EntityTag(tag)) } ?? true
}
