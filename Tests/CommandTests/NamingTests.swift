internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Names and targets", .scratch)
struct NamingTests {
    /// What follows the origin in a manifest, and the extension that the file's name gets.
    static let urls: [(written: String, ending: String)] = [
        ("/a.jpg", ".jpg"), ("/a.JPG", ".JPG"), ("/a", ""), ("/", ""), ("", ""),
        ("/maps/api/static?center=31.21,121.40&path=" + String(repeating: "31.2,121.4|", count: 60), ""),
        ("/img/a.jpg" + String(repeating: "x", count: 300), ""),
        ("/img/a." + String(repeating: "\u{E9}", count: 250), ""),
        ("/a.j:pg", ""), ("/.", ""), ("/..", ""), ("/...", ""), ("/.hidden", ""), ("/a.tar.gz", ".gz"),
        ("/?url=http%3A%2F%2Fimg.example%2F1223.jpg&type=webp", ""), ("/p?u=a/b.png", ""), ("/p#a/b.png", ""),
        ("/x/a.%2e%2e%2f%2e%2e%2fetc%2fcron.d%2fx", ""), ("/a.b%00c", ""), ("/a.b%5c..%5cx", ""),
        ("/a.txt%0Aevil", ""), ("/../../../tmp/evil.sh", ".sh"), ("/a.gz/", ""), ("/a.gz;v=1", ""),
    ]

    @Test("sync, path and md5sum agree on every name, and nothing is written beside the cache")
    func everyName() throws {
        let origin = try TestOrigin { $0.respond(200, [], Array($0.request.target.utf8)) }
        let urls = Self.urls.map { origin.url + $0.written }
        let outcome = try Program.sync(urls)
        #expect(outcome.code == 0, "\(outcome)")
        let expected = try cacheNames(of: urls)
        for (row, name) in zip(Self.urls, expected) {
            #expect(name.dropFirst(32) == row.ending, "\(row.written)")
            #expect(name.prefix(32) == name.prefix(32).lowercased())
        }
        #expect(Program.finished == expected.sorted())
        for (url, name) in zip(urls, expected) {
            let told = try Program.run(["path", url, "--cache", Program.cache])
            #expect(told.output == "\(Program.cache)/\(name)\n", "\(told)")
        }
        #expect(names(in: "/tmp").allSatisfy { !$0.contains("evil") })
        let beside = names(in: ScratchFolder.path).filter { !$0.hasPrefix("child-") }
        #expect(Set(beside).isSubset(of: ["cache", "manifest.txt", "md5"]), "\(beside)")
    }

    /// What is written in the manifest, and what stands in the request line.
    static let targets: [(written: String, sent: String)] = [
        ("/new-year/#green?utm=1", "/new-year/"), ("/#", "/"), ("#top", "/"), ("?q#f", "/?q"),
        ("/a%2Fb", "/a%2Fb"), ("/a%20b+c", "/a%20b+c"), ("/%7Euser", "/%7Euser"), ("/a%e9", "/a%e9"),
        ("/a//b", "/a//b"), ("//a", "//a"), ("/a/./b/../c", "/a/./b/../c"),
        ("/x?q=a%26b&c=+", "/x?q=a%26b&c=+"),
        ("/%25", "/%25"), ("/%2525", "/%2525"), ("/100%", "/100%25"), ("/%zz", "/%25zz"),
        ("/\u{E9}", "/%C3%A9"), ("/a?\u{E9}", "/a?%C3%A9"), ("/{a}|b", "/%7Ba%7D%7Cb"),
        ("/a;b=c,d", "/a;b=c,d"),
        ("/a?b?c", "/a?b?c"), ("/a\\b", "/a%5Cb"),
    ]

    @Test("the request names what the manifest says, encoded once and never decoded")
    func everyTarget() throws {
        let origin = try TestOrigin { exchange in
            exchange.respond(200, [], Array(exchange.request.target.utf8))
        }
        let urls = Self.targets.map { origin.url + $0.written }
        let outcome = try Program.sync(urls, ["--jobs", "1"])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(origin.log.map(\.target).sorted() == Self.targets.map(\.sent).sorted())
        for (row, name) in zip(Self.targets, try cacheNames(of: urls)) {
            let isSame = try contents(of: "\(Program.cache)/\(name)") == Array(row.sent.utf8)
            #expect(isSame, "\(row.written)")
        }
    }

    @Test("bytes that are no UTF-8 are encoded, and the name is that of the bytes")
    func noUTF8() throws {
        let origin = try TestOrigin { $0.respond(200, [], [1]) }
        let url = Array("\(origin.url)/caf".utf8) + [0xE9]
        try write(url + [10], to: scratch("list"))
        try write(url, to: scratch("url"))
        let outcome = try Program.run(["sync", scratch("list"), "--cache", Program.cache])
        #expect(outcome.code == 0, "\(outcome)")
        #expect(origin.log.map(\.target) == ["/caf%E9"])
        let sum = Child.run("/usr/bin/md5sum", [scratch("url")])
        #expect(Program.finished == [String(sum.output.prefix(32))])
    }

    @Test("Host names the port that is not the scheme's own, and brackets an IPv6 address")
    func hostField() throws {
        let origin = try TestOrigin { $0.respond(200, [], [1]) }
        #expect(try Program.sync(["http://LocalHost:\(origin.port)/a"]).code == 0)
        #expect(origin.log.map { $0.request.field("host") } == ["localhost:\(origin.port)"])
        let six: TestOrigin
        do throws(SystemError) {
            six = try TestOrigin(host: "::1") { $0.respond(200, [], [1]) }
        } catch {
            // A machine without IPv6 has nothing to tell here.
            return
        }
        #expect(try Program.sync(["http://[::1]:\(six.port)/a"]).code == 0)
        #expect(six.log.map { $0.request.field("host") } == ["[::1]:\(six.port)"])
        let mapped = "[::ffff:127.0.0.1]:\(origin.port)"
        #expect(try Program.sync(["http://\(mapped)/b"]).code == 0)
        #expect(origin.log.last?.request.field("host") == mapped)
    }
}
