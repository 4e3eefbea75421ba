import ArgumentParser
import PushCore

/// Options of commands that are about one hub.
struct HubOptions: ParsableArguments {
    @Option(help: "The hub; the only one if absent.")
    var hub: String?

    @OptionGroup
    var server: ServerOptions

    /// Does the work with the hub of that name, shows what came of it and ends the program.
    func run(_ work: (ManagementClient, _ hub: String) async throws(PushError) -> CommandResult) async -> Never {
        await server.run { client throws(PushError) in
            try await work(client, try await client.hub(hub))
        }
    }
}
