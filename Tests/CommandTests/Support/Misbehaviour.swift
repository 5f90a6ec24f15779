internal import TestOrigin
internal import Testing

/// One origin's misbehaviour and how a run, or several, must end.
struct Misbehaviour: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The exit code of each run, in order.
    let codes: [Int32]
    /// The bytes that the cache must hold afterwards; nil for no file at all.
    let body: [UInt8]?
    /// The Range field of each request, in order; nil to leave it open.
    let ranges: [String?]?
    /// The If-Range field of each request, in order; nil for: with the first Range at least.
    let ifRanges: [String?]?
    /// The bytes of the one partial that must be left; nil for any or none.
    let kept: [UInt8]?
    /// What standard error must say in the last run.
    let says: String?
    let options: [String]
    /// What follows the URL in the manifest.
    let settings: String
    /// Path and query of the entry.
    let target: String
    let handler: @Sendable (inout Exchange) -> Void

    init(
        _ description: String, _ code: Int32, _ body: [UInt8]? = nil, then later: [Int32] = [],
        ranges: [String?]? = nil, ifRanges: [String?]? = nil, kept: [UInt8]? = nil, says: String? = nil,
        options: [String] = [],
        settings: String = "", target: String = "/file.bin",
        _ handler: @escaping @Sendable (inout Exchange) -> Void
    ) {
        testDescription = description
        codes = [code] + later
        self.body = body
        self.ranges = ranges
        self.ifRanges = ifRanges
        self.kept = kept
        self.says = says
        self.options = options
        self.settings = settings
        self.target = target
        self.handler = handler
    }

    /// Plays it and compares the exit codes, the cache and the requests.
    func verify(retries: Int) throws {
        let origin = try TestOrigin(handler: handler)
        let url = origin.url + target
        var last: Child.Outcome?
        for code in codes {
            let outcome = try Program.sync([url + settings], ["--retries", "\(retries)"] + options)
            #expect(outcome.code == code, "\(outcome)")
            #expect(outcome.errors.isEmpty == (code == 0), "\(outcome)")
            last = outcome
        }
        if let says, let last { #expect(last.errors.contains(says), "\(last)") }
        if let body {
            #expect(Program.finished == (try cacheNames(of: [url])))
            if let name = Program.finished.first {
                let isSame = try contents(of: "\(Program.cache)/\(name)") == body
                #expect(isSame, "the file's bytes")
            }
            if codes.last == 0 { #expect(Program.partials.isEmpty) }
        } else {
            #expect(Program.finished.isEmpty)
        }
        if let kept {
            #expect(Program.partials.count == 1)
            let isSame = try Program.partials.first.map { name in
                try contents(of: "\(Program.cache)/.syncagent/partial/\(name)") == kept
            }
            #expect(isSame == true, "the partial's bytes")
        }
        let log = origin.log
        #expect(log.count <= 22)
        #expect(log.allSatisfy { $0.request.field("accept-encoding") == "identity" })
        if let ranges { #expect(log.map { $0.request.field("range") } == ranges) }
        if let ifRanges {
            #expect(log.map { $0.request.field("if-range") } == ifRanges)
        } else if ranges != nil, let asked = log.first(where: { $0.request.field("range") != nil }) {
            #expect(asked.request.field("if-range") != nil)
        }
    }
}
