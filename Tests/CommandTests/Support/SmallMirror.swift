internal import Posix
internal import TestOrigin
internal import Testing

/// A few small files of a well-behaved origin, and what a cache of them must hold.
struct SmallMirror {
    /// Bytes: nothing, less than a page, a page, more than one read, more than one write.
    static let sizes = [0, 11, 4096, 70_000, 700_000]

    let origin: TestOrigin
    let urls: [String]
    /// The names of their files in a cache.
    let names: [String]

    /// With a rate, in bytes a second, each answer takes its time.
    init(rate: Int? = nil) throws {
        let origin = try TestOrigin { exchange in
            guard let index = Int(exchange.request.path.dropFirst().prefix { $0 != "." }),
                SmallMirror.sizes.indices.contains(index)
            else { return exchange.respond(404) }
            exchange.rate = rate
            exchange.serve(Resource(SmallMirror.body(index), etag: "\"\(index)\""))
        }
        self.origin = origin
        urls = Self.sizes.indices.map { "\(origin.url)/\($0).bin" }
        names = try cacheNames(of: urls)
    }

    static func body(_ index: Int) -> [UInt8] { pattern(seed: UInt64(500 + index), count: sizes[index]) }

    /// Every file is there with its bytes, and nothing else is but the ledger and its lock.
    func expectWhole(
        _ cache: String = Program.cache, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = Set(CommandTests.names(in: cache))
        #expect(
            found == Set(names + [".syncagent", "CACHEDIR.TAG"]), comment, sourceLocation: sourceLocation)
        try expectRight(cache, comment, sourceLocation: sourceLocation)
        for name in names {
            #expect(size(of: "\(cache)/\(name)") != nil, comment, sourceLocation: sourceLocation)
        }
        #expect(
            CommandTests.names(in: "\(cache)/.syncagent/partial").isEmpty, comment,
            sourceLocation: sourceLocation)
    }

    /// What has a name has its bytes.
    func expectRight(
        _ cache: String = Program.cache, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for (index, name) in names.enumerated() {
            guard let found = try contents(of: "\(cache)/\(name)") else { continue }
            let isRight = found == Self.body(index)
            #expect(
                isRight, "\(name), \(found.count) bytes; \(comment?.rawValue ?? "")",
                sourceLocation: sourceLocation)
        }
    }
}
