/// Where a text stops being JSON with comments, for people who look for a missing comma; the decoder of
/// FoundationEssentials only says that something is wrong somewhere.
struct ConfigFault: Error, Equatable {
    /// Counted from 1; the column in bytes.
    let line: Int
    let column: Int
    /// What would have been right there.
    let wanted: String

    /// Nil when nothing is wrong as far as this can see.
    static func find(in bytes: [UInt8]) -> ConfigFault? {
        var scanner = Scanner(bytes: bytes)
        do throws(ConfigFault) {
            try scanner.value(depth: 0)
            try scanner.blanks()
            return scanner.next == nil ? nil : scanner.fault("the end of the file")
        } catch {
            return error
        }
    }

    /// Walks over the text once, front to back.
    private struct Scanner {
        /// Tables within tables; more are none of ours.
        private static let deepest = 64

        let bytes: [UInt8]
        private var place = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        var next: UInt8? { place < bytes.count ? bytes[place] : nil }

        func fault(_ wanted: String) -> ConfigFault {
            let before = bytes[..<place]
            let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
            return ConfigFault(
                line: before.count { $0 == 0x0A } + 1, column: place - start + 1, wanted: wanted)
        }

        /// Blanks, line ends and comments.
        mutating func blanks() throws(ConfigFault) {
            while let byte = next {
                if byte == 0x20 || (0x09...0x0D).contains(byte) {
                    place += 1
                } else if bytes[place...].starts(with: "//".utf8) {
                    place = bytes[place...].firstIndex(of: 0x0A) ?? bytes.count
                } else if bytes[place...].starts(with: "/*".utf8) {
                    let begin = self
                    place += 2
                    while next != nil, !bytes[place...].starts(with: "*/".utf8) { place += 1 }
                    guard next != nil else { throw begin.fault("a comment that ends with */") }
                    place += 2
                } else {
                    return
                }
            }
        }

        mutating func value(depth: Int) throws(ConfigFault) {
            try blanks()
            guard depth < Self.deepest else { throw fault("fewer tables within tables") }
            switch next {
            case UInt8(ascii: "{"): try members(closing: UInt8(ascii: "}"), depth)
            case UInt8(ascii: "["): try members(closing: UInt8(ascii: "]"), depth)
            case UInt8(ascii: "\""), UInt8(ascii: "'"): try string()
            default: try word("a value")
            }
        }

        private mutating func members(closing: UInt8, _ depth: Int) throws(ConfigFault) {
            let isTable = closing == UInt8(ascii: "}")
            let end = isTable ? "}" : "]"
            place += 1
            while true {
                try blanks()
                if next == closing {
                    place += 1
                    return
                }
                if isTable {
                    if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") {
                        try string()
                    } else {
                        try word("a name or \(end)")
                    }
                    try blanks()
                    guard next == UInt8(ascii: ":") else { throw fault("a colon") }
                    place += 1
                }
                try value(depth: depth + 1)
                try blanks()
                if next == UInt8(ascii: ",") {
                    place += 1
                } else if next != closing {
                    throw fault("a comma or \(end)")
                }
            }
        }

        private mutating func string() throws(ConfigFault) {
            let begin = self
            let quote = next
            place += 1
            while let byte = next, byte != 0x0A {
                place += 1
                if byte == quote { return }
                if byte == UInt8(ascii: "\\"), next != nil { place += 1 }
            }
            throw begin.fault("a text whose quotes end on its line")
        }

        /// A number, `true`, `null`, or a name without quotes.
        private mutating func word(_ wanted: String) throws(ConfigFault) {
            let begin = place
            while let byte = next {
                let isPart =
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte) || byte >= 0x80 || "+-._$".utf8.contains(byte)
                guard isPart else { break }
                place += 1
            }
            if place == begin { throw fault(wanted) }
        }
    }
}
