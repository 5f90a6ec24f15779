package import Wire

/// What the ledger knows of a published file.
package struct CopyRow: Hashable, Sendable {
    /// Bytes.
    package var size: UInt64
    /// mtime in nanoseconds since 1970, and inode, as they were when the file was last proven.
    package var modified: Int64
    package var inode: UInt64
    package var validators: Validators
    /// The digest that was computed while the bytes came.
    package var digest: Checksum
    /// Wall seconds when the answer was received or last confirmed by a 304.
    package var received: Int64
    /// Wall seconds until when the server itself says it is fresh; nil when it does not say or is not trusted.
    package var freshUntil: Int64?
    /// Cache-Control: immutable.
    package var isImmutable: Bool
    /// The media type without parameters, lower case.
    package var mediaType: String?
    /// Wall seconds when the file's bytes were last proven by the digest: when they came, or when they were read again.
    package var checked: Int64

    /// - Parameter checked: nil for the time of receipt.
    package init(
        size: UInt64, modified: Int64, inode: UInt64, validators: Validators, digest: Checksum,
        received: Int64,
        freshUntil: Int64? = nil, isImmutable: Bool = false, mediaType: String? = nil, checked: Int64? = nil
    ) {
        self.size = size
        self.modified = modified
        self.inode = inode
        self.validators = validators
        self.digest = digest
        self.received = received
        self.freshUntil = freshUntil
        self.isImmutable = isImmutable
        self.mediaType = mediaType
        self.checked = checked ?? received
    }
}

/// What the ledger remembers of tries that did not succeed.
package struct FailureRow: Hashable, Sendable {
    /// Wall seconds of the first failure since the last success, and of the last try.
    package var since: Int64
    package var lastTry: Int64
    /// Runs that failed since then.
    package var tries: Int
    /// Wall seconds before which the origin asked not to be asked again.
    package var notBefore: Int64?
    /// For good (1) or for now (75).
    package var isPermanent: Bool
    /// A short word that groups failures, for instance `404`, `timeout`, `checksum`.
    package var reason: String
    /// The sentence; secrets are masked.
    package var message: String
    /// A fingerprint of the manifest's line; a change of the line clears the failure.
    package var fingerprint: UInt64

    package init(
        since: Int64, lastTry: Int64, tries: Int, notBefore: Int64?, isPermanent: Bool, reason: String,
        message: String, fingerprint: UInt64
    ) {
        self.since = since
        self.lastTry = lastTry
        self.tries = tries
        self.notBefore = notBefore
        self.isPermanent = isPermanent
        self.reason = reason
        self.message = message
        self.fingerprint = fingerprint
    }
}

/// How an entry stands, as the ledger knows it. The numbers are stored: never change or reuse one.
package enum EntryState: Int64, Sendable, CaseIterable {
    /// Here, complete and checked.
    case current = 0
    /// Not here yet, and nothing speaks against it.
    case pending = 1
    /// The last try failed for good; an older copy may be here.
    case failed = 2
    /// The last try failed for now; an older copy may be here.
    case deferred = 3
}

/// Whose word, beside the server's, keeps an entry's copy from being asked about: as the last run that met it had it.
package struct TrustRow: Hashable, Sendable {
    /// The numbers are stored: never change or reuse one.
    package enum Word: Int64, Sendable, CaseIterable {
        /// `max-age=` in the manifest.
        case manifest = 1
        /// `--max-age`.
        case option = 2
        /// `immutable` in the manifest.
        case immutable = 3
        /// A checksum in the manifest.
        case checksum = 4
    }

    package let word: Word
    /// Nil when the word holds for ever.
    package let maxAge: MaxAge?

    package init(word: Word, maxAge: MaxAge? = nil) {
        self.word = word
        self.maxAge = maxAge
    }
}

