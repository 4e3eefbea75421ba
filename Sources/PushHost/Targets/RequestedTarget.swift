import HubWire
import PushLab
import PushModel
import PushRuntime
import PushServer

/// The target that was requested, before a connection is made.
enum RequestedTarget: Sendable {
    /// An embedded world in this process.
    case here
    case remote(TargetSettings)

    /// The name in reports.
    var name: String {
        switch self {
        case .here: TargetSettings.embedded
        case .remote(let settings): settings.name
        }
    }

    /// Whether the run is reproducible.
    var isRehearsal: Bool { if case .here = self { true } else { false } }

    private static func text(_ options: TargetOptions, _ environment: [String: String]) -> String {
        options.target ?? environment[TargetOptions.variable]?.nonEmpty ?? TargetSettings.embedded
    }

    static func isEmbedded(_ options: TargetOptions, environment: [String: String] = Environment.variables) -> Bool {
        text(options, environment) == TargetSettings.embedded
    }

    /// Combines the options with the settings file; options win.
    init(_ options: TargetOptions, environment: [String: String] = Environment.variables) throws(PushError) {
        let text = Self.text(options, environment)
        guard text != TargetSettings.embedded else {
            try Self.checkUnused(options)
            self = .here
            return
        }
        let file = try Self.file(options.config, environment)
        var settings: TargetSettings
        if text.contains("="), !text.lowercased().hasPrefix("http") {
            let connection = try ConnectionString(parsing: text)
            settings = TargetSettings(name: connection.host, connection: Secret(text))
        } else if text.contains("://") {
            guard let url = TargetSettings.address(text) else {
                throw PushError(
                    "usage.target", text.contains("=") ? "invalid address of a PushHost" : "invalid address of a PushHost: \"\(text)\"",
                    hint: "use an address without a path, such as http://localhost:8080")
            }
            settings = TargetSettings(name: url, url: url)
        } else if let known = try file.target(text) {
            settings = known
        } else {
            throw Self.unknown(text, file, options.config)
        }
        settings.hub = options.hub ?? settings.hub
        if let text = options.backend {
            guard let url = TargetSettings.address(text) else {
                throw PushError(
                    "usage.value", "--backend: invalid address \"\(text)\"", hint: "use an address such as https://backend.example.com",
                    status: 400)
            }
            settings.backend = url
        }
        settings.authority = options.authority ?? settings.authority
        settings.labKey = settings.labKey ?? environment["PUSHHOST_LAB_KEY"]?.nonEmpty.map(Secret.init)
        settings.devices = file.devices.merging(settings.devices) { $1 }
        self = .remote(settings)
    }

    private static func file(_ path: String?, _ environment: [String: String]) throws(PushError) -> TargetsFile {
        guard let file = try SettingsSource(path: path).text() else { return .none }
        return try TargetsFile(file.text, file: file.name, environment: environment)
    }

    private static func unknown(_ name: String, _ file: TargetsFile, _ path: String?) -> PushError {
        let names = file.targets.keys.sorted() + [TargetSettings.embedded]
        let near = nearest(name, in: names).map { "; did you mean \"\($0)\"?" } ?? ""
        return PushError(
            "usage.target", "unknown target \"\(name)\"\(near)",
            hint: names.count > 1
                ? "targets are \(names.joined(separator: ", ")); or use a URL or a connection string"
                : "add it to targets in \(path ?? "pushhost.yaml"), or use a URL or a connection string")
    }

    /// Rejects options of remote targets for an embedded run.
    private static func checkUnused(_ options: TargetOptions) throws(PushError) {
        let given = [("--hub", options.hub), ("--backend", options.backend), ("--authority", options.authority)]
        guard let (name, _) = given.first(where: { $0.1 != nil }) else { return }
        throw PushError(
            "usage.value", "\(name) applies to remote targets only, and this run is embedded", hint: "choose a target with --target",
            status: 400)
    }
}
