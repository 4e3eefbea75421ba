import ArgumentParser
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

    /// Throws `connection.invalid`, `settings.*` and `data.unusable`.
    func target() throws(PushError) -> ManagementTarget {
        // What is written on the command line is nearer than what is in the environment.
        if let text = connection ?? (data == nil && config == nil ? Environment.variables[Self.variable] : nil) {
            return .network(try ConnectionString(parsing: text), authority: authority)
        }
        return .folder(try settings().data)
    }

    func settings() throws(PushError) -> ServerSettings { try source.read().settings }

    var source: SettingsSource { SettingsSource(path: config, flags: data.map { ["data": $0] } ?? [:]) }
}

/// Which server is meant.
enum ManagementTarget: Sendable {
    /// The one that uses this data folder.
    case folder(String)
    case network(ConnectionString, authority: String?)
}
