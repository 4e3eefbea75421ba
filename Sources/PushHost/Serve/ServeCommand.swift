import ArgumentParser
import Bindings
import Glibc

struct ServeCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a hub compatible with Azure Notification Hubs.",
        discussion: """
            Settings come from the settings file, environment variables (PUSHHOST_LISTEN_PORT for listen.port) and options; each \
            overrides the one before. pushhost reference settings lists all settings.

            Signals: on SIGTERM or Ctrl-C, the server finishes open requests and ends. On SIGHUP it reloads the settings and the \
            certificate.

            Example: pushhost serve --lab --data data --port 8080

            Exit codes: 0 ended by a signal · 1 failed while running · 2 usage, an invalid setting, a port in use or an unusable file.
            """)

    @Option(
        help: ArgumentHelp("Settings file. (default: pushhost.yaml in the working directory, if it exists)", valueName: "file"),
        completion: .file())
    var config: String?

    @Option(help: ArgumentHelp("Data folder.", valueName: "folder"), completion: .directory)
    var data: String?

    @Option(help: ArgumentHelp("Address to listen on.", valueName: "address"))
    var host: String?

    @Option(help: ArgumentHelp("Port for plain HTTP; 0 picks a free one, none disables it.", valueName: "port|none"))
    var port: String?

    @Option(help: ArgumentHelp("Port for TLS; 0 picks a free one, none disables it.", valueName: "port|none"))
    var tlsPort: String?

    @Option(help: ArgumentHelp("URL of pushhost simulate, such as http://127.0.0.1:8090.", valueName: "url"))
    var simulators: String?

    @Flag(help: "Run simulated push services and phones in the server, and send only to them.")
    var lab = false

    @Flag(help: "Accept the user name as the password of app backend users without an account. Not for production.")
    var tutorialMode = false

    @Flag(help: "Show access keys at startup.")
    var reveal = false

    func run(in program: HostProgram) async {
        Glibc.exit(await ServeSession(command: self, program: program).run())
    }
}
