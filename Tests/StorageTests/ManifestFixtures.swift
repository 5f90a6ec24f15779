import Foundation
import Storage
import Testing

/// A file that goes with its owner.
final class TemporaryFile {
    let path: String

    init(_ bytes: some Sequence<UInt8>) throws {
        path = NSTemporaryDirectory() + "/syncagent-" + UUID().uuidString
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    deinit { unlink(path) }
}

/// What came of reading a manifest.
struct Outcome: Equatable, CustomStringConvertible {
    var entries: [String] = []
    /// `line kind`, for instance `3 badLine`.
    var problems: [String] = []
    var failure: ManifestError?

    var description: String {
        "entries \(entries)\nproblems \(problems)\nfailure \(String(describing: failure))"
    }
}

/// How a manifest's bytes arrive.
struct Arrival: CustomTestStringConvertible {
    let size: Int
    var testDescription: String { "in pieces of \(size)" }

    static let all = [Arrival(size: 1 << 20), Arrival(size: 1), Arrival(size: 7)]
}

func reader(
    _ bytes: [UInt8], _ arrival: Arrival = Arrival.all[0], defaults: ManifestDefaults = .init()
) -> ManifestReader {
    var position = 0
    return ManifestReader(name: "m.txt", defaults: defaults) { (buffer) throws(ManifestError) in
        let count = min(arrival.size, buffer.count, bytes.count - position)
        bytes.withUnsafeBytes {
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[position..<position + count]))
        }
        position += count
        return count
    }
}

/// Reads to the end in batches of a size.
func drain(
    _ reader: consuming ManifestReader, limit: Int = .max, _ problems: inout [ManifestProblem]
) throws(ManifestError) -> [Entry] {
    var entries: [Entry] = []
    while let batch = try reader.next(limit: limit, problems: { problems.append($0) }) {
        entries += batch
    }
    return entries
}

func outcome(_ bytes: [UInt8], _ arrival: Arrival = Arrival.all[0], limit: Int = .max) -> Outcome {
    var outcome = Outcome()
    var reader = reader(bytes, arrival)
    var problems: [ManifestProblem] = []
    do throws(ManifestError) {
        while let batch = try reader.next(limit: limit, problems: { problems.append($0) }) {
            outcome.entries += batch.map(\.written)
        }
    } catch {
        outcome.failure = error
    }
    outcome.problems = problems.map { "\($0.place.line) \($0.kind)" }
    return outcome
}

func entries(_ text: String, defaults: ManifestDefaults = .init()) throws -> [Entry] {
    var problems: [ManifestProblem] = []
    let entries = try drain(reader(Array(text.utf8), defaults: defaults), &problems)
    #expect(problems.isEmpty, "\(problems)")
    return entries
}

func problems(_ text: String) throws -> [ManifestProblem] {
    var problems: [ManifestProblem] = []
    _ = try drain(reader(Array(text.utf8)), &problems)
    return problems
}
