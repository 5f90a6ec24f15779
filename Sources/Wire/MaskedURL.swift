extension HTTPURL: CustomStringConvertible {
    /// For people and logs: `***` stands for the userinfo and for the values of parameters that look like a secret.
    package var masked: String {
        var text = origin.scheme.rawValue + "://"
        if let userinfo { text += userinfo + "@" }
        text += origin.authority + target
        if let fragment { text += "#" + fragment }
        return Self.maskedText(text)
    }

    /// The masked form, so that no interpolation ever shows a secret.
    package var description: String { masked }

    /// Scheme, host, port and path: what remains the same when a signed link is signed anew.
    package var source: String { "\(origin)\(path)" }

    /// Masks a URL as somebody wrote it, also one that cannot be parsed; what is in doubt is masked.
    package static func maskedText(_ writtenURL: String) -> String {
        let text = maskingUserinfo(Array(writtenURL.utf8))
        let mark = text.firstIndex { $0 == 0x3F || $0 == 0x23 } ?? text.endIndex
        var output = text[..<mark]
        appendMasked(text[mark...], to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Masks a word that may be a URL, or a URL behind something else; any other is left as it is.
    package static func maskedWord(_ word: String) -> String {
        firstSchemeEnd(in: Array(word.utf8)[...]) == nil ? word : maskedText(word)
    }

    /// A URL may hold others, for instance behind that of an archive or a proxy, and each of them has an authority.
    private static func maskingUserinfo(_ text: [UInt8]) -> [UInt8] {
        // Behind the last @ there is nothing to find, and a long text is not searched again and again.
        guard let last = text.lastIndex(of: 0x40) else { return text }
        var output: [UInt8] = []
        var rest = text[...]
        var start = authorityStart(of: text)
        while start <= last {
            output.append(contentsOf: rest[..<start])
            rest = rest[start...]
            if let at = userinfoEnd(of: rest) {
                output.append(contentsOf: "***@".utf8)
                rest = rest[(at + 1)...]
            }
            start = firstSchemeEnd(in: rest) ?? text.endIndex
        }
        return output + rest
    }

    /// The index behind the first `://`: searched in bytes, since what follows may combine with the slash.
    private static func firstSchemeEnd(in text: ArraySlice<UInt8>) -> Int? {
        text.indices.first { text[$0...].starts(with: "://".utf8) }.map { $0 + 3 }
    }

    private static func authorityStart(of text: [UInt8]) -> Int {
        let colon = text.firstIndex { $0 == 0x3A || $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? text.endIndex
        if text[colon...].starts(with: "://".utf8) { return colon + 3 }
        return text.starts(with: "//".utf8) ? 2 : 0
    }

    /// The index of the `@` behind the userinfo.
    private static func userinfoEnd(of text: ArraySlice<UInt8>) -> Int? {
        let end = text.firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? text.endIndex
        if let at = text[..<end].lastIndex(of: 0x40) { return at }
        // A password with a delimiter in it is cut there, and its head stands where a port would.
        guard text.first != 0x5B, let colon = text[..<end].firstIndex(of: 0x3A) else { return nil }
        guard !text[(colon + 1)..<end].allSatisfy(\.isDigit) else { return nil }
        return text.lastIndex(of: 0x40)
    }

    private static func appendMasked(_ text: ArraySlice<UInt8>, to output: inout ArraySlice<UInt8>) {
        var start = text.startIndex
        for value in secretValues(in: text) {
            output.append(contentsOf: text[start..<value.lowerBound])
            output.append(contentsOf: "***".utf8)
            start = value.upperBound
        }
        output.append(contentsOf: text[start...])
    }

    /// The values in query and fragment that are masked, as they are sent.
    package var secretValues: [String] {
        let text = Array(((query.map { "?" + $0 } ?? "") + (fragment.map { "#" + $0 } ?? "")).utf8)
        return Self.secretValues(in: text[...]).map { String(decoding: text[$0], as: UTF8.self) }
    }

    /// Parameters begin after `?`, `#`, `&` or `;`; a secret one reaches to the next `&` or `#`.
    private static func secretValues(in text: ArraySlice<UInt8>) -> [Range<Int>] {
        var values: [Range<Int>] = []
        var nameStart = text.startIndex
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            index += 1
            switch byte {
            case 0x3F, 0x23, 0x26, 0x3B:
                nameStart = index
            case 0x3D where isSecret(text[nameStart..<index - 1]):
                let end = text[index...].firstIndex { $0 == 0x26 || $0 == 0x23 } ?? text.endIndex
                values.append(index..<end)
                index = end
            default:
                break
            }
        }
        return values
    }

    private static let secretNames: Set<String> = [
        "sig", "key", "pass", "pwd", "auth", "authorization", "bearer", "policy", "keypairid", "hmac", "jwt",
        "session",
        "sid", "st", "hdnea", "hdnts", "hdntl", "verify", "ticket", "googleaccessid",
    ]
    private static let secretEndings = [
        "signature", "token", "secret", "password", "passwd", "passphrase", "credential", "credentials",
        "apikey",
        "accesskey", "secretkey", "privatekey", "authkey", "accesskeyid", "sessionid", "sessid",
    ]

    /// Compared without case, separators and escapes: `X-Amz-Signature`, `x_amz_signature` and `api%5Fkey` alike.
    private static func isSecret(_ name: ArraySlice<UInt8>) -> Bool {
        let decoded = PercentEncoding.decode(name).map(\.lowercased)
        let letters = String(decoding: decoded.filter(\.isAlphanumeric), as: UTF8.self)
        if secretNames.contains(letters) || secretEndings.contains(where: letters.hasSuffix) { return true }
        // `monkey` is none, `account_key` is one.
        let lastWord = decoded.split { !$0.isAlphanumeric }.last ?? []
        return lastWord.elementsEqual("key".utf8) || lastWord.elementsEqual("sig".utf8)
    }
}
