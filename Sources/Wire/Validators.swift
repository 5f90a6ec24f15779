/// An entity tag as the server wrote it (RFC 9110 8.8.3).
package struct EntityTag: Hashable, Sendable {
    package enum Kind: Sendable { case strong, weak, malformed }

    /// The field's value, trimmed, otherwise untouched: it goes back verbatim.
    package let text: String
    package let kind: Kind

    /// Never fails: what does not match the grammar is `malformed` and opaque.
    package init(_ text: String) {
        self.text = text
        let weak = text.utf8.starts(with: "W/".utf8)
        let opaque = text.utf8.dropFirst(weak ? 2 : 0)
        // etagc: %x21 / %x23-7E / obs-text
        let wellFormed =
            opaque.count >= 2 && opaque.first == 0x22 && opaque.last == 0x22
            && opaque.dropFirst().dropLast().allSatisfy {
                $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80
            }
        kind = wellFormed ? (weak ? .weak : .strong) : .malformed
    }

    /// Alike to the byte: texts that only look alike (Unicode's canonical equivalence) are two versions' marks.
    package static func == (left: EntityTag, right: EntityTag) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// Weak comparison (RFC 9110 8.8.3.2): opaque parts alike, whichever is weak.
    package func weaklyEquals(_ other: EntityTag) -> Bool {
        func opaque(_ tag: EntityTag) -> Substring.UTF8View {
            tag.text.utf8.dropFirst(tag.kind == .weak ? 2 : 0)
        }
        return opaque(self).elementsEqual(opaque(other))
    }

    /// Strong comparison (RFC 9110 8.8.3.2): both strong and alike to the byte.
    package func stronglyEquals(_ other: EntityTag) -> Bool {
        kind == .strong && other.kind == .strong && self == other
    }
}

/// The version marks of one answer, kept with the bytes that they belong to (RFC 9110 8.8).
package struct Validators: Hashable, Sendable {
    package var etag: EntityTag?
    /// Last-Modified as the server wrote it; it goes back verbatim.
    package var lastModified: String?
    /// The Date of the same answer in seconds since 1970, when it was there and valid, and is needed to judge
    /// `lastModified`.
    package var date: Int64?

    package init(etag: EntityTag? = nil, lastModified: String? = nil, date: Int64? = nil) {
        self.etag = etag
        self.lastModified = lastModified
        self.date = date
    }

    /// Nothing to ask with.
    package var isEmpty: Bool { etag == nil && lastModified == nil }
}

/// A validator that proves that bytes belong together (RFC 9110 8.8.1), in the form that If-Range takes.
package enum StrongValidator: Hashable, Sendable {
    /// The entity tag as the server wrote it.
    case etag(String)
    /// The Last-Modified as the server wrote it.
    case lastModified(String)

    /// The value of an If-Range field (RFC 9110 13.1.5).
    package var fieldValue: String {
        switch self {
        case .etag(let text), .lastModified(let text): text
        }
    }
}

extension Validators {
    /// The marks in the head of an answer; `now` in seconds since 1970 reads two-digit years.
    package init(head: ResponseHead, now: Int64) {
        self.init(
            etag: head.value("etag").map { EntityTag($0) }, lastModified: head.value("last-modified"),
            date: nil)
        // Beside an ETag nothing depends on the Date, and this is done for each answer.
        if etag == nil, lastModified != nil {
            date = head.value("date").flatMap { parseHTTPDate($0, now: now) }
        }
    }

    /// A well-formed ETag without `W/`; or, when there was no ETag at all, a Last-Modified that the answer's Date
    /// follows by a second or more (RFC 9110 8.8.2.2): within one second the file could have changed twice.
    package var strong: StrongValidator? {
        if let etag { return etag.kind == .strong ? .etag(etag.text) : nil }
        guard let lastModified, let date, let modified = parseHTTPDate(lastModified, now: date) else {
            return nil
        }
        return modified < date ? .lastModified(lastModified) : nil
    }
}
