internal import Posix

/// The command line: `[--seconds N] [--seed N] [--entries N] [--program PATH] [--folder DIR]`.
struct SoakOptions {
    private(set) var seconds = 1200.0
    private(set) var seed = UInt64.random(in: 0..<1_000_000)
    private(set) var entries = 400
    /// The program under test; the one beside this by default.
    private(set) var program = ""
    /// Must not exist; removed when nothing was found.
    private(set) var folder = "/tmp/syncagent-soak-\(randomHex(bytes: 4))"

    init(_ arguments: [String]) throws(Finding) {
        var rest = arguments.dropFirst().makeIterator()
        while let name = rest.next() {
            guard let value = rest.next() else { throw Finding("\(name) needs a value") }
            switch name {
            case "--seconds": seconds = try SoakOptions.number(value, Double.init, name)
            case "--seed": seed = try SoakOptions.number(value, { UInt64($0) }, name)
            case "--entries": entries = try SoakOptions.number(value, { Int($0) }, name)
            case "--program": program = value
            case "--folder": folder = value
            default: throw Finding("unknown option \(name)")
            }
        }
        guard (1...100_000).contains(entries), seconds > 0 else {
            throw Finding("--entries or --seconds is no use")
        }
    }

    private static func number<Number>(
        _ text: String, _ read: (String) -> Number?, _ name: String
    ) throws(Finding) -> Number {
        guard let number = read(text) else { throw Finding("\(name) \(text): not a number") }
        return number
    }
}
