import ArgumentParser
import PushCore

struct HubBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy all hubs of a server, with their devices and keys, to one file.",
        discussion: """
            The copy is of one moment, also while the server works. Where no server runs on the data folder, it is taken \
            without one. The file holds keys: keep it as you keep them.

            Exit codes: 0 done · 1 the file cannot be written · 2 usage · 4 the server refuses.
            """)

    @Argument(help: "The file to make.", completion: .file())
    var file: String

    @OptionGroup
    var server: FolderOptions

    @Flag(help: "Replace the file if there is one.")
    var force = false

    func run() async {
        await ManagementSession(isJSON: server.json).run { () throws(PushError) in
            try await BackupFile(folder: try server.folder()).make(file, overwrites: force)
            return CommandResult(json: ["file": .string(file)]) { ["\($0.green("✓")) backed up to \(file.printable)"] }
        }
    }
}

struct HubRestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of everything that a server keeps.",
        discussion: """
            A server that runs goes on with it: while it is exchanged, requests are answered with 503 and Retry-After. What the \
            backup had accepted and not delivered is delivered, again where it had been since. A file that is no backup, or a \
            broken one, changes nothing. Without a server, a database that is broken itself is replaced, too.

            Exit codes: 0 done · 1 the file lies in the data folder · 2 usage, or the file is no backup · 4 the server refuses.
            """)

    @Argument(help: "The backup.", completion: .file())
    var file: String

    @OptionGroup
    var server: FolderOptions

    @Flag(help: "Do not ask.")
    var yes = false

    func run() async {
        let session = ManagementSession(isJSON: server.json)
        await session.run { () throws(PushError) in
            let folder = try server.folder()
            try await session.confirm(
                "Everything in \(folder) makes room for \(file), and what came after that backup is lost.", isSaid: yes)
            let flaw = try await BackupFile(folder: folder).restore(file)
            return CommandResult(json: ["file": .string(file), "replaced": flaw.map { .string($0.message) } ?? .null]) {
                ["\($0.green("✓")) restored from \(file.printable)"] + (flaw.map { ["  before it, \($0.message)".printable] } ?? [])
            }
        }
    }
}

/// Options of commands that need the data folder itself.
struct FolderOptions: ParsableArguments {
    @Option(help: "The data folder of the server.", completion: .directory)
    var data: String?

    @Option(help: "The server's file of settings, which tells its data folder.", completion: .file())
    var config: String?

    @Flag(help: "Print one JSON object (schema \(ManagementSession.schema)) instead of text.")
    var json = false

    func folder() throws(PushError) -> String {
        if data == nil, config == nil { try ServerOptions.checkVariable(Environment.variables) }
        guard data != nil || config != nil || Environment.variables[ServerOptions.variable] == nil else {
            throw PushError(
                "usage.value", "\(ServerOptions.variable) names a server on the network, and this works on a data folder",
                hint: "name the folder with --data")
        }
        return try source.read().settings.data
    }

    var source: SettingsSource { SettingsSource(path: config, flags: data.map { ["data": $0] } ?? [:]) }
}
