/// Text that comes from manifests and servers, made fit for a terminal.
enum DisplayText {
    /// The text with everything that would steer a terminal, or turn the reading direction around, as `\u{1b}`.
    static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: steers) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if steers(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        // Line and paragraph separators; embeddings, overrides and isolates of the bidirectional algorithm.
        case 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Columns that the text takes on a terminal: 0 for marks that sit on the letter before, 2 for East Asian
    /// wide and most emoji (UAX 11), 1 for the rest.
    static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch value {
        case 0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x2E80...0x303E,
            0x3041...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
            0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF,
            0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// The text cut to at most so many columns, the cut shown by `…`.
    static func fitted(_ text: String, columns: Int) -> String {
        guard width(text) > columns else { return text }
        guard columns > 0 else { return "" }
        var result = ""
        var used = 0
        for character in text {
            let next = width(String(character))
            if used + next > columns - 1 { break }
            result.append(character)
            used += next
        }
        return result + "…"
    }

    /// The text cut in its middle, since a URL tells most at its two ends.
    static func fittedInMiddle(_ text: String, columns: Int) -> String {
        guard width(text) > columns else { return text }
        guard columns > 2 else { return fitted(text, columns: columns) }
        let tailRoom = (columns - 1) / 2
        var tail: [Character] = []
        var used = 0
        for character in text.reversed() {
            let next = width(String(character))
            if used + next > tailRoom { break }
            tail.append(character)
            used += next
        }
        // One column is for the mark, which `fitted` puts at the end of the head.
        return fitted(text, columns: columns - used) + String(tail.reversed())
    }

    /// The text with blanks behind it up to so many columns.
    static func padded(_ text: String, columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(text)))
    }

    /// The text with blanks before it up to so many columns.
    static func aligned(_ text: String, columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - width(text))) + text
    }
}
