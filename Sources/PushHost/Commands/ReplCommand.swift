import ArgumentParser
import Glibc

struct ReplCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repl",
        abstract: "Write a flow a line at a time, against simulated push services and phones.",
        discussion: """
            push is there without a require. What a line defines is there in the next, also what it declares local. \
            .help shows what there is to call. Ctrl-C ends the line that runs, Ctrl-D the session. Every line has the CPU budget, \
            all of them together have the memory.

            Lines may also come through a pipe.

            Exit codes: 0 pass · 1 a line that came through a pipe failed · 2 usage · 130 interrupted, where no terminal is.
            """)

    @Option(help: "The same seed and lines give the same session, byte for byte.")
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "How the embedded hub reaches the simulated push services: process, without a network, or network, through sockets of this machine, with TLS and HTTP/2. The results are the same.",
            valueName: "wire"))
    var wire: WireKind = .process

    @OptionGroup
    var budgets: Budgets

    @Flag(help: "Also print what the core did and what crossed the wire; credentials are masked.")
    var trace = false

    @Flag(help: "Let users log in with their name as the password, as in the tutorials' samples.")
    var tutorialMode = false

    func run() async throws {
        Glibc.exit(await ReplSession.run(self))
    }
}
