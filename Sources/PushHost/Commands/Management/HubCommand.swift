import ArgumentParser
import PushCore

struct HubCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hub", abstract: "Make, show and delete the hubs of a server, and what they send with; back them up and restore them.",
        subcommands: [
            HubListCommand.self, HubShowCommand.self, HubCreateCommand.self, HubDeleteCommand.self, HubCredentialsCommand.self,
            HubBackupCommand.self, HubRestoreCommand.self, HubRenewSecretsCommand.self,
        ])
}

struct HubListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "All hubs of a server, or that of the connection string.")

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let hubs = try await client.hubs()
            var table = TextTable("HUB", "#REGISTRATIONS", "#INSTALLATIONS", "#WAITING", "PUSH SERVICES")
            for hub in hubs {
                table.add(
                    hub["name"]?.string ?? "", hub.number("registrations"), hub.number("installations"), hub.number("waiting"),
                    hub.words("pushServices"))
            }
            return CommandResult(json: ["items": .array(hubs)], lines: table.lines)
        }
    }
}

struct HubShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "One hub.")

    @Argument(help: "Its name; the only hub if absent.")
    var name: String?

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let hub = try await client.get(ManagementClient.path("hubs", try await client.hub(name)))
            return CommandResult(json: hub) { Self.lines(hub, $0) }
        }
    }

    private static func lines(_ hub: JSON, _ palette: Palette) -> [String] {
        let services = hub.words("pushServices")
        var rows = [
            ("registrations", hub.number("registrations")), ("installations", hub.number("installations")),
            ("waiting", hub.number("waiting")), ("push services", services.isEmpty ? "no credentials" : services),
            ("created", hub["createdAt"]?.string ?? ""), ("changed", hub["updatedAt"]?.string ?? ""),
        ]
        let credentials = hub["credentials"]?.array ?? []
        for credential in credentials { rows.append(("credential", CredentialReport(credential)?.line ?? "of an unknown kind")) }
        if let ttl = hub["registrationTTL"]?.string { rows.append(("registrations live", ttl)) }
        if let metadata = hub["userMetadata"]?.string { rows.append(("metadata", metadata)) }
        for trouble in hub["troubles"]?.array ?? [] {
            let platform = trouble["platform"]?.string.flatMap { Platform(shortName: $0) }?.displayName ?? "a push service"
            let address = (trouble["origin"] ?? credentials.first { $0["platform"] == trouble["platform"] }?["address"])?.string
            let finding = trouble["reason"]?.string.map { "refuses the hub's credential for now (\($0))" } ?? "answers nobody"
            let words =
                trouble["mixUp"]?.string
                ?? "\(address.map { "\($0) " } ?? "")\(finding): the next push is tried at \(trouble["nextTryAt"]?.string ?? "a moment")"
            rows.append(("trouble", "\(platform): \(words)"))
        }
        return [palette.bold("hub \(hub["name"]?.string ?? "")".printable)] + rows.map { "  \($0.0.padded(to: 20))\($0.1.printable)" }
    }
}

struct HubCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a hub, and show its keys, as connection strings.")

    @Argument(help: "Its name.")
    var name: String

    @Option(
        help: ArgumentHelp("How long registrations live after their last update, such as P90D; for ever if absent.", valueName: "duration"))
    var registrationTTL: String?

    @Option(help: "A text that the hub keeps for you.")
    var metadata: String?

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            var body = JSONObject([("name", .string(name))])
            body["registrationTTL"] = registrationTTL.map(JSON.string)
            body["userMetadata"] = metadata.map(JSON.string)
            return try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let hub = try await client.post(ManagementClient.path("hubs"), body: .object(body))
                let keys = try await client.allItems(ManagementClient.path("hubs", name, "keys"), [("reveal", "true")])
                let report = KeyReport(keys: keys, url: await client.clientURL())
                return CommandResult(json: ["hub": hub, "keys": .array(keys)]) {
                    ["\($0.green("✓")) hub \(name.printable) created"] + report.revealed($0)
                }
            }
        }
    }
}

struct HubDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a hub with everything in it.")

    @Argument(help: "Its name.")
    var name: String

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup
    var server: ServerOptions

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        await session.run { () throws(PushError) in
            try await ManagementClient.with(try server.target()) { client throws(PushError) in
                let path = ManagementClient.path("hubs", name)
                let hub = try await client.get(path)
                try await session.confirm(
                    "The hub \(name) goes with its \(hub.number("registrations")) registrations and its keys.", isSaid: yes)
                try await client.delete(path)
                return CommandResult(json: ["name": .string(name)]) { ["\($0.green("✓")) hub \(name.printable) deleted"] }
            }
        }
    }
}

extension JSON {
    /// A number as text; 0 where there is none.
    func number(_ name: String) -> String { String(self[name]?.int ?? 0) }

    /// Texts of a list, in one line.
    func words(_ name: String) -> String { self[name]?.array?.compactMap(\.string).joined(separator: ", ") ?? "" }
}
