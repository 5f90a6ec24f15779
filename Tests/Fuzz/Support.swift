import Wire

/// Says what is wrong and dies, which is how a fuzzer learns of it.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard condition else { fatalError(message()) }
}

/// A number that hangs on every byte of the input (FNV-1a): what else an entry varies is chosen by it.
func choice(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
}

/// The input in one piece, byte by byte, and in two pieces at a place that it chooses.
func cuts(_ bytes: UnsafeRawBufferPointer) -> [[Int]] {
    let place = Int(choice(bytes) >> 32) % (bytes.count + 1)
    return [[bytes.count], Array(repeating: 1, count: bytes.count), [place, bytes.count - place]]
}

/// What a parser made of its input; texts are compared byte by byte, not by their look.
enum Outcome<Value: Equatable, Failure: Error & Equatable>: Equatable {
    case value(Value)
    case error(Failure)

    init(_ body: () throws(Failure) -> Value) {
        do throws(Failure) { self = .value(try body()) } catch { self = .error(error) }
    }

    var value: Value? {
        switch self {
        case .value(let value): value
        case .error: nil
        }
    }
}

/// Passes a typed error through the closure that lends the bytes.
func withBytes<Value, Failure: Error>(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
) throws(Failure) -> Value {
    let result: Result<Value, Failure> = bytes.withUnsafeBytes { bytes in
        do throws(Failure) { return .success(try body(bytes)) } catch { return .failure(error) }
    }
    return try result.get()
}

/// The input as text; nil when it is no UTF-8.
func text(_ bytes: UnsafeRawBufferPointer) -> String? { String(validating: bytes, as: UTF8.self) }

/// A field's value as a parser gets it at work: out of a head that came byte by byte. Nil when no head has such a
/// value in one line.
func receivedField(_ value: UnsafeRawBufferPointer) -> String? {
    if value.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) { return nil }
    let head = Array("HTTP/1.1 200 OK\r\nx:".utf8) + value + Array("\r\n\r\n".utf8)
    return head.withUnsafeBytes { head in
        var scanner = HeadScanner()
        do throws(MessageError) {
            for length in 1..<head.count {
                let end = try scanner.end(in: UnsafeRawBufferPointer(rebasing: head[..<length]))
                require(end == nil, "the head ends too early")
            }
            require(try scanner.end(in: head) == head.count, "the head does not end")
            let parsed = try ResponseHead(parsing: head)
            require(parsed.fields.map(\.name) == ["x"], "one field was sent: \(parsed.fields)")
            return parsed.value("x")
        } catch {
            fatalError("a good head is refused: \(error)")
        }
    }
}
