internal import CLinux
internal import Posix
internal import TestOrigin

/// The request log: a line when the head of an answer is due, and one when it has ended.
///
/// Lines are written at once and whole (O_APPEND), so a reader that polls the file sees each as it happens.
final class RequestLog: Sendable {
    private let descriptor: Descriptor

    init(descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// `ask GET /x range=bytes=5- if-range="…"`
    func begin(_ exchange: Exchange) { say("ask " + words(exchange) + "\n", to: descriptor.number) }

    /// `GET /x range=bytes=5- if-range="…" status=206 sent=1234`; sent counts the bytes of the body.
    func end(_ exchange: Exchange) {
        say(words(exchange) + " status=\(exchange.status) sent=\(exchange.sent)\n", to: descriptor.number)
    }

    private func words(_ exchange: Exchange) -> String {
        var words = "\(exchange.request.method) \(exchange.request.target)"
        for name in ["range", "if-range", "if-none-match", "if-modified-since"] {
            if let value = exchange.request.field(name) { words += " \(name)=\(value)" }
        }
        return words
    }
}

/// Writes text to a descriptor, whatever becomes of it: a log that cannot be written stops no demo.
func say(_ text: String, to number: Int32) {
    var text = text
    text.withUTF8 { _ = write(number, $0.baseAddress, $0.count) }
}
