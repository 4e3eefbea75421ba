import HubWire
import PushCore

/// What a flow runs against, as it was asked for: nothing has been reached yet.
enum TargetPlan: Sendable {
    /// Everything in this process.
    case here
    case remote(TargetSettings)

    /// The word for the first.
    static let embedded = "embedded"

    /// As reports show it.
    var name: String {
        switch self {
        case .here: Self.embedded
        case .remote(let settings): settings.name
        }
    }

    /// Whether the same run gives the same output.
    var isRehearsal: Bool { if case .here = self { true } else { false } }

    private static func text(_ options: TargetOptions, _ environment: [String: String]) -> String {
        options.target ?? environment[TargetOptions.variable]?.nonEmpty ?? embedded
    }

    static func isEmbedded(_ options: TargetOptions, environment: [String: String] = Environment.variables) -> Bool {
        text(options, environment) == embedded
    }

    /// Reads the options over the file of settings.
    ///
    /// Throws `usage.target`, `connection.invalid`, `settings.*`, `usage.value`.
    init(_ options: TargetOptions, environment: [String: String] = Environment.variables) throws(PushError) {
        let text = Self.text(options, environment)
        guard text != Self.embedded else {
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
            guard let url = Self.address(text) else {
                throw PushError(
                    "usage.target", text.contains("=") ? "this is no address of a PushHost" : "\"\(text)\" is no address of a PushHost",
                    hint: "write http://localhost:8080, without a path")
            }
            settings = TargetSettings(name: url, url: url)
        } else if let known = try file.target(text) {
            settings = known
        } else {
            throw Self.unknown(text, file, options.config)
        }
        settings.hub = options.hub ?? settings.hub
        if let text = options.backend {
            guard let url = Self.address(text) else {
                throw PushError(
                    "usage.value", "--backend \"\(text)\" is no address", hint: "write https://backend.example.com", status: 400)
            }
            settings.backend = url
        }
        settings.authority = options.authority ?? settings.authority
        settings.labKey = settings.labKey ?? environment["PUSHHOST_LAB_KEY"]?.nonEmpty.map(Secret.init)
        settings.devices = file.devices.merging(settings.devices) { $1 }
        self = .remote(settings)
    }

    /// Without the slash at its end; nil for what is no address of a server.
    static func address(_ text: String) -> String? {
        var text = text
        while text.hasSuffix("/") { text.removeLast() }
        guard let match = text.wholeMatch(of: /(https?):\/\/([^\/?#@]+)(\/[^?#]*)?/.ignoresCase()) else { return nil }
        return Authority.isValid(match.2) ? text : nil
    }

    private static func file(_ path: String?, _ environment: [String: String]) throws(PushError) -> TargetsFile {
        guard let file = try SettingsSource(path: path).text() else { return .none }
        return try TargetsFile(file.text, file: file.name, environment: environment)
    }

    private static func unknown(_ name: String, _ file: TargetsFile, _ path: String?) -> PushError {
        let names = file.targets.keys.sorted() + [embedded]
        let near = nearest(name, in: names).map { "; did you mean \"\($0)\"?" } ?? ""
        return PushError(
            "usage.target", "there is no target \"\(name)\"\(near)",
            hint: names.count > 1
                ? "there are \(names.joined(separator: ", ")); or give a URL or a connection string"
                : "name it under targets in \(path ?? "pushhost.yaml"), or give a URL or a connection string")
    }

    /// What says something of another machine says nothing of this process.
    private static func checkUnused(_ options: TargetOptions) throws(PushError) {
        let given = [("--hub", options.hub), ("--backend", options.backend), ("--authority", options.authority)]
        guard let (name, _) = given.first(where: { $0.1 != nil }) else { return }
        throw PushError(
            "usage.value", "\(name) is for a target on another machine, and this run is embedded", hint: "name one with --target",
            status: 400)
    }
}
