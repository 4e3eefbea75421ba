import ArgumentParser
import Bindings
import Lua

/// Options of every command that runs Lua: what a run, a test or a line may use.
struct Budgets: ParsableArguments {
    @Option(help: "The CPU budget (default: 10s).", transform: Self.duration)
    var cpuLimit: Duration = .seconds(10)

    @Option(help: "The memory budget in MiB.")
    var memoryLimit: Int = 256

    @Option(help: "An exact budget of instructions: a script stops at the same place every time, and takes about twice as long.")
    var instructionLimit: Int?

    func validate() throws {
        if let instructionLimit, instructionLimit < 1 {
            throw ValidationError("--instruction-limit \(instructionLimit): give at least 1")
        }
        guard (1...65_536).contains(memoryLimit) else {
            throw ValidationError("--memory-limit \(memoryLimit): give MiB between 1 and 65536")
        }
    }

    /// With the real time that a run may take.
    func limits(wall: Duration? = nil) -> LuaLimits {
        LuaLimits(memory: memoryLimit << 20, cpu: cpuLimit, wall: wall, instructions: instructionLimit)
    }

    static func duration(_ text: String) throws -> Duration {
        // A number is one of seconds, as everywhere.
        guard let duration = Duration(parsing: text) ?? Duration(parsing: "\(text)s") else {
            throw ValidationError("\"\(text)\" is no duration: write 500ms, 30s, 5m, 1h or a number of seconds")
        }
        guard duration > .zero else { throw ValidationError("\"\(text)\" leaves no time at all: give more than 0") }
        return duration
    }
}
