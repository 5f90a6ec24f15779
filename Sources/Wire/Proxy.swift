/// An HTTP proxy that hands requests on (RFC 9110 3.7), spoken to over plain TCP.
package struct Proxy: Hashable, Sendable {
    /// Where it listens; the scheme is http.
    package let origin: Origin
    /// The value of Proxy-Authorization that is meant for it alone; nil when its URL has no userinfo.
    package let authorization: String?

    package init(origin: Origin, authorization: String? = nil) {
        self.origin = origin
        self.authorization = authorization
    }

    /// Reads a proxy's URL as users write it: without a scheme, http is meant; path and query mean nothing.
    package init(parsing text: String) throws(ProxyError) {
        let written = text.contains("://") ? text : "http://" + text
        let url: HTTPURL
        do throws(URLError) {
            url = try HTTPURL(parsing: written)
        } catch {
            if case .unsupportedScheme(let scheme) = error { throw .unsupportedScheme(scheme) }
            throw .malformed(error)
        }
        guard url.origin.scheme == .http else { throw .unsupportedScheme(url.origin.scheme.rawValue) }
        origin = url.origin
        authorization = url.basicCredentials.map { basicAuthorization(user: $0.user, password: $0.password) }
    }

    /// `proxy host:port`, for messages and as the name that it is known by; nothing secret is in it.
    package var subject: String { "proxy \(origin.host):\(origin.port)" }
}

extension Proxy: CustomStringConvertible {
    /// Its URL without the secret.
    package var description: String {
        "http://\(authorization == nil ? "" : "***@")\(origin.host):\(origin.port)"
    }
}

/// Why a text names no proxy that can be used.
package enum ProxyError: Error, Hashable, Sendable {
    case unsupportedScheme(String)
    case malformed(URLError)
}

extension ProxyError: CustomStringConvertible {
    /// A clause without capital and full stop; no part of the text but the scheme is in it.
    package var description: String {
        switch self {
        case .unsupportedScheme(let scheme):
            "only proxies whose URL begins with http:// are supported, not \(scheme)://"
        case .malformed(let error): "this is no URL of a proxy: \(error)"
        }
    }
}
