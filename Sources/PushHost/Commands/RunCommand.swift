import ArgumentParser
import Bindings
import Glibc
import Lua
import PushCore

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a flow against simulated push services and phones, in this process.",
        discussion: """
            Options that pushhost does not know are the flow's own: see pushhost run FILE --help.

            Exit codes: 0 pass · 1 the flow failed · 2 usage · 3 script error or budget · 6 no target found, with
            --fail-on-no-target · 130 interrupted.
            """)

    @Argument(help: "The flow, a Lua script.", completion: .file(extensions: ["lua"]))
    var file: String

    @Option(help: "The same seed gives the same run, byte for byte.")
    var seed: UInt64 = 1

    @Flag(help: "Print one JSON object (schema \(JSONReport.schema)) instead of text.")
    var json = false

    @Flag(help: "Also print what the core did and what crossed the wire; credentials are masked.")
    var trace = false

    @Option(help: "End the run after this much real time, for example 30s.", transform: Self.duration)
    var timeout: Duration?

    @Option(help: "The script's CPU budget (default: 10s).", transform: Self.duration)
    var cpuLimit: Duration = .seconds(10)

    @Option(help: "The script's memory budget in MiB.")
    var memoryLimit: Int = 256

    @Flag(help: "Print real times as well; they differ from run to run.")
    var timings = false

    @Flag(help: "Exit with 6 when a send reaches nobody.")
    var failOnNoTarget = false

    @Flag(help: "Let users log in with their name as the password, as in the tutorials' samples.")
    var tutorialMode = false

    @Flag(help: .hidden)
    var flowHelp = false

    @Argument(parsing: .postTerminator, help: .hidden)
    var flowOptions: [String] = []

    func validate() throws {
        guard (1...65_536).contains(memoryLimit) else {
            throw ValidationError("--memory-limit \(memoryLimit): give MiB between 1 and 65536")
        }
    }

    func run() async throws {
        let status = await FlowSession(command: self).run()
        Glibc.exit(status)
    }

    static func duration(_ text: String) throws -> Duration {
        guard let duration = Duration(parsing: text), duration > .zero else {
            throw ValidationError("\"\(text)\" is no duration: write 500ms, 30s, 5m or 1h")
        }
        return duration
    }
}
