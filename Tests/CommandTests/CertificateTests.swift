internal import Posix
internal import TestOrigin
internal import Testing

@Suite("Certificates", .scratch)
struct CertificateTests {
    /// A server's certificate and the name that it is asked by.
    struct Server: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var names = "IP:127.0.0.1,DNS:localhost"
        var isExpired = false
        var isSelfSigned = false
        var host = "127.0.0.1"
        /// What the reason must hold; nil when it is to be trusted.
        let says: String?
    }

    static let servers = [
        Server(testDescription: "by address", says: nil),
        Server(testDescription: "by name", host: "localhost", says: nil),
        Server(
            testDescription: "for a name, asked by address", names: "DNS:localhost", says: "not for 127.0.0.1"
        ),
        Server(
            testDescription: "for an address, asked by name", names: "IP:127.0.0.1", host: "localhost",
            says: "not for localhost"),
        Server(
            testDescription: "for another name", names: "DNS:right.example", host: "localhost",
            says: "not for"),
        Server(
            testDescription: "an address written as a name", names: "DNS:127.0.0.1", says: "not for 127.0.0.1"
        ),
        Server(testDescription: "expired", isExpired: true, says: "expired"),
        Server(testDescription: "signed by itself", isSelfSigned: true, says: "signed by itself"),
    ]

    @Test("a certificate", arguments: servers)
    func trust(_ server: Server) throws {
        let authority = try Authority(
            names: server.names, isExpired: server.isExpired, isSelfSigned: server.isSelfSigned)
        let nginx = try Nginx(authority: authority)
        try write("hello", to: nginx.files + "/a.txt")
        let address = nginx.url.replacing("127.0.0.1", with: server.host)
        let url = address.replacing("https://", with: "https://user:S3CRET@") + "/a.txt"
        let outcome = try Program.sync([url], ["--cacert", authority.certificate, "--retries", "0"])
        if let says = server.says {
            #expect(outcome.code == 1, "\(outcome)")
            #expect(outcome.errors.contains(says), "\(outcome)")
            #expect(Program.finished.isEmpty)
            // Not even the URL is sent to whom we do not know.
            #expect(try nginx.log().isEmpty)
        } else {
            #expect(outcome.code == 0, "\(outcome)")
            #expect(Program.finished == (try cacheNames(of: [url])))
        }
    }

    @Test("another name of the same server has to prove itself, whatever connection is open")
    func noSharing() throws {
        let authority = try Authority(names: "DNS:localhost")
        let nginx = try Nginx(authority: authority)
        for name in ["a.txt", "b.txt", "c.txt"] { try write(name, to: "\(nginx.files)/\(name)") }
        let named = nginx.url.replacing("127.0.0.1", with: "localhost")
        let urls = ["\(named)/a.txt", "\(nginx.url)/b.txt", "\(named)/c.txt"]
        let outcome = try Program.sync(
            urls, ["--cacert", authority.certificate, "--retries", "0", "--jobs", "1"])
        #expect(outcome.code == 1, "\(outcome)")
        let names = try cacheNames(of: urls)
        #expect(Program.finished == [names[0], names[2]].sorted())
        #expect(try nginx.log().map(\.target).sorted() == ["/a.txt", "/c.txt"])
    }

    @Test("https to a server that speaks http says so")
    func noTLS() throws {
        let origin = try TestOrigin { $0.respond(200, [], [1]) }
        let outcome = try Program.sync(["https://127.0.0.1:\(origin.port)/a.txt"], ["--retries", "0"])
        #expect(outcome.code == 75, "\(outcome)")
        #expect(outcome.errors.lowercased().contains("tls"), "\(outcome)")
        #expect(Program.finished.isEmpty)
    }

    @Test(
        "authorities that cannot be read end the run before it begins",
        arguments: ["missing.pem", "empty.pem"])
    func authorities(_ name: String) throws {
        try write("", to: scratch("empty.pem"))
        let outcome = try Program.sync(["https://127.0.0.1:1/a.txt"], ["--cacert", scratch(name)])
        #expect(outcome.code == 78, "\(outcome)")
        #expect(outcome.errors.contains(name), "\(outcome)")
    }
}
