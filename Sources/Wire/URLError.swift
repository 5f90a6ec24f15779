/// Why a text is no URL that can be asked for.
package enum URLError: Error, Sendable, Hashable {
    case noScheme
    /// Lower case, without the colon, at most 32 bytes of it.
    case unsupportedScheme(String)
    case noAuthority
    case controlCharacter
    case emptyHost
    case blankInHost
    case backslashInHost
    case percentInHost
    /// The first offender.
    case characterInHost(Character)
    case hostNotUTF8
    /// A label is empty or longer than 63 bytes, or the name longer than 253 (RFC 1035 2.3.4).
    case labelLength
    /// The last label is a number, so only four decimal octets may stand there.
    case malformedIPv4
    case malformedIPv6
    case zoneIdentifier
    case malformedPort
}

extension URLError: CustomStringConvertible {
    /// A clause without capital and full stop.
    package var description: String {
        switch self {
        case .noScheme: "no scheme: the URL must begin with http:// or https://"
        case .unsupportedScheme(let scheme): "the scheme \(scheme) is not http or https"
        case .noAuthority: "no // after the scheme"
        case .controlCharacter: "a control character in the URL"
        case .emptyHost: "no host in the URL"
        case .blankInHost: "a blank in the host"
        case .backslashInHost: "a backslash in the host: write /"
        case .percentInHost: "a percent sign in the host"
        case .characterInHost(let character): "no host has a \(character) in it"
        case .hostNotUTF8: "the host is not UTF-8"
        case .labelLength: "a part of the host is empty or too long"
        case .malformedIPv4: "the host looks like an IPv4 address but is not four numbers of 0 to 255"
        case .malformedIPv6: "the host is no IPv6 address"
        case .zoneIdentifier: "an IPv6 zone has no place in a URL"
        case .malformedPort: "the port is no number of 1 to 65535"
        }
    }
}
