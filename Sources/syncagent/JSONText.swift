internal import FoundationEssentials

/// A field that is always there, as `null` when there is nothing: readers need not tell absent from null.
struct Nullable<Value: Encodable>: Encodable {
    let value: Value?

    init(_ value: Value?) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }
}

/// JSON as it goes to standard output.
enum JSONText {
    /// Keys sorted, so that two outputs can be compared line by line; with a line end.
    ///
    /// - Parameter isOneLine: for a stream of objects, one a line.
    static func text(_ value: some Encodable, isOneLine: Bool = false) throws(CommandError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if !isOneLine { encoder.outputFormatting.insert(.prettyPrinted) }
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
        } catch {
            throw CommandError(.inputOutput, "cannot write JSON: \(error)")
        }
    }
}
