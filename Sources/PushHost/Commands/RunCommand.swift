import ArgumentParser
import Bindings
import Glibc
import Lua
import PushLab
import PushModel

struct RunCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a flow on simulated push services and phones, or against a hub on another machine.",
        discussion: """
            Options not listed here are passed to the flow: see pushhost run FILE --help.

            Example: pushhost run scripts/notify_users.lua --user alice

            Exit codes: 0 pass · 1 the flow failed · 2 usage · 3 script error, or a limit was exceeded · 4 target error, or the target is \
            unreachable · 5 rejected by policy · 6 a send found no recipients, with --fail-on-no-target · 130 interrupted.
            """)

    @Argument(help: "Lua script of the flow, or PLUGIN:FLOW for a plugin's flow.", completion: .file(extensions: ["lua"]))
    var file: String

    @Option(help: ArgumentHelp("Seed; the same seed prints the same output.", valueName: "number"))
    var seed: UInt64 = 1

    @Flag(help: "Print one JSON object (schema \(JSONReport.schema)) instead of text.")
    var json = false

    @Flag(help: "Also print the hub's steps and the exchanges with the push services; credentials are masked.")
    var trace = false

    @Option(
        help: ArgumentHelp(
            "How the embedded hub reaches the simulated push services: process (in memory) or network (local sockets with TLS and HTTP/2). The results are the same.",
            valueName: "kind"))
    var wire: WireKind = .process

    @Option(
        help: ArgumentHelp("Time limit of the run in real time, such as 30s.", valueName: "duration"), transform: LuaLimitOptions.duration)
    var timeout: Duration?

    @OptionGroup
    var budgets: LuaLimitOptions

    @OptionGroup
    var target: TargetOptions

    @Flag(help: "Also print real durations, which differ between runs.")
    var timings = false

    @Flag(help: "Exit with 6 if a send finds no recipients.")
    var failOnNoTarget = false

    @Flag(help: "Accept the user name as the password, as the samples of the tutorials do.")
    var tutorialMode = false

    @Flag(help: "Run again when the script, a script that it runs, or a secrets file changes.")
    var watch = false

    @Flag(help: .hidden)
    var flowHelp = false

    @Argument(parsing: .postTerminator, help: .hidden)
    var flowOptions: [String] = []

    func validate() throws {
        guard !(watch && json) else { throw ValidationError.usage("--watch and --json cannot be combined", hint: "remove one of them") }
    }

    func run(in program: HostProgram) async throws {
        let interruption = Interruption()
        guard watch, !flowHelp else { Glibc.exit(await FlowSession(command: self, program: program).run(interruption).status) }
        let command = self
        Glibc.exit(
            await WatchLoop(interruption: interruption).run { sources in
                await FlowSession(command: command, program: program, sources: sources).run(interruption)
            })
    }
}
