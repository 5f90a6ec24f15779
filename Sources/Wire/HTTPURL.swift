/// An http or https URL, split as RFC 3986 3 does, ready for the wire.
///
/// Nothing is decoded or normalised but the case of scheme and host: the path and the query hold what a request
/// target needs, with bytes that may not stand there percent-encoded.
package struct HTTPURL: Hashable, Sendable {
    package var origin: Origin
    /// `user:password` as written, still percent-encoded; nil when there is none.
    package var userinfo: String?
    /// Begins with `/`; percent-encoded; dot segments as written.
    package var path: String
    /// Without the `?`; nil when there is none (an empty query is not nil).
    package var query: String?
    /// Without the `#`; never sent (RFC 9110 7.1).
    package var fragment: String?

    package init(
        origin: Origin, userinfo: String? = nil, path: String, query: String? = nil, fragment: String? = nil
    ) {
        self.origin = origin
        self.userinfo = userinfo
        self.path = path
        self.query = query
        self.fragment = fragment
    }

    /// Origin-form of the request target (RFC 9112 3.2.1).
    package var target: String {
        guard let query else { return path }
        return path + "?" + query
    }

    /// Absolute-form of the request target, as proxies want it (RFC 9112 3.2.2); userinfo has no place in it
    /// (RFC 9110 4.2.4).
    package var absoluteTarget: String { "\(origin)\(target)" }
}
