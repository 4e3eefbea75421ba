import CLua
import Glibc

@testable import Lua

/// A CPU clock that scripts move by hand. The budgets and the preemption meet it as they meet the thread's own, which moves on
/// beside it.
enum HandClock {
    /// Ticks of the thread that calls this, as the kernel sends them: the second one finds that a turn has lasted for a tick.
    static func tick(_ count: Int) {
        for _ in 0..<count { raise(SIGURG) }
    }
}

extension Bench {
    /// Defines a module `clock`: `spend(s)` lets the run that calls it have used up so many seconds of CPU time more.
    func defineClock() async throws {
        try await state.define(
            LuaModule(
                name: "clock",
                functions: [
                    .sync("clock.spend") { [state] call in
                        guard case .integer(let seconds)? = call.arguments.first else { return [] }
                        state.machine.runs[call.run]?.control.account.note(.cpu, Int(seconds) * 1_000_000_000)
                        HandClock.tick(2)
                        return []
                    }
                ]))
    }
}
