internal import Wire

// How rows become parameters and columns, in the order of `LedgerSchema`'s lists of columns.

extension Statement {
    mutating func bind(_ row: EntryRow) throws(DatabaseError) {
        try bind(row.key)
        try bind(row.url)
        try bind(row.fileExtension)
        try bind(copy: row.copy)
        try bind(failure: row.failure)
        try bind(Int64(row.isGone ? 1 : 0))
        try bind(row.remark)
        try bind(Int64(row.restarts))
        try bind(row.copy?.checked)
        try bind(row.trust?.word.rawValue)
        try bind(row.trust?.maxAge?.column)
    }

    /// nil when the key is none, which only a hand other than ours can have written.
    mutating func entryRow() -> EntryRow? {
        guard let key = key() else { return nil }
        var row = EntryRow(
            key: key, url: text(), fileExtension: text(), copy: copyRow(), failure: failureRow(),
            isGone: integer() != 0, remark: optionalText(), restarts: Int(integer()))
        if let checked = optionalInteger() { row.copy?.checked = checked }
        row.trust = trustRow()
        return row
    }

    mutating func bind(_ row: PartialRow) throws(DatabaseError) {
        try bind(row.name)
        try bind(row.key)
        try bind(row.source)
        try bind(validators: row.validators)
        try bind(row.contentCoding)
        try bind(row.mediaType)
        try bind(row.total.map { Int64(clamping: $0) })
        try bind(Int64(clamping: row.written))
        try bind(Int64(clamping: row.durable))
        try bind(row.bootIdentifier)
        try bind(row.mountIdentifier)
        try bind(Int64(row.answers))
        try bind(row.digestState)
        try bind(row.serverDigest?.algorithm.rawValue)
        try bind(row.serverDigest?.bytes)
    }

    /// nil when the key is none, which only a hand other than ours can have written.
    mutating func partialRow() -> PartialRow? {
        let name = text()
        guard let key = key() else { return nil }
        var row = PartialRow(
            name: name, key: key, source: text(), validators: validators(), contentCoding: text(),
            mediaType: optionalText(), total: optionalInteger().map { UInt64(clamping: $0) },
            written: UInt64(clamping: integer()), durable: UInt64(clamping: integer()),
            bootIdentifier: optionalText(), mountIdentifier: optionalText(), answers: Int(integer()),
            digestState: optionalBytes())
        let type = optionalText().flatMap { DigestAlgorithm(rawValue: $0) }
        let bytes = optionalBytes()
        if let type, let bytes, bytes.count == type.length {
            row.serverDigest = Checksum(algorithm: type, bytes: bytes)
        }
        return row
    }

    mutating func runRow() -> RunRow {
        RunRow(
            identifier: integer(), started: integer(), ended: optionalInteger(),
            exitCode: optionalInteger().map { Int32(clamping: $0) }, entries: Int(integer()),
            current: Int(integer()), failed: Int(integer()), pending: Int(integer()),
            received: UInt64(clamping: integer()), paused: Int(integer()))
    }

    private mutating func trustRow() -> TrustRow? {
        let word = optionalInteger().flatMap { TrustRow.Word(rawValue: $0) }
        let maxAge = optionalInteger().map { MaxAge(column: $0) }
        return word.map { TrustRow(word: $0, maxAge: maxAge) }
    }

    private mutating func bind(copy: CopyRow?) throws(DatabaseError) {
        guard let copy else {
            for _ in 0..<copyWidth { try bind(Int64?.none) }
            return
        }
        try bind(Int64(clamping: copy.size))
        try bind(copy.modified)
        try bind(Int64(bitPattern: copy.inode))
        try bind(validators: copy.validators)
        try bind(copy.digest.algorithm.rawValue)
        try bind(copy.digest.bytes)
        try bind(copy.received)
        try bind(copy.freshUntil)
        try bind(Int64(copy.isImmutable ? 1 : 0))
        try bind(copy.mediaType)
    }

    /// nil also when its digest cannot be understood: then the file is not believed, and fetched again.
    private mutating func copyRow() -> CopyRow? {
        if isNull {
            skip(copyWidth)
            return nil
        }
        let size = UInt64(clamping: integer())
        let modified = integer()
        let inode = UInt64(bitPattern: integer())
        let validators = validators()
        let algorithm = DigestAlgorithm(rawValue: text())
        let digest = optionalBytes() ?? []
        let received = integer()
        let freshUntil = optionalInteger()
        let isImmutable = integer() != 0
        let mediaType = optionalText()
        guard let algorithm, digest.count == algorithm.length else { return nil }
        return CopyRow(
            size: size, modified: modified, inode: inode, validators: validators,
            digest: Checksum(algorithm: algorithm, bytes: digest), received: received, freshUntil: freshUntil,
            isImmutable: isImmutable, mediaType: mediaType)
    }

    private mutating func bind(failure: FailureRow?) throws(DatabaseError) {
        guard let failure else {
            for _ in 0..<failureWidth { try bind(Int64?.none) }
            return
        }
        try bind(failure.since)
        try bind(failure.lastTry)
        try bind(Int64(failure.tries))
        try bind(failure.notBefore)
        try bind(Int64(failure.isPermanent ? 1 : 0))
        try bind(failure.reason)
        try bind(failure.message)
        try bind(Int64(bitPattern: failure.fingerprint))
    }

    private mutating func failureRow() -> FailureRow? {
        if isNull {
            skip(failureWidth)
            return nil
        }
        return FailureRow(
            since: integer(), lastTry: integer(), tries: Int(integer()), notBefore: optionalInteger(),
            isPermanent: integer() != 0, reason: text(), message: text(),
            fingerprint: UInt64(bitPattern: integer()))
    }

    private mutating func bind(validators: Validators) throws(DatabaseError) {
        try bind(validators.etag?.text)
        try bind(validators.lastModified)
        try bind(validators.date)
    }

    private mutating func validators() -> Validators {
        Validators(
            etag: optionalText().map { EntityTag($0) }, lastModified: optionalText(), date: optionalInteger())
    }
}

extension MaxAge {
    /// Seconds; the server's word is below 0.
    var column: Int64 {
        switch self {
        case .seconds(let seconds): max(seconds, 0)
        case .server: -1
        }
    }

    init(column: Int64) { self = column < 0 ? .server : .seconds(column) }
}

/// Columns of a copy, and of a failure.
private let copyWidth: Int32 = 12
private let failureWidth: Int32 = 8
