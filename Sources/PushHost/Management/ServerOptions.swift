import ArgumentParser
import HubWire
import PushCore
import WebAPI

/// Options of every command that manages a server: which one, and how its answer is shown.
struct ServerOptions: ParsableArguments {
    @Option(help: "The data folder of the server.", completion: .directory)
    var data: String?

    @Option(help: "The server's file of settings, which tells its data folder.", completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp(
            "Reach a server over the network instead, with its connection string, in quotes; \(Self.variable) keeps it off the list of processes.",
            valueName: "string"))
    var connection: String?

    @Option(help: "Trust this certificate authority too, with --connection. PEM.", completion: .file())
    var authority: String?

    @Flag(help: "Print one JSON object (schema \(ManagementSession.schema)) instead of text.")
    var json = false

    static let variable = "PUSHHOST_CONNECTION"

    /// Throws `usage.value`, `connection.invalid`, `settings.*` and `data.unusable`.
    func target() throws(PushError) -> ManagementTarget {
        if connection != nil, data != nil || config != nil {
            throw PushError(
                "usage.value", "--connection names a server on the network, \(data == nil ? "--config" : "--data") one of this machine",
                hint: "keep one of them")
        }
        if connection == nil, data == nil, config == nil { try Self.checkVariable(Environment.variables) }
        // What is written on the command line is nearer than what is in the environment.
        if let text = connection ?? (data == nil && config == nil ? Environment.variables[Self.variable] : nil) {
            return .network(try ConnectionString(parsing: text), authority: authority)
        }
        return .folder(try settings().data)
    }

    /// Refuses to take the server of this machine for the one that somebody meant to name.
    ///
    /// Throws `usage.value` where a variable is nearly the one with the connection string.
    static func checkVariable(_ variables: [String: String]) throws(PushError) {
        guard variables[variable] == nil else { return }
        let settings = Set(ServerSettings.all.map(\.environmentName))
        for name in variables.keys.sorted() where name.uppercased().hasPrefix("PUSHHOST") && !settings.contains(name) {
            guard nearest(name, in: [variable]) != nil else { continue }
            throw PushError(
                "usage.value", "the variable \(name) names no server; did you mean \(variable)?",
                hint: "rename it, or name the server of this machine with --data")
        }
    }

    /// Shows what comes of work with the server, and ends the program.
    func run(_ work: (ManagementClient) async throws(PushError) -> CommandResult) async -> Never {
        await ManagementSession(isJSON: json).run { () throws(PushError) in
            try await ManagementClient.with(try target()) { client throws(PushError) in try await work(client) }
        }
    }

    func settings() throws(PushError) -> ServerSettings { try source.read().settings }

    var source: SettingsSource { SettingsSource(path: config, flags: data.map { ["data": $0] } ?? [:]) }
}

/// Which server is meant.
enum ManagementTarget: Sendable {
    /// The one that uses this data folder.
    case folder(String)
    case network(ConnectionString, authority: String?)

    /// That the connection string is for; nil where it does not say.
    var hub: String? {
        if case .network(let connection, _) = self { connection.hub } else { nil }
    }
}
