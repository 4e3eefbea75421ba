import ArgumentParser
import Bindings
import Lua

/// Limits on what Lua code may use, shared by every command that runs Lua.
struct LuaLimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("CPU time limit. (default: 10s)", valueName: "duration"), transform: Self.duration)
    var cpuLimit: Duration = .seconds(10)

    @Option(help: ArgumentHelp("Memory limit in MiB.", valueName: "MiB"))
    var memoryLimit: Int = 256

    @Option(
        help: ArgumentHelp(
            "Exact limit on instructions: a script that exceeds it always stops at the same instruction. Doubles the run time.",
            valueName: "count"))
    var instructionLimit: Int?

    func validate() throws {
        if let instructionLimit, instructionLimit < 1 {
            throw ValidationError.invalidValue("--instruction-limit", instructionLimit, expected: "a whole number from 1")
        }
        guard (1...65_536).contains(memoryLimit) else {
            throw ValidationError.invalidValue("--memory-limit", memoryLimit, expected: "MiB from 1 to 65536")
        }
    }

    /// The limits for one run. `wall` is the limit on its real time.
    func limits(wall: Duration? = nil) -> LuaLimits {
        LuaLimits(memory: memoryLimit << 20, cpu: cpuLimit, wall: wall, instructions: instructionLimit)
    }

    /// Reads the value of an option. `ValueForm.duration` explains an invalid one.
    static func duration(_ text: String) throws -> Duration {
        guard let duration = Duration(positive: text) else { throw ValidationError("invalid duration \"\(text)\"") }
        return duration
    }
}