/// One entry in the ledger.
package struct EntryRow: Sendable {
    package var key: Key
    /// The URL as the manifest writes it, credentials and signature-like query values masked.
    package var url: String
    package var fileExtension: String
    package var copy: CopyRow?
    package var failure: FailureRow?
    /// The origin said 404 or 410 on a refresh; the copy stays.
    package var isGone: Bool
    /// A remark about the last transfer that is no failure (a restart and why); nil when there was none.
    package var remark: String?
    /// Transfers that started over from byte 0, in all.
    package var restarts: Int
    /// Nil when nobody but the server says anything.
    package var trust: TrustRow?

    package init(
        key: Key, url: String, fileExtension: String, copy: CopyRow? = nil, failure: FailureRow? = nil,
        isGone: Bool = false, remark: String? = nil, restarts: Int = 0, trust: TrustRow? = nil
    ) {
        self.key = key
        self.url = url
        self.fileExtension = fileExtension
        self.copy = copy
        self.failure = failure
        self.isGone = isGone
        self.remark = remark
        self.restarts = restarts
        self.trust = trust
    }

    /// The published file's name.
    package var fileName: String { key.hex + fileExtension }

    /// A failure counts even when an older copy is here.
    package var state: EntryState {
        if let failure { return failure.isPermanent ? .failed : .deferred }
        return copy == nil ? .pending : .current
    }
}

/// The bytes of an unfinished transfer, and what is known of them.
package struct PartialRow: Hashable, Sendable {
    /// The file's name in the partial folder, `<key>.<8 hex>`.
    package var name: String
    package var key: Key
    /// Where the bytes came from, without userinfo, query and fragment; Range goes only to the same place.
    package var source: String
    package var validators: Validators
    /// The Content-Encoding of the answer that began it, empty for none.
    package var contentCoding: String
    package var mediaType: String?
    /// The whole size in bytes, when an answer told it.
    package var total: UInt64?
    /// Bytes written; to be trusted while boot and mount are the same.
    package var written: UInt64
    /// Bytes known to be on the disk whatever happens.
    package var durable: UInt64
    package var bootIdentifier: String?
    package var mountIdentifier: String?
    /// How many answers its bytes came from.
    package var answers: Int
    /// The digest's running state at `written`; nil when the algorithm's state cannot be saved.
    package var digestState: [UInt8]?
    /// The digest of the whole that an answer named; it judges the bytes when the manifest names none.
    package var serverDigest: Checksum?

    package init(
        name: String, key: Key, source: String, validators: Validators, contentCoding: String,
        mediaType: String?,
        total: UInt64?, written: UInt64, durable: UInt64, bootIdentifier: String?, mountIdentifier: String?,
        answers: Int, digestState: [UInt8]? = nil
    ) {
        self.name = name
        self.key = key
        self.source = source
        self.validators = validators
        self.contentCoding = contentCoding
        self.mediaType = mediaType
        self.total = total
        self.written = written
        self.durable = durable
        self.bootIdentifier = bootIdentifier
        self.mountIdentifier = mountIdentifier
        self.answers = answers
        self.digestState = digestState
    }
}

/// Files whose bytes are all there, checked and durable, and whose entries describe them already; only the renames,
/// or the record of them, are missing.
package struct PublicationRow: Hashable, Sendable {
    package let identifier: Int64
    /// The partials' names; each begins with its entry's key.
    package let partials: [String]

    package init(identifier: Int64, partials: [String]) {
        self.identifier = identifier
        self.partials = partials
    }
}

/// One finished or running `sync`.
package struct RunRow: Hashable, Sendable {
    package var identifier: Int64
    /// Wall seconds.
    package var started: Int64
    package var ended: Int64?
    package var exitCode: Int32?
    package var entries: Int
    package var current: Int
    package var failed: Int
    package var pending: Int
    /// Body bytes received.
    package var received: UInt64
    /// Entries that were left alone because the user had them paused.
    package var paused: Int

    package init(
        identifier: Int64, started: Int64, ended: Int64? = nil, exitCode: Int32? = nil, entries: Int = 0,
        current: Int = 0, failed: Int = 0, pending: Int = 0, received: UInt64 = 0, paused: Int = 0
    ) {
        self.identifier = identifier
        self.started = started
        self.ended = ended
        self.exitCode = exitCode
        self.entries = entries
        self.current = current
        self.failed = failed
        self.pending = pending
        self.received = received
        self.paused = paused
    }
}
