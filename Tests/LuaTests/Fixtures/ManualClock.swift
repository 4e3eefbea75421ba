import CLua
import Glibc

@testable import Lua

/// A CPU clock that scripts move. Budgets and preemption see it like the thread's own clock, which also advances.
enum ManualClock {
    /// Sends clock ticks to the calling thread like the kernel. The second tick finds that a turn has lasted one tick.
    static func tick(_ count: Int) {
        for _ in 0..<count { raise(SIGURG) }
    }
}

extension Bench {
    /// Defines a module `clock`: `spend(s)` adds seconds of CPU time to the run that calls it.
    func defineClock() async throws {
        try await state.define(
            LuaModule(
                name: "clock",
                functions: [
                    .sync("clock.spend") { [state] call in
                        guard case .integer(let seconds)? = call.arguments.first else { return [] }
                        state.machine.runs[call.run]?.control.account.note(.cpu, Int(seconds) * 1_000_000_000)
                        ManualClock.tick(2)
                        return []
                    }
                ]))
    }
}
