internal import FoundationEssentials

/// A value of the configuration file, JSON with comments, trailing commas and unquoted keys (JSON5).
enum ConfigValue: Decodable, Hashable {
    case null
    case bool(Bool)
    /// As it would be typed behind an option.
    case number(String)
    case text(String)
    case list([ConfigValue])
    case table([String: ConfigValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        /// Asking is the only way to learn what stands there.
        func attempt<Value: Decodable>(_ type: Value.Type) -> Value? {
            do {
                return try container.decode(type)
            } catch {
                return nil
            }
        }
        if container.decodeNil() {
            self = .null
        } else if let value = attempt(Bool.self) {
            self = .bool(value)
        } else if let value = attempt(Int64.self) {
            self = .number("\(value)")
        } else if let value = attempt(Double.self) {
            self = .number("\(value)")
        } else if let value = attempt(String.self) {
            self = .text(value)
        } else if let value = attempt([ConfigValue].self) {
            self = .list(value)
        } else {
            self = .table(try container.decode([String: ConfigValue].self))
        }
    }

    /// Reads a whole file; one that holds nothing is an empty table. Throws a clause that says where it is wrong.
    init(parsing bytes: [UInt8]) throws(ConfigSyntaxError) {
        if bytes.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) {
            self = .table([:])
            return
        }
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            self = try decoder.decode(ConfigValue.self, from: Data(bytes))
        } catch {
            let fault = ConfigFault.find(in: bytes)
            throw ConfigSyntaxError(
                place: fault.map { ":\($0.line):\($0.column)" } ?? "",
                message: fault.map { "expected \($0.wanted)" } ?? "it is no JSON")
        }
    }
}

/// Why a configuration file is no JSON.
struct ConfigSyntaxError: Error {
    /// `:line:column`, or empty when nobody knows.
    let place: String
    let message: String
}
