import ArgumentParser
import PushCore

struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Manage the users of the app backend, who log in with a name and a password.",
        discussion: """
            Names that differ only in case are one user. A password is asked for on the terminal, unseen, or read from standard \
            input with --password-stdin; it is never an argument, which any list of processes would show.
            """,
        subcommands: [UserAddCommand.self, UserPasswordCommand.self, UserListCommand.self, UserRemoveCommand.self])
}

/// Where a password comes from.
struct PasswordOptions: ParsableArguments {
    @Flag(help: "Read the password from standard input, one line, instead of asking for it.")
    var passwordStdin = false

    /// Throws `usage.password`.
    func read(for name: String) async throws(PushError) -> Secret {
        try await passwordStdin ? PasswordPrompt.line() : PasswordPrompt().ask(for: name)
    }
}

struct UserAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Make an account.")

    @Argument(help: "The user's name: letters, digits and - _ @ # .")
    var name: String

    @OptionGroup
    var password: PasswordOptions

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            let target = try server.target()
            try AccountService.check(username: name)
            let secret = try await password.read(for: name)
            return try await ManagementClient.with(target) { client throws(PushError) in
                let user = try await client.post(
                    ManagementClient.path("users"), body: ["username": .string(name), "password": .string(secret.reveal())])
                return CommandResult(json: user) { ["\($0.green("✓")) user \(name.printable) added"] }
            }
        }
    }
}

struct UserPasswordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passwd", abstract: "Give a user a new password, and end the user's sessions.")

    @Argument(help: "The user's name.")
    var name: String

    @OptionGroup
    var password: PasswordOptions

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            let target = try server.target()
            let secret = try await password.read(for: name)
            return try await ManagementClient.with(target) { client throws(PushError) in
                try await client.put(ManagementClient.path("users", name, "password"), body: ["password": .string(secret.reveal())])
                return CommandResult(json: ["username": .string(name)]) {
                    ["\($0.green("✓")) the password of \(name.printable) is new"]
                }
            }
        }
    }
}

struct UserListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "All users, by name.")

    @OptionGroup
    var server: ServerOptions

    func run() async {
        await server.run { client throws(PushError) in
            let users = try await client.items(ManagementClient.path("users"), first: nil).items
            return CommandResult(json: ["items": .array(users)]) { palette in
                var table = TextTable("USER")
                for user in users { table.add(user["username"]?.string ?? "") }
                return table.lines(palette)
            }
        }
    }
}

struct UserRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take an account away, with the user's sessions and secure payloads. Registered devices stay.")

    @Argument(help: "The user's name.")
    var name: String

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup
    var server: ServerOptions

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        await session.run { () throws(PushError) in
            let target = try server.target()
            try await session.confirm(
                "The user \(name) cannot log in any more, and secure payloads from and to \(name) are gone.", isSaid: yes)
            return try await ManagementClient.with(target) { client throws(PushError) in
                try await client.delete(ManagementClient.path("users", name))
                return CommandResult(json: ["username": .string(name)]) { ["\($0.green("✓")) user \(name.printable) removed"] }
            }
        }
    }
}
