import ArgumentParser
import Glibc

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a notification hub for any client of Azure Notification Hubs.",
        discussion: """
            Settings come from the file, from variables of the environment over it (PUSHHOST_LISTEN_PORT for listen.port), and \
            from options over both. pushhost reference settings lists them all.

            Signals: SIGTERM and Ctrl-C finish the requests that have begun, then end the server; SIGHUP reads the \
            settings and the certificate again.

            Exit codes: 0 ended by a signal · 1 it could not go on · 2 usage, a setting is wrong, a port is taken or a file \
            cannot be used.
            """)

    @Option(help: "The file of settings. Without it pushhost.yaml of this folder is read, if there is one.", completion: .file())
    var config: String?

    @Option(help: "Folder for everything that is kept.", completion: .directory)
    var data: String?

    @Option(help: "Address to listen on.")
    var host: String?

    @Option(help: "Port for plain HTTP; 0 takes a free one, none is none.")
    var port: String?

    @Option(help: "Port for TLS; 0 takes a free one, none is none.")
    var tlsPort: String?

    @Option(help: "Where pushhost simulate listens, such as http://127.0.0.1:8090.")
    var simulators: String?

    @Flag(help: "Run simulated push services with their phones in the server, and send there alone.")
    var lab = false

    @Flag(help: "Take a user name as its own password, for users of the app backend without an account. Never for real users.")
    var tutorialMode = false

    @Flag(help: "Show keys in the first screen.")
    var reveal = false

    func run() async {
        Glibc.exit(await ServeSession(command: self).run())
    }
}
