internal import CIDN2
package import Wire

extension Origin {
    /// The same origin with a host in ASCII, as the Host field, the resolver and certificates need it.
    /// Throws `.badHost` for a host that IDNA refuses.
    package func ascii() throws(TransportError) -> Origin {
        if host.utf8.allSatisfy({ $0 < 0x80 }) { return self }
        return Origin(scheme: scheme, host: try asciiHost(host), port: port)
    }
}

/// A host name beyond ASCII in the form that DNS knows: IDNA2008 with the mapping of UTS #46, not transitional
/// (RFC 5891, as browsers do). ASCII hosts are returned untouched. Throws `.badHost`.
package func asciiHost(_ host: String) throws(TransportError) -> String {
    if host.utf8.allSatisfy({ $0 < 0x80 }) { return host }
    var output: UnsafeMutablePointer<CChar>?
    let code = idn2_to_ascii_8z(host, &output, Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue))
    defer { if let output { idn2_free(output) } }
    guard code == IDN2_OK.rawValue, let output else {
        throw TransportError(.resolve, host, .badHost(String(cString: idn2_strerror(code))))
    }
    let name = String(cString: output)
    // The mapping turns one character into several, among them `/`, `?` and `%` (for instance U+2100, a/c).
    let isName = name.utf8.allSatisfy { byte in
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E
            || byte == 0x5F
    }
    guard isName, !name.isEmpty else {
        throw TransportError(.resolve, host, .badHost("it stands for \(name), which is no host name"))
    }
    return name
}
