internal import Wire

/// A line by its shape, before anything in it is understood.
enum ManifestLine {
    /// Nothing, or a comment.
    case blank
    /// What stands behind `#!syncagent`.
    case defaults(UnsafeRawBufferPointer)
    /// An indented line without a scheme, trimmed.
    case indented(UnsafeRawBufferPointer)
    /// A line that should begin with a URL, trimmed; `isStray` when the URL is indented.
    case entry(UnsafeRawBufferPointer, isStray: Bool)

    init(_ line: UnsafeRawBufferPointer) {
        let text = line.trimmedLine
        guard let first = text.first else {
            self = .blank
            return
        }
        if first == UInt8(ascii: "#") {
            let word = "#!syncagent"
            let isOurs =
                text.starts(with: word.utf8)
                && (text.count == word.utf8.count || text[word.utf8.count].isBlank)
            self = isOurs ? .defaults(text.part(word.utf8.count...).trimmed) : .blank
            return
        }
        let isIndented = line.first?.isBlank == true
        if isIndented, text.schemeLength == nil {
            self = .indented(text)
        } else {
            self = .entry(text, isStray: isIndented)
        }
    }
}

/// The fields of an entry's line.
struct ManifestFields {
    /// As written.
    private(set) var url: UnsafeRawBufferPointer
    /// Mirrors and options, trimmed, comments cut off.
    private(set) var others: [UnsafeRawBufferPointer] = []

    /// The text is trimmed.
    init(_ text: UnsafeRawBufferPointer) throws(ManifestFault) {
        url = text.part(..<(text.firstIndex(where: \.isBlank) ?? text.count))
        try Self.checkURL(url, whole: text)
        var rest = text.part(url.count...)
        while true {
            let blanks = rest.prefix(while: \.isBlank)
            rest = UnsafeRawBufferPointer(rebasing: rest[blanks.endIndex...])
            if rest.isEmpty || rest.first == UInt8(ascii: "#") { return }
            guard blanks.contains(0x09) else { throw .blankInURL }
            let field = rest.part(..<(rest.firstIndex(of: 0x09) ?? rest.count))
            // In an option's value blanks are its own affair; in a URL they are its end.
            let isMirror = field.schemeLength != nil
            let length = isMirror ? field.firstIndex(where: \.isBlank) ?? field.count : field.count
            others.append(field.part(..<length).trimmed)
            rest = rest.part(length...)
        }
    }

    private static func checkURL(
        _ url: UnsafeRawBufferPointer, whole text: UnsafeRawBufferPointer
    ) throws(ManifestFault) {
        if url.schemeLength != nil { return }
        if url.starts(with: "//".utf8) {
            throw ManifestFault(message: "no scheme: write https: before the //")
        }
        let lower = url.prefix(6).map { $0 | 0x20 }
        if lower.starts(with: "http:/".utf8) || lower.starts(with: "http//".utf8)
            || lower.starts(with: "https:".utf8) || lower.starts(with: "https/".utf8)
        {
            throw ManifestFault(message: "no :// after the scheme: write https://…")
        }
        if text.option != nil { throw ManifestFault(message: "an option must be indented, below its URL") }
        if url.count < text.count { throw ManifestFault(message: "this is no URL") }
        throw ManifestFault(message: "no scheme: write https:// or http:// before it")
    }
}

extension ManifestFault {
    static let blankInURL = ManifestFault(message: "a blank in the URL: write %20", refusesEntry: true)

    /// Control characters are named by their number: Wire refuses them too, but cannot say which.
    static func control(in bytes: UnsafeRawBufferPointer) -> ManifestFault? {
        guard let byte = bytes.first(where: \.isControl) else { return nil }
        return ManifestFault(message: "a control character (\(byte.shown)) in the line", refusesEntry: true)
    }
}

extension Checksum {
    /// What a fragment says of the file, as conda (`#MD5`) and pip (`#sha256=HEX`) write it; nil when it is an
    /// ordinary fragment.
    init?(fragmentOf url: UnsafeRawBufferPointer) {
        guard let mark = url.firstIndex(of: UInt8(ascii: "#")) else { return nil }
        let fragment = url[(mark + 1)...]
        if let sign = fragment.firstIndex(of: UInt8(ascii: "=")) {
            let algorithm: DigestAlgorithm
            switch String(decoding: fragment[..<sign], as: UTF8.self) {
            case "md5": algorithm = .md5
            case "sha1": algorithm = .sha1
            case "sha256": algorithm = .sha256
            case "sha384": algorithm = .sha384
            case "sha512": algorithm = .sha512
            default: return nil
            }
            self.init(algorithm, hex: fragment[(sign + 1)...])
        } else {
            self.init(.md5, hex: fragment)
        }
    }
}
