/// Which proxy is asked for which origin: what curl(1) and others make of `http_proxy`, `https_proxy`, `all_proxy`
/// and `no_proxy`.
package struct ProxyRules: Hashable, Sendable {
    /// For origins with the scheme http.
    package var http: Proxy?
    /// For origins with the scheme https.
    package var https: Proxy?
    /// Who is asked without a proxy.
    package var exceptions: ProxyExceptions

    /// No proxy for anybody, unless told otherwise.
    package init(
        http: Proxy? = nil, https: Proxy? = nil, exceptions: ProxyExceptions = ProxyExceptions(parsing: "")
    ) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// The proxy for an origin, whose host is in ASCII; nil for none.
    package func proxy(for origin: Origin) -> Proxy? {
        let proxy =
            switch origin.scheme {
            case .http: http
            case .https: https
            }
        guard let proxy, !exceptions.contain(origin) else { return nil }
        return proxy
    }
}

/// A proxy that was asked for but cannot be used.
package struct ProxyRulesError: Error, Hashable, Sendable {
    /// The variable, or the option.
    package let name: String
    package let cause: ProxyError
}

extension ProxyRules {
    /// Reads option and environment.
    ///
    /// The option stands above the proxies of the environment, empty or `none` for no proxy at all; `no_proxy` holds
    /// for it too. Of a variable in both cases the lower one counts. `HTTP_PROXY` is not believed under CGI, where
    /// a client can set it by a field named Proxy; RFC 3875 4.1.12 has REQUEST_METHOD always set there.
    ///
    /// - Parameters:
    ///   - option: the value of `--proxy`; nil when it was not given.
    ///   - variable: a variable's value; nil when it is not set or empty.
    package init(
        option: String?, variable: (_ name: String) -> String?
    ) throws(ProxyRulesError) {
        self.init()
        if option == "" || option == "none" { return }
        exceptions = ProxyExceptions(parsing: variable("no_proxy") ?? variable("NO_PROXY") ?? "")
        // What is not used need not be understood.
        if exceptions.containAll { return }
        if let option {
            let proxy = try Self.proxy(option, named: "--proxy")
            (http, https) = (proxy, proxy)
            return
        }
        let isCGI = variable("REQUEST_METHOD") != nil
        http = try Self.first(
            of: ["http_proxy"] + (isCGI ? [] : ["HTTP_PROXY"]) + ["all_proxy", "ALL_PROXY"], variable)
        https = try Self.first(of: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"], variable)
    }

    private static func first(
        of names: [String], _ variable: (_ name: String) -> String?
    ) throws(ProxyRulesError) -> Proxy? {
        for name in names {
            if let value = variable(name) { return try proxy(value, named: name) }
        }
        return nil
    }

    private static func proxy(_ text: String, named name: String) throws(ProxyRulesError) -> Proxy {
        do throws(ProxyError) {
            return try Proxy(parsing: text)
        } catch {
            throw ProxyRulesError(name: name, cause: error)
        }
    }
}
