/// What is wrong with a piece of a line.
struct ManifestFault: Error {
    let message: String
    /// Without this piece the entry would be another file than its author meant, so it is not fetched at all.
    var refusesEntry = false
}

/// One `name=value` that belongs to an entry or to the defaults.
enum ManifestOption {
    /// Where views and exports put the file: relative, and staying below.
    case out(String)
    case checksum(Checksum)
    /// Bytes.
    case size(UInt64)
    case header(name: String, value: String)
    case maxAge(MaxAge)
    case isImmutable(Bool)
    case priority(Int)
    /// Hashed in the URL's place.
    case id(Key)
    /// An option of aria2 that means nothing here.
    case ignored
    case unknown(String)

    init(name: String, value: UnsafeRawBufferPointer) throws(ManifestFault) {
        switch name {
        case "out": self = .out(try Self.out(value))
        case "checksum":
            guard let text = value.text, let checksum = Checksum(parsing: text) else {
                throw ManifestFault(
                    message:
                        "checksum= wants TYPE=HEX (md5, sha-1, sha-256, sha-384, sha-512) or sha256-BASE64",
                    refusesEntry: true)
            }
            self = .checksum(checksum)
        case "size":
            guard let size = value.digits else {
                throw ManifestFault(message: "size= wants a number of bytes", refusesEntry: true)
            }
            self = .size(size)
        case "header":
            let field = try Self.header(value)
            self = .header(name: field.name, value: field.value)
        case "max-age":
            if value.text == "server" {
                self = .maxAge(.server)
            } else if !value.isEmpty, value.allSatisfy({ $0.isDigit }) {
                // As RFC 9111 1.2.2 has it of a number too great to be held; here a century is for ever.
                self = .maxAge(.seconds(Int64(min(value.digits ?? .max, 3_155_760_000))))
            } else {
                throw ManifestFault(message: "max-age= wants seconds, or the word server")
            }
        case "immutable":
            switch value.text {
            case "true": self = .isImmutable(true)
            case "false": self = .isImmutable(false)
            default: throw ManifestFault(message: "immutable= wants true or false")
            }
        case "priority":
            guard let text = value.text, let priority = Int(text) else {
                throw ManifestFault(message: "priority= wants a whole number")
            }
            self = .priority(priority)
        case "id":
            guard !value.isEmpty else { throw ManifestFault(message: "id= is empty", refusesEntry: true) }
            self = .id(Key(md5Of: value))
        default: self = aria2Options.contains(name) ? .ignored : .unknown(name)
        }
    }

    private static func out(_ value: UnsafeRawBufferPointer) throws(ManifestFault) -> String {
        guard let text = value.text else { throw ManifestFault(message: "out= is no UTF-8") }
        if text.isEmpty { throw ManifestFault(message: "out= is empty") }
        // Cut as the kernel cuts it: to a text a slash that an accent follows would be another letter.
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if parts.first?.isEmpty == true { throw ManifestFault(message: "out= must be relative") }
        if parts.contains(where: { $0.elementsEqual("..".utf8) }) {
            throw ManifestFault(message: "out= must not hold ..")
        }
        if parts.last?.isEmpty == true || parts.last?.elementsEqual(".".utf8) == true {
            throw ManifestFault(message: "out= names a folder, not a file")
        }
        // NAME_MAX and PATH_MAX of Linux, limits.h.
        if parts.contains(where: { $0.count > 255 }) || text.utf8.count > 4095 {
            throw ManifestFault(message: "out= is too long for a file name")
        }
        return text
    }

    /// A request field (RFC 9110 5.1, 5.5) that the transfer does not set itself.
    private static func header(
        _ value: UnsafeRawBufferPointer
    ) throws(ManifestFault) -> (name: String, value: String) {
        guard let colon = value.firstIndex(of: UInt8(ascii: ":")),
            let content = value[colon...].dropFirst().text
        else {
            throw ManifestFault(message: "header= wants Name: value", refusesEntry: true)
        }
        let name = value[..<colon]
        guard !name.isEmpty, name.allSatisfy({ $0.isTokenByte }), let text = name.text else {
            throw ManifestFault(message: "header= has no valid name before the colon", refusesEntry: true)
        }
        let lower = text.lowercased()
        if reservedFields.contains(lower) || lower.hasPrefix("if-") {
            throw ManifestFault(
                message: "header= must not set \(lower), which the transfer decides", refusesEntry: true)
        }
        return (text, content)
    }

    /// Conditions, ranges, codings, framing and the connection are the transfer's own.
    private static let reservedFields: Set<String> = [
        "host", "content-length", "transfer-encoding", "range", "accept-encoding", "connection", "keep-alive",
        "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade", "expect",
    ]
}
