import ArgumentParser
import PushModel
import PushRuntime

struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "List, create, rotate and revoke access keys of a hub or of the server.",
        discussion: """
            With --hub, or a connection string of a hub, the commands work on the keys of that hub; otherwise on the server keys, which \
            apply to every hub.

            Example: pushhost key create ci --rights send --hub news
            """,
        subcommands: [KeyListCommand.self, KeyCreateCommand.self, KeyRotateCommand.self, KeyRevokeCommand.self])
}

/// Options that choose the server's keys or those of one hub.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Hub of the key. (default: the hub of the connection string, otherwise a server key, which applies to every hub)",
            valueName: "name"))
    var hub: String?

    @OptionGroup
    var server: ServerOptions

    /// The path of all keys, followed by the encoded parts in `more`.
    func path(_ target: ManagementTarget, _ more: String...) -> String {
        let start = meant(target).map { ManagementClient.path("hubs", $0, "keys") } ?? ManagementClient.path("keys")
        return more.reduce(start) { "\($0)/\(ManagementClient.encoded($1))" }
    }

    private func meant(_ target: ManagementTarget) -> String? { hub ?? target.hub }

    /// What the keys are for, in words for messages: `for hub "news"` or `for all hubs`.
    func scope(_ target: ManagementTarget) -> String { meant(target).map { "for hub \"\($0)\"" } ?? "for all hubs" }

    /// Shows a key after it was created or rotated. Its value is not shown again unless `--reveal` asks for it.
    func result(
        _ key: JSON, _ done: String, _ client: ManagementClient, _ slots: [String] = ["primary", "secondary"]
    ) async -> CommandResult {
        let report = KeyReport(keys: [key], url: await client.clientURL())
        let sentence = "\(done) \(scope(client.target))".printable
        return CommandResult(json: key) { ["\($0.green("✓")) \(sentence)"] + report.revealed($0, slots) }
    }
}

struct KeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List keys.", discussion: "Example: pushhost key list --hub news --reveal")

    @Flag(help: "Show the values, as connection strings.")
    var reveal = false

    @OptionGroup
    var options: KeyOptions

    func run() async {
        await options.server.run { client throws(PushError) in
            let keys = try await client.allItems(options.path(client.target), [("reveal", reveal ? "true" : nil)])
            let report = KeyReport(keys: keys, url: await client.clientURL())
            return CommandResult(json: ["items": .array(keys)]) { reveal ? report.revealed($0) : report.table($0) }
        }
    }
}

struct KeyCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a key and show it.",
        discussion: "Example: pushhost key create ci --rights send --hub news --ceiling 1000")

    @Argument(help: "Name of the new key.")
    var name: String

    @Option(
        help: ArgumentHelp("Rights of the key, separated by commas: listen, send, manage.", valueName: "right,…"),
        completion: .list(["listen", "send", "manage"]))
    var rights: String

    @Option(
        help: ArgumentHelp("Maximum number of devices per send without approval; not with manage.", valueName: "devices"))
    var ceiling: Int?

    @OptionGroup
    var options: KeyOptions

    func validate() throws {
        guard let ceiling, ceiling < 1 else { return }
        throw ValidationError.invalidValue("--ceiling", ceiling, expected: "a whole number from 1")
    }

    func run() async {
        await ManagementSession(isJSON: options.server.json).run { () throws(PushError) in
            let rights = try Self.rights(rights)
            return try await ManagementClient.with(try options.server.target()) { client throws(PushError) in
                var body: JSONObject = ["name": .string(name), "rights": .array(rights.map { .string($0.rawValue) })]
                body["ceiling"] = ceiling.map { .integer(Int64($0)) }
                let key = try await client.post(options.path(client.target), body: .object(body))
                return await options.result(key, "key \(name) created", client)
            }
        }
    }

    private static func rights(_ text: String) throws(PushError) -> [AuthorizationRule.Right] {
        var rights: [AuthorizationRule.Right] = []
        for word in text.split(separator: ",") {
            let word = word.drop { $0 == " " }.lowercased()
            guard let right = AuthorizationRule.Right.allCases.first(where: { $0.rawValue.lowercased() == word }) else {
                throw PushError("usage.value", "--rights: unknown right \"\(word)\"", hint: "use listen, send or manage")
            }
            rights.append(right)
        }
        return rights
    }
}

struct KeyRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Regenerate the primary or secondary value of a key, and show it.",
        usage: "pushhost key rotate (--primary | --secondary) <name> [<options>]",
        discussion: """
            Both values of a key are valid. Rotate the value that no client uses, move your clients to it, then rotate the other value. \
            A replaced value is rejected at once.

            Example: pushhost key rotate ci --secondary --hub news
            """)

    enum Slot: String, EnumerableFlag { case primary, secondary }

    @Argument(help: "Name of the key.")
    var name: String

    @Flag(help: "Value to replace.")
    var slot: Slot

    @OptionGroup
    var options: KeyOptions

    func run() async {
        await options.server.run { client throws(PushError) in
            let key = try await client.post(options.path(client.target, name, "rotate"), body: ["key": .string(slot.rawValue)])
            return await options.result(key, "\(slot.rawValue) value of key \(name) replaced", client, [slot.rawValue])
        }
    }
}

struct KeyRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a key. It is rejected at once.", discussion: "Example: pushhost key revoke ci --hub news")

    @Argument(help: "Name of the key.")
    var name: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup
    var options: KeyOptions

    func run() async {
        let session = ManagementSession(isJSON: options.server.json)
        await session.run { () throws(PushError) in
            let target = try options.server.target()
            try await session.confirm(
                "This revokes key \(name) \(options.scope(target))", "Clients that use it lose access", isPreconfirmed: yes)
            return try await ManagementClient.with(target) { client throws(PushError) in
                try await client.delete(options.path(client.target, name))
                return CommandResult(json: ["name": .string(name)]) { ["\($0.green("✓")) key \(name.printable) revoked"] }
            }
        }
    }
}
