/// What was wrong with the arguments or the start, as a sentence.
struct UsageError: Error {
    let message: String
    init(_ message: String) { self.message = message }
}

/// The command line: `--folder DIR --log FILE [--host ADDRESS] [--port N] [--rate BYTES_A_SECOND]
/// [--cut-first BYTES]`.
struct Options: Sendable {
    private(set) var folder = ""
    private(set) var log = ""
    private(set) var host = "127.0.0.1"
    /// 0 takes a free one.
    private(set) var port: UInt16 = 0
    private(set) var rate: Int?
    /// The first GET of each larger file loses its connection after so many bytes of the body.
    private(set) var cutFirst: Int?

    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var rest = arguments.makeIterator()
        while let name = rest.next() {
            guard let value = rest.next() else { throw UsageError("\(name) needs a value") }
            switch name {
            case "--folder": folder = value
            case "--log": log = value
            case "--host": host = value
            case "--port": port = try Options.number(value, name)
            case "--rate": rate = try Options.number(value, name)
            case "--cut-first": cutFirst = try Options.number(value, name)
            default: throw UsageError("unknown option \(name)")
            }
        }
        if folder.isEmpty || log.isEmpty { throw UsageError("--folder and --log are needed") }
    }

    private static func number<Number: FixedWidthInteger>(
        _ text: String, _ name: String
    ) throws(UsageError) -> Number {
        guard let number = Number(text), number >= 0 else {
            throw UsageError("\(name) \(text): not a number")
        }
        return number
    }
}
