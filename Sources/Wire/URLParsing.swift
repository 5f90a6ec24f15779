extension HTTPURL {
    /// Reads an absolute URL (RFC 3986 4.3, RFC 9110 4.2); nothing around it is trimmed.
    package init(parsing bytes: UnsafeRawBufferPointer) throws(URLError) {
        let reference = try URLReference(bytes)
        try self.init(reference)
    }

    /// Reads an absolute URL from the UTF-8 bytes of the text.
    package init(parsing text: String) throws(URLError) {
        self = try withBytes(of: text) { bytes throws(URLError) in try HTTPURL(parsing: bytes) }
    }

    private init(_ reference: URLReference) throws(URLError) {
        guard let range = reference.scheme else { throw .noScheme }
        let name = String(decoding: reference[range].prefix(32).map(\.lowercased), as: UTF8.self)
        guard let scheme = Scheme(rawValue: name) else {
            // `host:8080/path` and `example.org:path` parse as a scheme, but nobody means one.
            let next = reference[reference.path].first
            let looksLikeHost = next?.isDigit == true || name.utf8.contains(0x2E)
            throw reference.authority == nil && looksLikeHost ? .noScheme : .unsupportedScheme(name)
        }
        guard let authority = reference.authority else { throw .noAuthority }
        try self.init(scheme: scheme, authority: Authority(reference[authority]), reference)
    }

    private init(scheme: Scheme, authority: Authority, _ reference: URLReference) {
        let path = PercentEncoding.encode(reference[reference.path], as: .path)
        self.init(
            origin: Origin(scheme: scheme, host: authority.host, port: authority.port ?? scheme.defaultPort),
            userinfo: authority.userinfo,
            path: path.isEmpty ? "/" : path,
            query: reference.query.map { PercentEncoding.encode(reference[$0], as: .query) },
            fragment: reference.fragment.map { PercentEncoding.encode(reference[$0], as: .fragment) })
    }

    /// Where a Location leads from here (RFC 3986 5.2.2, RFC 9110 10.2.2).
    ///
    /// Dot segments of the reference are resolved, blanks around it dropped, other stray bytes encoded. A reference
    /// that names an authority brings its own userinfo or none; one without a fragment keeps this URL's.
    package func resolving(_ reference: String) throws(URLError) -> HTTPURL {
        let text = Array(reference.utf8)
        let isPadding: (UInt8) -> Bool = { $0.isBlank || $0 == .carriageReturn || $0 == .lineFeed }
        let start = text.firstIndex { !isPadding($0) } ?? text.endIndex
        let end = text.lastIndex { !isPadding($0) }.map { $0 + 1 } ?? start
        return try withBytes(of: String(decoding: text[start..<end], as: UTF8.self)) {
            bytes throws(URLError) in
            try resolving(URLReference(bytes))
        }
    }

    private func resolving(_ reference: URLReference) throws(URLError) -> HTTPURL {
        var url: HTTPURL
        if reference.scheme != nil {
            url = try HTTPURL(reference)
            url.path = Self.removingDotSegments(url.path)
        } else if let authority = reference.authority {
            url = try HTTPURL(scheme: origin.scheme, authority: Authority(reference[authority]), reference)
            url.path = Self.removingDotSegments(url.path)
        } else {
            url = self
            url.fragment = reference.fragment.map { PercentEncoding.encode(reference[$0], as: .fragment) }
            let written = PercentEncoding.encode(reference[reference.path], as: .path)
            if !written.isEmpty {
                url.path = Self.removingDotSegments(written.hasPrefix("/") ? written : folder + written)
                url.query = nil
            }
            if let query = reference.query {
                url.query = PercentEncoding.encode(reference[query], as: .query)
            }
        }
        url.fragment = url.fragment ?? fragment
        return url
    }

    /// The path up to its last slash, which a relative path is appended to (RFC 3986 5.2.3).
    private var folder: Substring {
        let end = path.utf8.lastIndex(of: 0x2F).map { path.utf8.index(after: $0) } ?? path.startIndex
        return path[..<end]
    }

    /// RFC 3986 5.2.4 for a path that begins with a slash.
    private static func removingDotSegments(_ path: String) -> String {
        var kept: [Substring.UTF8View] = []
        let segments = path.utf8.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            if segment.elementsEqual(".".utf8) {
                if isLast { kept.append(""[...].utf8) }
            } else if segment.elementsEqual("..".utf8) {
                _ = kept.popLast()
                if isLast { kept.append(""[...].utf8) }
            } else {
                kept.append(segment)
            }
        }
        return "/" + kept.map { String(Substring($0)) }.joined(separator: "/")
    }
}
