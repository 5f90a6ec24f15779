import Storage
import Testing

@Suite struct ChecksumTests {
    static let md5 = "900150983cd24fb0d6963f7d28e17f72"
    static let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d"
    static let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test(arguments: [
        ("md5=" + md5, "md5=" + md5),
        ("MD5=" + md5.uppercased(), "md5=" + md5),
        ("sha-1=" + sha1, "sha-1=" + sha1),
        ("sha1=" + sha1, "sha-1=" + sha1),
        ("sha-256=" + sha256, "sha-256=" + sha256),
        ("SHA256=" + sha256.uppercased(), "sha-256=" + sha256),
        ("sha-384=" + String(repeating: "0f", count: 48), "sha-384=" + String(repeating: "0f", count: 48)),
        ("sha512=" + String(repeating: "Aa", count: 64), "sha-512=" + String(repeating: "aa", count: 64)),
        ("sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "sha-256=" + sha256),
        ("SHA256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "sha-256=" + sha256),
        ("sha384-" + String(repeating: "A", count: 64), "sha-384=" + String(repeating: "0", count: 96)),
        (
            "sha512-" + String(repeating: "A", count: 86) + "==",
            "sha-512=" + String(repeating: "0", count: 128)
        ),
    ])
    func isRead(text: String, description: String) {
        #expect(Checksum(parsing: text)?.description == description)
    }

    @Test(arguments: [
        "", "=", "-", "md5", "md5=", sha256, "md5=" + sha256, "sha-256=" + md5,
        "sha-256=" + sha256.dropLast(),
        "sha-256=" + sha256 + "0", "md5=g00150983cd24fb0d6963f7d28e17f72", "crc32=00000000", "sha-3=" + md5,
        "xxh3-128=" + md5, "xxh3128=" + md5, " md5=" + md5, "md5= " + md5,
        "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0",
        "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIA!a0=",
        "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", "sha256-AAAA",
        "sha-256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
    ])
    func isRefused(text: String) {
        #expect(Checksum(parsing: text) == nil)
    }
}
