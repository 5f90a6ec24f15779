package import Wire

/// Where in which manifest something stands.
package struct Place: Hashable, Sendable {
    /// The manifest's path as the user gave it; `-` is standard input.
    package let manifest: String
    /// Counted from 1.
    package let line: Int

    package init(manifest: String, line: Int) {
        self.manifest = manifest
        self.line = line
    }
}

/// How long an answer is trusted without asking again.
package enum MaxAge: Hashable, Sendable {
    case seconds(Int64)
    /// What Cache-Control or Expires of the answer say.
    case server
}

/// One URL to mirror, as a manifest asks for it.
package struct Entry: Sendable {
    package let key: Key
    /// What stands behind the key in the file's name: `.gz`, or nothing.
    package let fileExtension: String
    /// The URL as written; bytes that are no UTF-8 are replaced, so it is for people only. Credentials in clear.
    package let written: String
    package let url: HTTPURL
    package var mirrors: [HTTPURL] = []
    package var out: String?
    package var checksums: [Checksum] = []
    /// Bytes.
    package var size: UInt64?
    package var headers: [(name: String, value: String)] = []
    package var maxAge: MaxAge?
    package var isImmutable = false
    /// Higher goes first; 0 unless told.
    package var priority = 0
    /// Of all that the manifest says of the entry, its place excepted: a changed line changes it.
    package var fingerprint: UInt64 = 0
    package let place: Place

    package init(key: Key, fileExtension: String, written: String, url: HTTPURL, place: Place) {
        self.key = key
        self.fileExtension = fileExtension
        self.written = written
        self.url = url
        self.place = place
    }

    /// The published file's name.
    package var fileName: String { key.hex + fileExtension }
}
