/// One event as logfmt: `time=… level=error event=failed url=… message="two words"`.
enum LogLine {
    /// With the line's end.
    ///
    /// - Parameters:
    ///   - wall: seconds since 1970.
    ///   - fields: name and value, in order; a name is lower-case letters and `_`.
    static func text(
        wall: Int64, _ severity: Console.Severity, _ event: String, _ fields: [(name: String, value: String)]
    ) -> String {
        let level =
            switch severity {
            case .error: "error"
            case .warning: "warn"
            case .info: "info"
            }
        let head = [("time", Formats.time(wall)), ("level", level), ("event", event)]
        return (head + fields).map { "\($0.0)=\(value($0.1))" }.joined(separator: " ") + "\n"
    }

    /// A bare word, or one in quotes with `"` and `\` escaped; never a line end or another control character.
    static func value(_ text: String) -> String {
        let safe = DisplayText.printable(text)
        let isBare =
            !safe.isEmpty
            && safe.unicodeScalars.allSatisfy { $0.value > 0x20 && $0 != "\"" && $0 != "=" && $0 != "\\" }
        if isBare { return safe }
        let escaped = safe.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        return "\"" + escaped + "\""
    }
}
