package import Posix
internal import Wire

/// Reads a manifest as a stream, in memory that does not grow with it.
///
/// A bad line is reported and stops no other. A bad `checksum=`, `size=`, `header=` or `id=` refuses its entry,
/// since without it the entry would be another file than its author meant; a bad `out=`, `priority=`, `max-age=`
/// or `immutable` is reported and left out.
package struct ManifestReader: ~Copyable {
    /// As the user gave it.
    package let name: String
    /// Entries that were returned.
    package private(set) var entriesRead = 0
    package private(set) var badLines = 0
    package private(set) var refusedEntries = 0

    private var lines: ManifestLines
    private var keys = KeyMaker()
    private var defaults: ManifestDefaults
    /// Hash of the `#!syncagent` lines so far: they belong to the fingerprints of what follows.
    private var defaultsHash: UInt64 = 0
    /// The entry that options below still belong to.
    private var draft: ManifestDraft?
    /// The entry above was bad; its options are not worth a word.
    private var isBelowBadEntry = false
    private var ready: [Entry] = []
    private var hasBegun = false
    private var isAtEnd = false
    private var failure: ManifestError?
    private var unknownNames: Set<String> = []
    private var configuration = ManifestConfiguration()

    /// Opens a file, a FIFO, or standard input by `-`. Reading blocks until data, the end or the stop comes.
    package init(path: String, defaults: ManifestDefaults = .init(), stop: Stop? = nil) throws(ManifestError)
    {
        let file = try ManifestFile(path: path, stop: stop)
        self.init(name: path, defaults: defaults) { (buffer) throws(ManifestError) in
            try file.read(into: buffer)
        }
    }

    /// Reads from wherever `fill` takes the bytes; it returns how many it wrote, 0 at the end.
    package init(
        name: String, defaults: ManifestDefaults = .init(),
        fill: @escaping (UnsafeMutableRawBufferPointer) throws(ManifestError) -> Int
    ) {
        self.name = name
        self.defaults = defaults
        lines = ManifestLines(ManifestSource(name: name, fill: fill))
    }

    /// Reads on until `limit` entries, at least one, are complete, or the manifest ends; nil at the end. An entry
    /// is complete when a line follows that is none of its options. Entries that were complete before an error are
    /// returned first, and the error is thrown by the next call.
    package mutating func next(
        limit: Int, problems: (ManifestProblem) -> Void
    ) throws(ManifestError) -> [Entry]? {
        do throws(ManifestError) {
            if let failure { throw failure }
            try begin()
            while !isAtEnd, ready.count < max(limit, 1) { try step(problems) }
        } catch {
            failure = error
            if ready.isEmpty { throw error }
        }
        if ready.isEmpty { return nil }
        let batch = ready
        ready = []
        entriesRead += batch.count
        return batch
    }

    private mutating func begin() throws(ManifestError) {
        if hasBegun { return }
        let first = try lines.peek(8)
        if let why = foreignFormat(first) { throw .unusable(name, why: why) }
        if first.starts(with: [0xEF, 0xBB, 0xBF]) { lines.drop(3) }
        hasBegun = true
    }

    private mutating func step(_ problems: (ManifestProblem) -> Void) throws(ManifestError) {
        guard let line = try lines.next() else {
            if configuration.isWhole { throw .unusable(name, why: ManifestConfiguration.why) }
            close(problems)
            configuration.release(problems)
            isAtEnd = true
            return
        }
        if line.isTooLong {
            try refuseBinary(line.bytes)
            close(problems)
            isBelowBadEntry = true
            report(.badLine, "the line is longer than \(ManifestLines.maximumLength) bytes", problems)
            return
        }
        switch ManifestLine(line.bytes) {
        case .blank: break
        case .defaults(let text): readDefaults(text, problems)
        case .indented(let text):
            try refuseBinary(text)
            if draft != nil {
                readOption(text, problems)
            } else if !isBelowBadEntry, text.option != nil {
                report(.badLine, "an option without a URL above it", problems)
            } else if !isBelowBadEntry {
                readEntry(text, isStray: false, problems)
            }
        case .entry(let text, let isStray):
            try refuseBinary(text)
            readEntry(text, isStray: isStray, problems)
        }
        if configuration.isFull { throw .unusable(name, why: ManifestConfiguration.why) }
    }

    /// The open entry is complete.
    private mutating func close(_ problems: (ManifestProblem) -> Void) {
        guard let finished = draft else { return }
        draft = nil
        guard let contradiction = finished.contradiction else {
            ready.append(finished.finish())
            return
        }
        refusedEntries += 1
        problems(
            ManifestProblem(
                .refusedEntry, at: finished.place, key: finished.key,
                "the entry contradicts itself: \(contradiction)"))
    }

    private mutating func readEntry(
        _ text: UnsafeRawBufferPointer, isStray: Bool, _ problems: (ManifestProblem) -> Void
    ) {
        close(problems)
        isBelowBadEntry = true
        do throws(ManifestFault) {
            let fields = try ManifestFields(text)
            let url = fields.url
            if let fault = ManifestFault.control(in: url) { throw fault }
            let key = keys.key(of: url)
            let parsed: HTTPURL
            do throws(URLError) {
                parsed = try HTTPURL(parsing: url)
            } catch {
                if case .unsupportedScheme = error {
                    refusedEntries += 1
                    report(.refusedEntry, key: key, error.description, problems)
                    return
                }
                throw ManifestFault(message: error.description)
            }
            draft = ManifestDraft(
                url: parsed, written: url, key: key, place: place, defaults: defaults,
                fingerprint: defaultsHash)
            isBelowBadEntry = false
            configuration.release(problems)
            if isStray {
                report(.warning, "the URL is indented; it is taken as an entry of its own", problems)
            }
            for field in fields.others { try readField(field, problems) }
        } catch {
            draft = nil
            isBelowBadEntry = true
            let problem = ManifestProblem(.badLine, at: place, error.message)
            badLines += 1
            let option = text.schemeLength == nil ? text.option?.name : nil
            if configuration.hold(problem, option: option) { return }
            configuration.release(problems)
            problems(problem)
        }
    }

    /// A mirror or an option behind a TAB.
    private mutating func readField(
        _ field: UnsafeRawBufferPointer, _ problems: (ManifestProblem) -> Void
    ) throws(ManifestFault) {
        if let fault = ManifestFault.control(in: field) { throw fault }
        guard field.schemeLength != nil else {
            guard field.option != nil else {
                throw ManifestFault(
                    message: "after a TAB neither a mirror (scheme://…) nor an option (name=value)")
            }
            readOption(field, problems)
            return
        }
        do throws(URLError) {
            draft?.add(mirror: try HTTPURL(parsing: field), written: field)
        } catch {
            // Lists made for other programs name ftp and rsync mirrors too; the others will do.
            if case .unsupportedScheme = error {
                report(.warning, "a mirror is left out: \(error.description)", problems)
            } else {
                report(.badLine, "a mirror is left out: \(error.description)", problems)
            }
        }
    }

    private mutating func readOption(_ text: UnsafeRawBufferPointer, _ problems: (ManifestProblem) -> Void) {
        do throws(ManifestFault) {
            if let byte = text.first(where: { $0.isControl && $0 != 0x09 }) {
                throw ManifestFault(
                    message: "a control character (\(byte.shown)) in an option", refusesEntry: true)
            }
            guard let (name, value) = text.option else {
                throw ManifestFault(message: "neither an option (name=value) nor a URL")
            }
            let option = try ManifestOption(name: name, value: value)
            if case .unknown(let name) = option { reportUnknown(name, problems) }
            draft?.apply(option, written: text, line: lines.number)
        } catch {
            if error.refusesEntry {
                draft = nil
                isBelowBadEntry = true
            }
            report(
                .badLine, error.refusesEntry ? error.message + "; the entry is left out" : error.message,
                problems)
        }
    }

    /// `key=value` after key=value; a `header=` takes the rest of the line, since blanks belong to it.
    private mutating func readDefaults(_ text: UnsafeRawBufferPointer, _ problems: (ManifestProblem) -> Void)
    {
        defaultsHash = hash(text, seed: defaultsHash)
        var rest = text
        do throws(ManifestFault) {
            if let fault = ManifestFault.control(in: text) { throw fault }
            while !rest.isEmpty {
                let isHeader = rest.prefix(7).map { $0 | 0x20 }.elementsEqual(
                    "header=".utf8.map { $0 | 0x20 })
                let length = isHeader ? rest.count : rest.firstIndex(where: \.isBlank) ?? rest.count
                guard let (name, value) = rest.part(..<length).option else {
                    throw ManifestFault(message: "#!syncagent wants key=value")
                }
                rest = rest.part(length...).trimmed
                switch try ManifestOption(name: name, value: value) {
                case .maxAge(let age): defaults.maxAge = age
                case .isImmutable(let flag): defaults.isImmutable = flag
                case .priority(let number): defaults.priority = number
                case .header(let name, let value):
                    defaults.headers.removeAll { $0.name.lowercased() == name.lowercased() }
                    defaults.headers.append((name, value))
                case .ignored: break
                case .unknown(let name): reportUnknown(name, problems)
                case .out, .checksum, .size, .id:
                    throw ManifestFault(message: "\(name)= belongs to one entry and cannot be a default")
                }
            }
        } catch {
            report(.badLine, error.message, problems)
        }
    }

    /// Once for each name; a file of nothing but unknown names is bounded too.
    private mutating func reportUnknown(_ name: String, _ problems: (ManifestProblem) -> Void) {
        guard unknownNames.count < 256, unknownNames.insert(name).inserted else { return }
        report(.warning, "the option \(name) is unknown and ignored", problems)
    }

    private var place: Place { Place(manifest: name, line: lines.number) }

    private mutating func report(
        _ kind: ManifestProblem.Kind, key: Key? = nil, _ message: String,
        _ problems: (ManifestProblem) -> Void
    ) {
        if kind == .badLine { badLines += 1 }
        configuration.release(problems)
        problems(ManifestProblem(kind, at: place, key: key, message))
    }

    /// Before any entry, a line with control characters and no URL means that this is no text at all.
    private func refuseBinary(_ text: UnsafeRawBufferPointer) throws(ManifestError) {
        guard entriesRead == 0, ready.isEmpty, draft == nil, text.schemeLength == nil else { return }
        guard let byte = text.first(where: { $0 < 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return }
        throw .unusable(
            name,
            why:
                "binary data (byte \(byte.shown) in line \(lines.number)): a manifest is text, one URL a line"
        )
    }
}
