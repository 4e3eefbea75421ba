import ArgumentParser
import Bindings
import Glibc
import Lua
import PushCore

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a flow: against simulated push services and phones in this process, or against a hub on another machine.",
        discussion: """
            Options that pushhost does not know are the flow's own: see pushhost run FILE --help.

            Exit codes: 0 pass · 1 the flow failed · 2 usage · 3 script error or budget · 4 the target refuses or does not \
            answer · 5 refused by policy · 6 no target found, with --fail-on-no-target · 130 interrupted.
            """)

    @Argument(help: "The flow, a Lua script, or PLUGIN:FLOW for one that a plugin brings along.", completion: .file(extensions: ["lua"]))
    var file: String

    @Option(help: "The same seed gives the same run, byte for byte.")
    var seed: UInt64 = 1

    @Flag(help: "Print one JSON object (schema \(JSONReport.schema)) instead of text.")
    var json = false

    @Flag(help: "Also print what the core did and what crossed the wire; credentials are masked.")
    var trace = false

    @Option(
        help: ArgumentHelp(
            "How the embedded hub reaches the simulated push services: process, without a network, or network, through sockets of this machine, with TLS and HTTP/2. The results are the same.",
            valueName: "wire"))
    var wire: WireKind = .process

    @Option(help: "End the run after this much real time, for example 30s.", transform: Budgets.duration)
    var timeout: Duration?

    @OptionGroup
    var budgets: Budgets

    @OptionGroup
    var target: TargetOptions

    @Flag(help: "Print real times as well; they differ from run to run.")
    var timings = false

    @Flag(help: "Exit with 6 when a send reaches nobody.")
    var failOnNoTarget = false

    @Flag(help: "Let users log in with their name as the password, as in the tutorials' samples.")
    var tutorialMode = false

    @Flag(help: "Run again whenever the script, one that it runs, or a file of secrets changes.")
    var watch = false

    @Flag(help: .hidden)
    var flowHelp = false

    @Argument(parsing: .postTerminator, help: .hidden)
    var flowOptions: [String] = []

    func validate() throws {
        guard !(watch && json) else { throw ValidationError("--watch prints text for people: leave out --json") }
    }

    func run() async throws {
        let interruption = Interruption()
        guard watch, !flowHelp else { Glibc.exit(await FlowSession(command: self).run(interruption).status) }
        let command = self
        Glibc.exit(
            await WatchLoop(interruption: interruption).run { sources in
                await FlowSession(command: command, sources: sources).run(interruption)
            })
    }
}
