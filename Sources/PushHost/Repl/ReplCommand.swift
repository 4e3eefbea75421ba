import ArgumentParser
import Bindings
import Glibc
import PushLab

struct ReplCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "repl",
        abstract: "Run Lua interactively on simulated push services and phones.",
        discussion: """
            The push module is loaded. Later lines see the definitions of earlier ones, including locals. .help lists the functions. \
            Ctrl-C stops the current line, Ctrl-D ends the session. The CPU limit applies to each line, the memory limit to the session.

            Lines may also come from a pipe.

            Example: echo 'print(push.tag.user("alice"))' | pushhost repl

            Exit codes: 0 pass · 1 a line from a pipe failed · 2 usage · 130 interrupted without a terminal.
            """)

    @Option(help: ArgumentHelp("Seed; the same seed and lines print the same output.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "How the embedded hub reaches the simulated push services: process (in memory) or network (local sockets with TLS and HTTP/2). The results are the same.",
            valueName: "kind"))
    var wire: WireKind = .process

    @OptionGroup
    var budgets: LuaLimitOptions

    @Flag(help: "Also print the hub's steps and the exchanges with the push services; credentials are masked.")
    var trace = false

    @Flag(help: "Accept the user name as the password, as the samples of the tutorials do.")
    var tutorialMode = false

    func run(in program: HostProgram) async throws {
        Glibc.exit(await ReplSession.run(self, program.registry))
    }
}
