import ArgumentParser
import PushModel

/// Options of commands that work on one hub.
struct HubOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Name of the hub; may be left out if there is only one.", valueName: "name"))
    var hub: String?

    @OptionGroup
    var server: ServerOptions

    /// Does the work with the hub's name, shows the result and ends the program.
    func run(_ work: (ManagementClient, _ hub: String) async throws(PushError) -> CommandResult) async -> Never {
        await server.run { client throws(PushError) in
            try await work(client, try await client.hubs.name(hub))
        }
    }
}
