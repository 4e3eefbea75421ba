import ArgumentParser
import HubWire
import PushModel
import PushRuntime
import PushServer
import WebAPI

/// Options of every command that manages a server: which server, and the form of the output.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Data folder of the server.", valueName: "folder"), completion: .directory)
    var data: String?

    @Option(help: ArgumentHelp("Settings file of the server, which names its data folder.", valueName: "file"), completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Connection string of a server on the network, in quotes; or set \(Self.variable), which other users cannot see.",
            valueName: "string"))
    var connection: String?

    @Option(
        help: ArgumentHelp("PEM file of an additional certificate authority to trust, for --connection.", valueName: "file"),
        completion: .file())
    var authority: String?

    @Flag(help: "Print one JSON object (schema \(ManagementSession.schema)) instead of text.")
    var json = false

    static let variable = "PUSHHOST_CONNECTION"

    /// The server that the options or the environment name. Throws `usage.value`, `connection.invalid`, `settings.*` and `data.unusable`.
    func target() throws(PushError) -> ManagementTarget {
        if connection != nil, data != nil || config != nil {
            throw PushError(
                "usage.value",
                "--connection (on the network) and \(data == nil ? "--config" : "--data") (on this machine) cannot be combined",
                hint: "remove one of them")
        }
        if connection == nil, data == nil, config == nil { try Self.checkVariable(Environment.variables) }
        // The command line takes precedence over the environment.
        if let text = connection ?? (data == nil && config == nil ? Environment.variables[Self.variable] : nil) {
            return .network(try ConnectionString(parsing: text), authority: authority)
        }
        return .folder(try settings().data)
    }

    /// Detects a misspelt variable, so that the command does not work on the local server instead of the intended one.
    ///
    /// Throws `usage.value` if the name of a variable is close to that of the connection string.
    static func checkVariable(_ variables: [String: String]) throws(PushError) {
        guard variables[variable] == nil else { return }
        let settings = Set(ServerSettings.all.map(\.environmentName))
        for name in variables.keys.sorted() where name.uppercased().hasPrefix("PUSHHOST") && !settings.contains(name) {
            guard nearest(name, in: [variable]) != nil else { continue }
            throw PushError(
                "usage.value", "unknown environment variable \(name); did you mean \"\(variable)\"?",
                hint: "rename it, or choose the server on this machine with --data")
        }
    }

    /// Does the work with the server, shows the result and ends the program.
    func run(_ work: (ManagementClient) async throws(PushError) -> CommandResult) async -> Never {
        await ManagementSession(isJSON: json).run { () throws(PushError) in
            try await ManagementClient.with(try target()) { client throws(PushError) in try await work(client) }
        }
    }

    func settings() throws(PushError) -> ServerSettings { try source.read().settings }

    var source: SettingsSource { SettingsSource(path: config, flags: data.map { ["data": $0] } ?? [:]) }
}

/// Identifies a server.
enum ManagementTarget: Sendable {
    /// The server that uses this data folder.
    case folder(String)
    case network(ConnectionString, authority: String?)

    /// The hub of the connection string; nil if it does not name one.
    var hub: String? {
        if case .network(let connection, _) = self { connection.hub } else { nil }
    }
}
