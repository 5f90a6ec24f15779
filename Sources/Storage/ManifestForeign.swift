/// What a file is that begins like this, and what to do; nil when nothing speaks against a manifest.
func foreignFormat(_ bytes: UnsafeRawBufferPointer) -> String? {
    let marks: [(start: [UInt8], why: String)] = [
        ([0xFF, 0xFE], "UTF-16 text: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)"),
        ([0xFE, 0xFF], "UTF-16 text: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)"),
        ([0x7F, 0x45, 0x4C, 0x46], "an ELF program: a manifest is text, one URL a line"),
        ([0x1F, 0x8B], "gzip data within gzip data: decompress it once (gzip -d)"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "xz data: decompress it first (xz -d)"),
        ([0x28, 0xB5, 0x2F, 0xFD], "zstd data: decompress it first (zstd -d)"),
        ([0x42, 0x5A, 0x68], "bzip2 data: decompress it first (bzip2 -d)"),
        ([0x50, 0x4B, 0x03, 0x04], "a zip archive: unpack it first (unzip)"),
        ([0x25, 0x50, 0x44, 0x46, 0x2D], "a PDF document: a manifest is text, one URL a line"),
        (
            [0x53, 0x51, 0x4C, 0x69, 0x74, 0x65, 0x20],
            "an SQLite database: a manifest is text, one URL a line"
        ),
    ]
    if let mark = marks.first(where: { bytes.starts(with: $0.start) }) { return mark.why }
    // Without a byte order mark UTF-16 shows by the zero beside every ASCII letter.
    guard bytes.count >= 4 else { return nil }
    let zeros = (0..<4).map { bytes[$0] == 0 }
    if zeros == [false, true, false, true] || zeros == [true, false, true, false] {
        return "UTF-16 text: convert it to UTF-8 (iconv -f UTF-16LE or UTF-16BE, -t UTF-8)"
    }
    return nil
}

/// Recognises aria2's configuration file, whose lines look like options that somebody forgot to indent.
///
/// One such line among URLs is just a bad line, so their reports wait here until something else turns up.
struct ManifestConfiguration {
    static let why =
        "an aria2 configuration file, which names no URLs: give aria2's input file, or one URL a line"
    /// So many in a row need no further proof.
    static let enough = 1000

    private var held: [ManifestProblem] = []
    private var namesAria2 = false
    private var isRuledOut = false

    /// Takes the report of a line without a URL; false when the file is no configuration. `option` is the name in
    /// `name=value`, nil for other lines.
    mutating func hold(_ problem: ManifestProblem, option: String?) -> Bool {
        guard !isRuledOut, let option else { return false }
        if aria2Options.contains(option) || aria2GlobalOptions.contains(option) { namesAria2 = true }
        held.append(problem)
        if held.count >= Self.enough, !namesAria2 { isRuledOut = true }
        return true
    }

    /// Something else was in the file: it is none.
    mutating func release(_ problems: (ManifestProblem) -> Void) {
        isRuledOut = true
        held.forEach(problems)
        held = []
    }

    /// At the end of the file: there was nothing else.
    var isWhole: Bool { namesAria2 && !held.isEmpty && !isRuledOut }
    var isFull: Bool { namesAria2 && held.count >= Self.enough && !isRuledOut }
}
