import ArgumentParser
import Bindings
import Glibc
import Lua
import PushCore

struct TestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run the specs of a project, each test in a world of its own.",
        discussion: """
            A spec is a Lua file whose name ends in _spec.lua. Without PATH, all below the working directory are run.

            Exit codes: 0 all passed · 1 a test failed · 2 usage, or nothing to run · 3 a spec cannot be run · 130 interrupted.
            """)

    @Argument(help: "Specs, or folders of them.", completion: .file(extensions: ["lua"]))
    var path: [String] = []

    @Option(help: "Run only tests whose full name has this text in it.")
    var filter: String?

    @Option(help: "The seed of every test's world.")
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "How the embedded hub reaches the simulated push services: process, without a network, or network, through sockets of this machine, with TLS and HTTP/2. The results are the same.",
            valueName: "wire"))
    var wire: WireKind = .process

    @Option(help: "Also write the results as JUnit XML to this file.", completion: .file(extensions: ["xml"]))
    var junit: String?

    @Flag(help: "Print TAP (Test Anything Protocol 14) instead of text.")
    var tap = false

    @Flag(help: "Print one JSON object (schema \(TestJSONReport.schema)) instead of text.")
    var json = false

    @Option(help: "End a test after this much real time.", transform: Budgets.duration)
    var timeout: Duration = .seconds(60)

    @OptionGroup
    var budgets: Budgets

    @Option(help: "How many tests run at a time; as many as there are processors if absent.")
    var jobs: Int?

    @Flag(help: "Run again whenever a Lua file below the paths, one that a spec runs, or a file of secrets changes.")
    var watch = false

    func validate() throws {
        guard !(tap && json) else { throw ValidationError("--tap and --json exclude each other: keep one of them") }
        guard !(watch && (json || tap)) else { throw ValidationError("--watch prints text for people: leave out --json and --tap") }
        guard jobs.map((1...1000).contains) ?? true else { throw ValidationError("--jobs: give a number from 1 to 1000") }
    }

    func run() async throws {
        let interruption = Interruption()
        guard watch else { Glibc.exit(await TestSession(command: self).run(interruption).status) }
        let command = self
        Glibc.exit(
            await WatchLoop(interruption: interruption, below: path.isEmpty ? ["."] : path).run { sources in
                await TestSession(command: command, sources: sources).run(interruption)
            })
    }
}
