import PushCore

/// What a server was told, by the names of its settings: the file's, under those of the environment, under those of the command line.
struct GivenSettings: Sendable, Equatable {
    private var values: [String: Setting.Value] = [:]
    /// Those that the file lists.
    private(set) var flows: [ServedFlow] = []
    /// Variables of the environment that look like a setting and are none. They are no faults: whoever starts the server may set
    /// variables of his own for it, as Kubernetes does with `PUSHHOST_PORT` and others for a service of this name.
    let misspelt: [String]

    /// Throws `settings.invalid` with every fault, each with where it stands; they are in the details as `faults`, too.
    init(
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
            "settings.invalid", faults.count == 1 ? first : "\(faults.count) settings are wrong\n  " + faults.joined(separator: "\n  "),
            hint: "pushhost reference settings lists every setting", status: 400,
            details: ["faults": .array(faults.map(JSON.string))])
    }

    private static func suspicion(_ name: String, _ value: String) -> String? {
        let prefix = "PUSHHOST_"
        let names = ServerSettings.all.map { $0.environmentName.dropFirst(prefix.count) }
        let rest = name.dropFirst(prefix.count)
        guard name.hasPrefix(prefix), !names.contains(rest), !value.hasPrefix("tcp://") else { return nil }
        let near = names.first { $0.hasSuffix("_\(rest)") }.map(String.init) ?? nearest(String(rest), in: names.map(String.init))
        return near.map { "the variable \(name) is no setting; did you mean \(prefix)\($0)?" }
    }

    private mutating func read(_ text: String, _ setting: Setting, _ place: String, _ faults: inout [String]) {
        if let value = setting.value(text) {
            values[setting.name] = value
        } else {
            faults.append("\(place): \"\(text)\" does not fit: it takes \(setting.form)")
        }
    }

    /// With the defaults for what was not given.
    var settings: ServerSettings {
        var settings = ServerSettings()
        for setting in ServerSettings.all {
            if let value = values[setting.name] { setting.apply(&settings, value) }
        }
        settings.flows = flows
        return settings
    }

    /// The settings that have another value there; one that is given its default has not changed.
    func changes(in other: GivenSettings) -> [Setting] {
        ServerSettings.all.filter { setting in
            func alone(_ value: Setting.Value?) -> ServerSettings {
                var settings = ServerSettings()
                if let value { setting.apply(&settings, value) }
                return settings
            }
            return alone(values[setting.name]) != alone(other.values[setting.name])
        }
    }

    /// Takes those that a running server can take.
    mutating func takeLive(from other: GivenSettings) {
        flows = other.flows
        for setting in ServerSettings.all where setting.isLive { values[setting.name] = other.values[setting.name] }
    }
}

extension ServerSettings {
    /// Throws `settings.invalid` with every fault, each with where it stands.
    init(
        file: (name: String, text: String)?, environment: [String: String], flags: [String: String]
    ) throws(PushError) {
        self = try GivenSettings(file: file, environment: environment, flags: flags).settings
    }

    /// What does not go together.
    fileprivate var contradictions: [String] {
        var faults: [String] = []
        if (certificate == nil) != (key == nil) {
            faults.append("tls.certificate and tls.key belong together: give both or none")
        }
        if port == nil, tlsPort == nil {
            faults.append("listen.port and listen.tls_port are none: the server would listen nowhere")
        }
        faults +=
            backend.contradictions + apns.contradictions + wns.contradictions + webPush.contradictions + delivery.contradictions
            + feedback.contradictions
        if isLab, simulators != nil {
            faults.append("lab and simulators exclude each other: give the one that hubs shall send to")
        }
        return faults
    }
}
