package import Posix

/// Something in a manifest that is not as it should be; reading goes on.
package struct ManifestProblem: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// All entries are read as their author meant; worth a look.
        case warning
        /// The line, or a part of it, cannot be read.
        case badLine
        /// The line can be read, but what it asks for cannot be done.
        case refusedEntry
    }

    package let place: Place
    package let kind: Kind
    /// The key of a refused entry.
    package let key: Key?
    /// Lower case, without the place; no URL, header value or other possible secret is in it.
    package let message: String

    package init(_ kind: Kind, at place: Place, key: Key? = nil, _ message: String) {
        self.kind = kind
        self.place = place
        self.key = key
        self.message = message
    }

    package var isWarning: Bool { kind == .warning }
    /// `file:line: message`.
    package var description: String { "\(place): \(message)" }
}

extension Place: CustomStringConvertible {
    /// `file:line`, as compilers write it.
    package var description: String { "\(manifest):\(line)" }
}

/// Why a manifest cannot be read on.
package enum ManifestError: Error, Hashable, Sendable {
    /// The manifest's name, and what the kernel said.
    case unreadable(String, SystemError)
    case isFolder(String)
    /// It can be read, but is no manifest; `why` says what was found and what to do.
    case unusable(String, why: String)
    /// The stop was raised.
    case stopped(String)
}

/// What an entry gets that does not say it itself; `#!syncagent` lines change it for what follows.
package struct ManifestDefaults: Sendable {
    package var maxAge: MaxAge?
    package var isImmutable = false
    package var priority = 0
    /// Fields for every entry; an entry's own field of the same name replaces one.
    package var headers: [(name: String, value: String)] = []

    package init() {}
}
