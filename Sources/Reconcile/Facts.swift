package import Wire

/// What the manifest says of an entry, as far as the rules need it.
package struct EntryFacts: Hashable, Sendable {
    /// The manifest names a checksum, which will judge the bytes whatever a server claims.
    package var hasChecksum: Bool
    /// The size that the manifest names, in bytes.
    package var size: UInt64?
    /// `immutable` in the manifest.
    package var isImmutable: Bool
    /// For how long an answer is trusted; `seconds(0)` asks every time.
    package var trust: Trust
    /// The extension of the name, lower case, without the dot; empty for none.
    package var fileExtension: String
    /// The user takes any Content-Encoding as it comes (`--accept-coded`).
    package var acceptsCoded: Bool
    /// The user takes html at any name (`--accept-html`).
    package var acceptsHTML: Bool

    /// How long an answer is trusted without asking again.
    package enum Trust: Hashable, Sendable {
        case seconds(Int64)
        /// What the answer's Cache-Control or Expires said.
        case server
        /// Never: ask whatever anybody said (`--refresh`).
        case never
    }

    package init(
        hasChecksum: Bool = false, size: UInt64? = nil, isImmutable: Bool = false, trust: Trust = .seconds(0),
        fileExtension: String = "bin", acceptsCoded: Bool = false, acceptsHTML: Bool = false
    ) {
        self.hasChecksum = hasChecksum
        self.size = size
        self.isImmutable = isImmutable
        self.trust = trust
        self.fileExtension = fileExtension
        self.acceptsCoded = acceptsCoded
        self.acceptsHTML = acceptsHTML
    }

    /// The name says nothing about the kind of content.
    package var isNameSilent: Bool { fileExtension.isEmpty }

    /// Html at this name is no surprise: it says so, or leaves it open.
    package var namesHTML: Bool {
        isNameSilent || isHTMLByName || Self.openExtensions.contains(fileExtension)
    }

    /// The name itself says that the file is html.
    var isHTMLByName: Bool { Self.htmlExtensions.contains(fileExtension) }

    /// The name itself says that the file is a gzip stream.
    var isGzipByName: Bool { Self.gzipExtensions.contains(fileExtension) }

    private static let htmlExtensions: Set<String> = ["html", "htm", "xhtml", "xht", "shtml"]
    /// Programs on the server, which answer with anything.
    private static let openExtensions: Set<String> = ["php", "asp", "aspx", "jsp", "cgi"]
    private static let gzipExtensions: Set<String> = ["gz", "tgz", "svgz"]
}

/// A published file on which disk and ledger agree.
package struct CopyFacts: Hashable, Sendable {
    package var validators: Validators
    /// Whether the manifest's checksum fits; nil when the manifest names none.
    package var checksumFits: Bool?
    /// Wall seconds when the answer was received or last confirmed.
    package var received: Int64
    /// Wall seconds until when the server calls it fresh; nil when it does not say or is not to be trusted.
    package var freshUntil: Int64?
    /// The server called it immutable.
    package var isImmutable: Bool
    /// The copy is html itself, so that html is no surprise.
    package var isHTML: Bool

    package init(
        validators: Validators = Validators(), checksumFits: Bool? = nil, received: Int64 = 0,
        freshUntil: Int64? = nil, isImmutable: Bool = false, isHTML: Bool = false
    ) {
        self.validators = validators
        self.checksumFits = checksumFits
        self.received = received
        self.freshUntil = freshUntil
        self.isImmutable = isImmutable
        self.isHTML = isHTML
    }
}

/// The bytes of an unfinished transfer, as far as they may be trusted.
package struct PartialFacts: Hashable, Sendable {
    /// Bytes that are there for certain; greater than 0.
    package var length: UInt64
    /// The whole size in bytes, when an answer told it.
    package var total: UInt64?
    package var validators: Validators
    /// The Content-Encoding of the answer that began it; empty for none.
    package var coding: String
    /// The answer that began it was html.
    package var isHTML: Bool

    package init(
        length: UInt64, total: UInt64? = nil, validators: Validators = Validators(), coding: String = "",
        isHTML: Bool = false
    ) {
        self.length = length
        self.total = total
        self.validators = validators
        self.coding = coding
        self.isHTML = isHTML
    }

    /// All bytes are there, by the size that an answer told, else by the manifest's.
    func isWhole(in entry: EntryFacts) -> Bool { (total ?? entry.size) == length }
}

/// A response head, as far as the rules need it.
package struct AnswerFacts: Hashable, Sendable {
    package var status: Int
    /// Content-Range as written; nil when the field is absent.
    package var contentRange: String?
    /// Body bytes by Content-Length; nil when the end is told otherwise.
    package var length: UInt64?
    package var validators: Validators
    /// Content-Encoding, lower case; empty for none, for `identity` and for an empty field.
    package var coding: String
    /// The media type, lower case, without parameters.
    package var mediaType: String?

    package init(
        status: Int, contentRange: String? = nil, length: UInt64? = nil,
        validators: Validators = Validators(),
        coding: String = "", mediaType: String? = nil
    ) {
        self.status = status
        self.contentRange = contentRange
        self.length = length
        self.validators = validators
        self.coding = coding
        self.mediaType = mediaType
    }

    /// An html page, by its media type.
    package var isHTML: Bool { Reconcile.isHTML(mediaType) }
}

/// Whether a media type, in lower case and without parameters, is that of an html page.
package func isHTML(_ mediaType: String?) -> Bool {
    mediaType == "text/html" || mediaType == "application/xhtml+xml"
}
