import ArgumentParser
import Bindings
import Glibc
import Lua
import PushLab
import PushModel

struct TestCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run the specs of a project, each test in isolation.",
        discussion: """
            A spec is a Lua file whose name ends in _spec.lua. Without PATH, all specs below the working directory are run.

            --last-failed reads .pushhost/last-failed.json in the working directory. A run in which tests fail writes it.

            Example: pushhost test scripts/spec --filter welcome

            Exit codes: 0 all passed · 1 a test failed · 2 usage, or nothing to run · 3 a spec cannot be run · 130 interrupted.
            """)

    @Argument(help: "Specs, or folders with specs.", completion: .file(extensions: ["lua"]))
    var path: [String] = []

    @Option(help: ArgumentHelp("Run only tests whose full name contains this text.", valueName: "text"))
    var filter: String?

    @Option(
        help: ArgumentHelp(
            "Run only this part of the tests, such as 2/5 for the second of five. A test stays in its part when others are added.",
            valueName: "i/n"))
    var shard: String?

    @Flag(help: "Run only the tests that failed when they were last run; all tests if none failed.")
    var lastFailed = false

    @Option(
        help: ArgumentHelp(
            "Run specs and tests in a random order. The same seed gives the same order; without one, a random seed is used. It is printed.",
            valueName: "number"))
    var randomize: UInt64?

    @Flag(help: "Stop at the first test that fails.")
    var bail = false

    @Option(help: ArgumentHelp("Also print this many tests that took the longest in real time.", valueName: "count"))
    var slowest: Int?

    @Flag(help: "Store the values of push.test.snapshot instead of comparing them, and remove unused snapshots.")
    var update = false

    @Option(help: ArgumentHelp("Seed for every test.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "How the embedded hub reaches the simulated push services: process (in memory) or network (local sockets with TLS and HTTP/2). The results are the same.",
            valueName: "kind"))
    var wire: WireKind = .process

    @Option(help: ArgumentHelp("File for the results as JUnit XML.", valueName: "file"), completion: .file(extensions: ["xml"]))
    var junit: String?

    @Flag(help: "Print TAP (Test Anything Protocol 14) instead of text.")
    var tap = false

    @Flag(help: "Print one JSON object (schema \(TestJSONReport.schema)) instead of text.")
    var json = false

    @Option(help: ArgumentHelp("Time limit of a test in real time.", valueName: "duration"), transform: LuaLimitOptions.duration)
    var timeout: Duration = .seconds(60)

    @OptionGroup
    var budgets: LuaLimitOptions

    @Option(help: ArgumentHelp("Number of tests that run in parallel. (default: the number of processors)", valueName: "count"))
    var jobs: Int?

    @Flag(help: "Run again when a Lua file below the paths, a script that a spec runs, or a secrets file changes.")
    var watch = false

    func validate() throws {
        guard !(tap && json) else { throw ValidationError.usage("--tap and --json cannot be combined", hint: "remove one of them") }
        guard !(watch && (json || tap)) else {
            throw ValidationError.usage("--watch cannot be combined with --json or --tap", hint: "remove one of them")
        }
        if let shard, TestSelection.Shard(shard) == nil {
            throw ValidationError.invalidValue(
                "--shard", shard, expected: "i/n, such as 2/5: i from 1 to n, and n up to \(TestSelection.Shard.most)")
        }
        if let slowest, slowest < 1 { throw ValidationError.invalidValue("--slowest", slowest, expected: "a whole number from 1") }
        if let jobs, !(1...1000).contains(jobs) {
            throw ValidationError.invalidValue("--jobs", jobs, expected: "a whole number from 1 to 1000")
        }
    }

    func run(in program: HostProgram) async throws {
        let interruption = Interruption()
        guard watch else { Glibc.exit(await TestSession(command: self, module: program.registry).run(interruption).status) }
        let command = self
        Glibc.exit(
            await WatchLoop(interruption: interruption, below: path.isEmpty ? ["."] : path).run { sources in
                await TestSession(command: command, module: program.registry, sources: sources).run(interruption)
            })
    }
}
