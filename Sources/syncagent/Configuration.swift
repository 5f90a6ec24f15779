/// Brings together what command line, environment and configuration file say.
enum Configuration {
    /// Gives the arguments the layers below the command line: the environment, the profile, the rest of the file. What
    /// none of them says is as the table of options has it.
    ///
    /// - Parameter environment: a variable's value; nil when it is not set or empty.
    static func apply(
        to arguments: inout Arguments, environment: (String) -> String?
    ) throws(CommandError) {
        let rows = OptionTable.rows(for: arguments.command).filter(\.isSetting)
        var layers = [try SettingLayer(of: rows, environment: environment)]
        let profile = arguments.value(.profile) ?? environment(OptionName.profile.variable)
        let file = try ConfigFile.find(
            named: arguments.value(.config) ?? environment(OptionName.config.variable),
            environment: environment)
        if let profile {
            guard let file else {
                throw CommandError(
                    .configuration,
                    "no profile \(quoted(profile)), since there is no configuration file; name one with --config"
                )
            }
            guard let section = file.profiles[profile] else {
                let nearest = Suggestion.nearest(to: profile, among: file.profiles.keys.sorted())
                let next = nearest.map { "; did you mean \($0)?" } ?? ""
                throw CommandError(
                    .configuration, "\(file.path): there is no profile \(quoted(profile))\(next)")
            }
            layers.append(
                try layer(section, rows, .profile(profile, file: file.path), arguments, environment))
        }
        if let file {
            layers.append(try layer(file.common, rows, .file(file.path), arguments, environment))
        }
        try check(layers, rows)
        arguments.layers = layers
        arguments.configuration = file?.path
        arguments.chosenProfile = profile
        guard arguments.operands.isEmpty, arguments.command.takesManifests,
            let layer = layers.first(where: { !$0.manifests.isEmpty })
        else { return }
        arguments.operands = layer.manifests.map { Argument($0) }
        arguments.operandsOrigin = layer.manifestsOrigin
    }

    /// Only what the command needs is looked up: `status` runs where a token of `sync` is not to be had.
    private static func layer(
        _ section: ConfigFile.Section, _ rows: [OptionRow], _ origin: SettingOrigin, _ arguments: Arguments,
        _ environment: (String) -> String?
    ) throws(CommandError) -> SettingLayer {
        func text(_ source: ConfigSource, _ subject: String) throws(CommandError) -> String {
            do throws(ConfigSourceError) {
                return try source.text(environment)
            } catch {
                throw CommandError(.configuration, "\(subject) \(error.message)")
            }
        }
        var layer = SettingLayer()
        for row in rows {
            guard let sources = section.options[row.name] else { continue }
            var values: [String] = []
            for source in sources { values.append(try text(source, origin.subject(row.name))) }
            layer.set(row.name, values, origin)
        }
        guard arguments.command.takesManifests else { return layer }
        for source in section.manifests { layer.manifests.append(try text(source, origin.words)) }
        layer.manifestsOrigin = origin
        return layer
    }

    private static func check(_ layers: [SettingLayer], _ rows: [OptionRow]) throws(CommandError) {
        for layer in layers {
            for row in rows where !row.choices.isEmpty {
                for value in layer.values[row.name] ?? [] where !row.choices.contains(value) {
                    let origin = layer.origins[row.name] ?? .standard
                    throw CommandError(
                        origin.refusal,
                        "\(origin.subject(row.name)) is one of \(row.choices.joined(separator: ", ")), "
                            + "not \(quoted(value))")
                }
            }
        }
    }
}
