extension HTTPURL {
    /// User and password of the userinfo, percent-decoded once; nil when the URL has none.
    ///
    /// The first colon divides them (RFC 7617 2); without one the password is empty.
    package var basicCredentials: (user: [UInt8], password: [UInt8])? {
        guard let userinfo = userinfo?.utf8 else { return nil }
        let colon = userinfo.firstIndex(of: 0x3A) ?? userinfo.endIndex
        return (
            PercentEncoding.decode(userinfo[..<colon]), PercentEncoding.decode(userinfo[colon...].dropFirst())
        )
    }
}

/// The value of an Authorization or Proxy-Authorization field (RFC 7617 2).
package func basicAuthorization(user: [UInt8], password: [UInt8]) -> String {
    "Basic " + Base64.encode(user + [0x3A] + password)
}
