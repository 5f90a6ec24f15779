import Wire

/// URLs: the first line is one, the second a reference to follow from there.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    let lines = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let written = Array(lines[0])
    let reference = String(decoding: lines[lines.count - 1], as: UTF8.self)

    let parsed = parse(written)
    if let text = String(validating: written, as: UTF8.self) {
        let again = Outcome { () throws(URLError) in try HTTPURL(parsing: text) }
        require(parsed == again, "the text is read otherwise than its bytes")
        let masked = HTTPURL.maskedText(text)
        require(bytes(HTTPURL.maskedText(masked)) == bytes(masked), "masking twice masks more: \(masked)")
        let hasScheme = written.indices.contains { written[$0...].starts(with: "://".utf8) }
        let word = HTTPURL.maskedWord(text)
        require(bytes(word) == (hasScheme ? bytes(masked) : written), "the word \(text) is shown as \(word)")
    }
    guard let url = parsed.value else { return 0 }
    check(url)
    checkOrigin(url.origin, of: written)

    let followed = Outcome { () throws(URLError) in try url.resolving(reference) }
    guard let target = followed.value else { return 0 }
    check(target)
    let dots: Set<Substring> = [".", ".."]
    guard dots.isDisjoint(with: target.path.split(separator: "/")) else {
        // Only a reference without a path leaves the path alone.
        require(target.path == url.path, "dot segments are left: \(target.path)")
        return 0
    }
    let twice = Outcome { () throws(URLError) in try target.resolving(whole(target)) }
    require(twice == .value(target), "\(target) does not lead to itself: \(twice)")
    return 0
}

private func parse(_ text: [UInt8]) -> Outcome<HTTPURL, URLError> {
    Outcome { () throws(URLError) in
        try withBytes(text) { bytes throws(URLError) in try HTTPURL(parsing: bytes) }
    }
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The URL in full, secrets included.
private func whole(_ url: HTTPURL) -> String {
    var text = url.origin.scheme.rawValue + "://"
    if let userinfo = url.userinfo { text += userinfo + "@" }
    text += url.origin.authority + url.target
    if let fragment = url.fragment { text += "#" + fragment }
    return text
}

/// What holds for every URL.
private func check(_ url: HTTPURL) {
    let isVisible = { (byte: UInt8) in byte > 0x20 && byte < 0x7F }
    require(url.path.utf8.first == 0x2F && !url.path.utf8.contains(0x3F), "the path \(url.path)")
    require(url.target.utf8.allSatisfy { isVisible($0) && $0 != 0x23 }, "the target \(url.target)")
    require((url.fragment ?? "").utf8.allSatisfy(isVisible), "the fragment \(url.fragment ?? "")")
    require(url.origin.port > 0 && !url.origin.host.isEmpty, "the origin \(url.origin)")
    require(!url.origin.host.utf8.contains { $0 <= 0x20 || $0 == 0x7F }, "the host \(url.origin.host)")
    require(parse(bytes(whole(url))) == .value(url), "\(whole(url)) reads otherwise")

    let suffix = url.fileExtension.utf8
    let isPlain = suffix.dropFirst().allSatisfy {
        Character(Unicode.Scalar($0)).isLetter || (0x30...0x39).contains($0)
    }
    require(
        suffix.isEmpty || (suffix.first == 0x2E && (2...17).contains(suffix.count) && isPlain),
        "the extension")
    let isBare = url.origin.bareHost.utf8.contains { $0 == 0x5B || $0 == 0x5D }
    require(!isBare, "brackets in \(url.origin.bareHost)")
    if url.userinfo != nil {
        let start = url.origin.scheme.rawValue + "://***@"
        require(url.masked.utf8.starts(with: start.utf8), "credentials in \(url.masked)")
        require(url.basicCredentials != nil, "credentials are lost")
    }
    if !url.origin.needsIDNA { checkRequest(url) }
}

/// It can be asked for, in one request line.
private func checkRequest(_ url: HTTPURL) {
    var request: [UInt8] = []
    do throws(RequestError) {
        try appendRequest(to: &request, target: url.target, host: url.origin.authority, fields: [])
    } catch {
        fatalError("no request for \(whole(url)): \(error)")
    }
    let expected = "GET \(url.target) HTTP/1.1\r\nHost: \(url.origin.authority)\r\n\r\n"
    require(request == bytes(expected), "another request for \(whole(url))")
}

/// Scheme, host and port as somebody finds them who knows only the delimiters (RFC 3986 appendix B).
private func checkOrigin(_ origin: Origin, of text: [UInt8]) {
    let parts = text.split(separator: 0x2F, maxSplits: 2, omittingEmptySubsequences: false)
    require(parts.count == 3 && parts[1].isEmpty, "no authority in \(text)")
    var rest = parts[2].prefix { $0 != 0x2F && $0 != 0x3F && $0 != 0x23 }
    if let at = rest.lastIndex(of: 0x40) { rest = rest[(at + 1)...] }
    var port = origin.scheme.defaultPort
    if let colon = rest.lastIndex(of: 0x3A), !rest[colon...].contains(0x5D) {
        let digits = String(decoding: rest[(colon + 1)...], as: UTF8.self)
        if !digits.isEmpty { port = UInt16(digits) ?? 0 }
        rest = rest[..<colon]
    }
    let lower = { (text: ArraySlice<UInt8>) in text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
    require(lower(parts[0]) == bytes(origin.scheme.rawValue + ":"), "another scheme than \(origin)")
    require(lower(rest) == bytes(origin.host) && port == origin.port, "another origin than \(origin)")
}
