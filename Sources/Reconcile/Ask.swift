import Wire

/// What to request of the origin, or why nothing need be requested.
package enum Ask: Hashable, Sendable {
    /// The copy is believed without asking.
    case nothing(Belief)
    /// A plain GET.
    case whole
    /// A GET that may be answered by 304: the copy is revalidated.
    case revalidate(ifNoneMatch: String?, ifModifiedSince: String?)
    /// A GET for the bytes from here on; `ifRange` nil only when a checksum, or the 206's own ETag, will judge.
    case rest(from: UInt64, ifRange: String?)
    /// The partial has its whole size: a GET whose 304 proves it. A date would not do: servers may answer 304 when
    /// the file is older than it (RFC 9110 13.1.3).
    case prove(ifNoneMatch: String)
    /// The partial has its whole size and the manifest's checksum judges it: no request.
    case check

    /// Why a copy is believed.
    package enum Belief: String, Hashable, Sendable { case immutable, fresh }
}

/// The rule of what to request (one row per line in the tests and in docs/rules.md).
///
/// - Parameters:
///   - partial: nil when there is none, or when this hop is not where its bytes came from.
///   - ignoresIfRange: this origin answers every If-Range with a 200, so Range goes alone and the 206 must carry
///     our strong ETag.
///   - now: wall seconds.
package func ask(
    entry: EntryFacts, copy: CopyFacts?, partial: PartialFacts?, ignoresIfRange: Bool = false, now: Int64
) -> Ask {
    if let copy, let belief = belief(in: copy, entry: entry, now: now) {
        return .nothing(belief)
    }
    if let partial {
        if partial.isWhole(in: entry) {
            if entry.hasChecksum { return .check }
            // An ETag that is weak or malformed still names the version in If-None-Match, but does not promise
            // the same bytes, so it proves nothing about a partial.
            if case .etag(let tag) = partial.validators.strong { return .prove(ifNoneMatch: tag) }
        } else {
            switch partial.validators.strong {
            case .etag(let tag): return .rest(from: partial.length, ifRange: ignoresIfRange ? nil : tag)
            case .lastModified(let date): return .rest(from: partial.length, ifRange: date)
            case nil: if entry.hasChecksum { return .rest(from: partial.length, ifRange: nil) }
            }
        }
    }
    if let copy, copy.checksumFits != false, let marks = conditions(copy.validators) {
        return .revalidate(ifNoneMatch: marks.etag, ifModifiedSince: marks.date)
    }
    return .whole
}

/// If-None-Match and If-Modified-Since of a version; nil when it has no mark. A recipient that knows the first
/// ignores the second (RFC 9110 13.1.3), so sending both serves servers that know only dates.
private func conditions(_ validators: Validators) -> (etag: String?, date: String?)? {
    validators.isEmpty ? nil : (validators.etag?.text, validators.lastModified)
}

/// Whether a copy is believed without asking, and by whose word. One that the manifest's checksum does not fit
/// never is.
package func belief(in copy: CopyFacts, entry: EntryFacts, now: Int64) -> Ask.Belief? {
    if copy.checksumFits == false { return nil }
    if copy.checksumFits == true || entry.isImmutable, entry.trust != .never { return .immutable }
    // A clock that stands before the time of receipt says nothing about age.
    guard now >= copy.received else { return nil }
    let isFreshByServer = copy.freshUntil.map { now < $0 } ?? false
    // RFC 8246: immutable holds within the freshness lifetime only.
    if copy.isImmutable, isFreshByServer, entry.trust != .never { return .immutable }
    switch entry.trust {
    case .never: return nil
    case .server: return isFreshByServer ? .fresh : nil
    case .seconds(let limit):
        let (age, overflow) = now.subtractingReportingOverflow(copy.received)
        return !overflow && age < limit ? .fresh : nil
    }
}
