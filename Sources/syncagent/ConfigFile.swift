internal import Posix

/// The configuration file: settings for every run, and profiles, each with settings of its own. A setting has the name
/// of its option; `manifests` are what is mirrored when no manifest is named.
struct ConfigFile {
    /// What one table of the file sets.
    struct Section {
        var manifests: [ConfigSource] = []
        /// An option that is switched off is there, without a value.
        var options: [OptionName: [ConfigSource]] = [:]
    }

    let path: String
    let common: Section
    let profiles: [String: Section]

    /// Bytes; a longer file is none of ours.
    private static let largest = 1 << 20
    private static let manifestsKey = "manifests"
    private static let profilesKey = "profiles"

    /// The file that is named, else the user's, else the machine's, else nil.
    ///
    /// - Parameters:
    ///   - named: by `--config` or `$SYNCAGENT_CONFIG`.
    ///   - environment: a variable's value; nil when it is not set or empty.
    static func find(
        named: String?, environment: (String) -> String?, system: String = "/etc/syncagent/config.json"
    ) throws(CommandError) -> ConfigFile? {
        let home = environment("HOME")
        if let named {
            guard let bytes = try contents(of: named) else {
                throw CommandError(.configuration, "cannot read \(named): no such file or directory")
            }
            return try ConfigFile(path: named, bytes: bytes, home: home)
        }
        // The XDG base directory specification: a relative path is invalid and to be ignored.
        let base = environment("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
        let own = (base ?? home.map { $0 + "/.config" }).map { $0 + "/syncagent/config.json" }
        for path in [own, system] {
            if let path, let bytes = try contents(of: path) {
                return try ConfigFile(path: path, bytes: bytes, home: home)
            }
        }
        return nil
    }

    /// Nil when there is no such file.
    private static func contents(of path: String) throws(CommandError) -> [UInt8]? {
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try wholeFile(at: path, limit: largest)
        } catch {
            if error.isMissing { return nil }
            throw CommandError(
                .configuration,
                "cannot read \(path): \(error.reason); --config names another file, /dev/null for none")
        }
        guard let bytes else {
            throw CommandError(.configuration, "cannot read \(path): it is too long for a configuration")
        }
        return bytes
    }

    /// - Parameter home: what `~/` stands for.
    init(path: String, bytes: [UInt8], home: String?) throws(CommandError) {
        let value: ConfigValue
        do throws(ConfigSyntaxError) {
            value = try ConfigValue(parsing: bytes)
        } catch {
            throw CommandError(.configuration, "\(path)\(error.place): \(error.message)")
        }
        guard case .table(var table) = value else {
            throw CommandError(.configuration, "\(path): it must be one object, { … }")
        }
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        // A file in the root has an empty folder's name, and one in the working folder none at all.
        let reader = SectionReader(
            folder: path.utf8.contains(0x2F) ? folder + "/" : "", home: home.map { $0 + "/" })
        var profiles: [String: Section] = [:]
        switch table.removeValue(forKey: Self.profilesKey) {
        case .table(let tables)?:
            for (name, value) in tables.sorted(by: { $0.key < $1.key }) {
                let place = "\(path): profile \(name)"
                guard case .table(let table) = value else {
                    throw CommandError(.configuration, "\(place): it must be an object, { … }")
                }
                profiles[name] = try reader.section(table, place, others: [])
            }
        case .null?, nil: break
        default:
            throw CommandError(.configuration, "\(path): profiles must be an object, { \"NAME\": { … } }")
        }
        self.path = path
        self.profiles = profiles
        common = try reader.section(table, path, others: [Self.profilesKey])
    }

    /// Reads one table.
    private struct SectionReader {
        /// Where relative paths begin; ends with a slash, or is empty.
        let folder: String
        let home: String?

        /// - Parameters:
        ///   - place: for messages.
        ///   - others: names beside those of settings that may stand here.
        func section(
            _ table: [String: ConfigValue], _ place: String, others: [String]
        ) throws(CommandError) -> Section {
            var section = Section()
            for (key, value) in table.sorted(by: { $0.key < $1.key }) {
                if key == ConfigFile.manifestsKey {
                    section.manifests = try texts(value, "\(place): \(key)").map { path($0) }
                    continue
                }
                guard let row = OptionTable.rows.first(where: { $0.name.rawValue == key }), row.isSetting
                else {
                    let known =
                        OptionTable.rows.filter(\.isSetting).map(\.name.rawValue) + others
                        + [ConfigFile.manifestsKey]
                    let next = Suggestion.nearest(to: key, among: known).map { "; did you mean \($0)?" }
                    throw CommandError(
                        .configuration, "\(place): there is no setting \(quoted(key))\(next ?? "")")
                }
                section.options[row.name] = try sources(value, row, "\(place): \(key)")
            }
            return section
        }

        private func sources(
            _ value: ConfigValue, _ row: OptionRow, _ place: String
        ) throws(CommandError) -> [ConfigSource]? {
            if value == .null { return nil }
            guard row.argument != nil else {
                guard case .bool(let isOn) = value else {
                    throw CommandError(.configuration, "\(place) is true or false")
                }
                return isOn ? [.literal("")] : []
            }
            if row.name == .header, case .table(let fields) = value {
                var sources: [ConfigSource] = []
                for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
                    sources.append(try source(value, "\(place) \(name)", prefix: name + ": "))
                }
                return sources
            }
            if row.isRepeatable, case .list = value { return try texts(value, place) }
            let source = try source(value, place, prefix: "")
            return [row.isPath ? path(source) : source]
        }

        private func texts(_ value: ConfigValue, _ place: String) throws(CommandError) -> [ConfigSource] {
            guard case .list(let values) = value else { return [try source(value, place, prefix: "")] }
            var sources: [ConfigSource] = []
            for value in values { sources.append(try source(value, place, prefix: "")) }
            return sources
        }

        /// A text or a number; `{"env": NAME}` or `{"file": PATH}`, with a `prefix` or none.
        private func source(
            _ value: ConfigValue, _ place: String, prefix: String
        ) throws(CommandError) -> ConfigSource {
            switch value {
            case .text(let text), .number(let text): return .literal(prefix + text)
            case .table(let table):
                var words: [String: String] = [:]
                for (key, value) in table {
                    if case .text(let text) = value { words[key] = text }
                }
                let full = prefix + (words["prefix"] ?? "")
                let keys = Set(table.keys).subtracting(["prefix"])
                if words.count == table.count, keys == ["env"], let name = words["env"] {
                    return .variable(name, prefix: full)
                }
                if words.count == table.count, keys == ["file"], let path = words["file"] {
                    return .file(expanded(path), prefix: full)
                }
            case .null, .bool, .list: break
            }
            throw CommandError(
                .configuration, "\(place) is a text, {\"env\": NAME} or {\"file\": PATH}")
        }

        private func path(_ source: ConfigSource) -> ConfigSource {
            guard case .literal(let text) = source else { return source }
            return .literal(expanded(text))
        }

        /// Relative paths are meant from where the file is: cron and systemd start programs elsewhere.
        private func expanded(_ path: String) -> String {
            if let home, path.hasPrefix("~/") { return home + path.dropFirst(2) }
            if path.isEmpty || path == "-" || path.hasPrefix("/") || path.contains("://") { return path }
            return folder + path
        }
    }
}
