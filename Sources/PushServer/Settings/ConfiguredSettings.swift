package import PushModel

/// The settings that were given, by name. Command line options override environment variables, which override the file.
package struct ConfiguredSettings: Sendable, Equatable {
    private var values: [String: Setting.Value] = [:]
    /// The flows listed in the file.
    private(set) var flows: [ServedFlow] = []
    /// Warnings about environment variables that look like misspelt settings. They are not errors: Kubernetes, for example, sets
    /// `PUSHHOST_PORT` and others for a service of this name.
    package let misspelt: [String]

    /// Reads all sources. Throws `settings.invalid` with every fault and its location, also in the details as `faults`.
    package init(
        file: (name: String, text: String)?, environment: [String: String], flags: [String: String]
    ) throws(PushError) {
        var faults: [String] = []
        misspelt = environment.sorted { $0.key < $1.key }.compactMap(Self.suspicion)
        if let file {
            let settings = SettingsFile(text: file.text)
            for (setting, value) in settings.values { values[setting.name] = value }
            flows = settings.flows
            faults += settings.faults.map { fault in "\(file.name)\(fault.line.map { ":\($0)" } ?? ""): \(fault.text)" }
        }
        for setting in ServerSettings.all {
            if let text = environment[setting.environmentName] { read(text, setting, setting.environmentName, &faults) }
        }
        for setting in ServerSettings.all {
            if let text = flags[setting.name] { read(text, setting, setting.optionName, &faults) }
        }
        faults += settings.contradictions
        guard let first = faults.first else { return }
        throw PushError(
            "settings.invalid", faults.count == 1 ? first : "\(faults.count) settings are invalid\n  " + faults.joined(separator: "\n  "),
            hint: "pushhost reference settings lists every setting", status: 400,
            details: ["faults": .array(faults.map(JSON.string))])
    }

    private static func suspicion(_ name: String, _ value: String) -> String? {
        let prefix = "PUSHHOST_"
        // First: every variable of the environment comes here, and the names of all settings are expensive.
        guard name.hasPrefix(prefix) else { return nil }
        let names = ServerSettings.all.map { $0.environmentName.dropFirst(prefix.count) }
        let rest = name.dropFirst(prefix.count)
        guard !names.contains(rest), !value.hasPrefix("tcp://") else { return nil }
        let near = names.first { $0.hasSuffix("_\(rest)") }.map(String.init) ?? nearest(String(rest), in: names.map(String.init))
        return near.map { "unknown setting in the variable \(name); did you mean \(prefix)\($0)?" }
    }

    private mutating func read(_ text: String, _ setting: Setting, _ place: String, _ faults: inout [String]) {
        if let value = setting.value(text) {
            values[setting.name] = value
        } else {
            faults.append("\(place): invalid value \"\(text)\"; must be \(setting.form)")
        }
    }

    /// The complete settings, with defaults.
    package var settings: ServerSettings {
        var settings = ServerSettings()
        for setting in ServerSettings.all {
            if let value = values[setting.name] { setting.apply(&settings, value) }
        }
        settings.flows = flows
        return settings
    }

    /// The settings whose effective value differs. A setting explicitly set to its default has not changed.
    func changes(in other: ConfiguredSettings) -> [Setting] {
        ServerSettings.all.filter { setting in
            func alone(_ value: Setting.Value?) -> ServerSettings {
                var settings = ServerSettings()
                if let value { setting.apply(&settings, value) }
                return settings
            }
            return alone(values[setting.name]) != alone(other.values[setting.name])
        }
    }

    /// Adopts the values of settings that can change while the server runs.
    mutating func takeLive(from other: ConfiguredSettings) {
        flows = other.flows
        for setting in ServerSettings.all where setting.isReloadable { values[setting.name] = other.values[setting.name] }
    }
}

extension ServerSettings {
    /// Reads all sources. Throws `settings.invalid` with every fault and its location.
    init(
        file: (name: String, text: String)?, environment: [String: String], flags: [String: String]
    ) throws(PushError) {
        self = try ConfiguredSettings(file: file, environment: environment, flags: flags).settings
    }

    /// Settings that are incomplete or contradict each other.
    fileprivate var contradictions: [String] {
        var faults: [String] = []
        if (certificate == nil) != (key == nil) {
            faults.append("tls.certificate and tls.key belong together: set both or none")
        }
        if port == nil, tlsPort == nil {
            faults.append("listen.port and listen.tls_port are both none: set at least one")
        }
        faults +=
            backend.contradictions + apns.contradictions + wns.contradictions + webPush.contradictions + delivery.contradictions
            + feedback.contradictions
        if isLab, simulators != nil {
            faults.append("lab and simulators cannot be combined: set the one that hubs should send to")
        }
        return faults
    }
}
