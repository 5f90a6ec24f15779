package import Posix

extension CacheFolder {
    static let damagedName = "damaged"

    /// The key of a published file's name, `<key>[.<1 to 16 letters or digits>]`; nil for a name that is none of ours.
    package static func key(ofFileName name: String) -> Key? {
        let bytes = Array(name.utf8)
        guard bytes.count >= 32, let key = Key(hex: name.prefix(32)) else { return nil }
        let rest = bytes[32...]
        guard !rest.isEmpty else { return key }
        let isExtension =
            rest.first == UInt8(ascii: ".") && (2...17).contains(rest.count)
            && rest.dropFirst().allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
        return isExtension ? key : nil
    }

    /// Calls the body with the name of each file in the cache that is named as only we name files.
    package func forEachFile(_ body: (String, Key) throws(SystemError) -> Void) throws(SystemError) {
        try top.forEachName { name throws(SystemError) in
            if let key = CacheFolder.key(ofFileName: name) { try body(name, key) }
        }
    }

    /// Removes what has a published file's name, a link itself and not what it leads to; false when nothing did. A
    /// folder stays (`EISDIR`).
    @discardableResult
    package func remove(fileNamed name: String) throws(SystemError) -> Bool {
        guard CacheFolder.key(ofFileName: name) != nil else { return false }
        return try top.remove(name)
    }

    /// Keeps what has a published file's name as `.syncagent/damaged/<name>`; of one name the newest is kept. Returns
    /// the path.
    package func setAside(fileNamed name: String) throws(SystemError) -> String? {
        guard CacheFolder.key(ofFileName: name) != nil else { return nil }
        let home = try top.open(folder: CacheFolder.stateName)
        if try home.make(folder: CacheFolder.damagedName, mode: 0o700) { try home.sync() }
        let damaged = try home.open(folder: CacheFolder.damagedName)
        try top.rename(name, into: damaged, as: name)
        try damaged.sync()
        return damaged.path + "/" + name
    }
}
