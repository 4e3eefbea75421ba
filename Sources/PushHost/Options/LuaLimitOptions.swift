import ArgumentParser
import Bindings
import Lua

/// Limits on what Lua code may use, shared by every command that runs Lua.
struct LuaLimitOptions: ParsableArguments {
    @Option(help: "CPU time limit (default: 10s).", transform: Self.duration)
    var cpuLimit: Duration = .seconds(10)

    @Option(help: "Memory limit in MiB.")
    var memoryLimit: Int = 256

    @Option(help: "Exact limit on instructions: a script that exceeds it always stops at the same instruction. Doubles the run time.")
    var instructionLimit: Int?

    func validate() throws {
        if let instructionLimit, instructionLimit < 1 {
            throw ValidationError("--instruction-limit \(instructionLimit): expected at least 1")
        }
        guard (1...65_536).contains(memoryLimit) else {
            throw ValidationError("--memory-limit \(memoryLimit): expected MiB from 1 to 65536")
        }
    }

    /// The limits for one run. `wall` is the limit on its real time.
    func limits(wall: Duration? = nil) -> LuaLimits {
        LuaLimits(memory: memoryLimit << 20, cpu: cpuLimit, wall: wall, instructions: instructionLimit)
    }

    static func duration(_ text: String) throws -> Duration {
        // A bare number is a number of seconds.
        guard let duration = Duration(parsing: text) ?? Duration(parsing: "\(text)s") else {
            throw ValidationError("invalid duration \"\(text)\": write 500ms, 30s, 5m, 1h or a number of seconds")
        }
        guard duration > .zero else { throw ValidationError("invalid duration \"\(text)\": give more than 0") }
        return duration
    }
}
