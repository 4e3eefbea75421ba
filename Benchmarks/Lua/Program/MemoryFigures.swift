import Lua
import StockLua

/// Measures the memory of waiting runs, each figure in a child process.
enum MemoryFigures: String, CaseIterable {
    case shared, own, child

    var name: String {
        switch self {
        case .shared: "run that waits, in a state with others"
        case .own: "run that waits, in a state of its own"
        case .child: "spawned task that waits"
        }
    }

    var goal: Goal {
        switch self {
        case .shared: .value(7_000)
        case .own: .value(32_768)
        case .child: .none
        }
    }

    /// Prints the bytes per run, the milliseconds to cancel all, and the number of runs left.
    func measure() async throws {
        let count = self == .own ? 2_000 : 20_000
        let host = try await Host()
        let thread = host.thread
        let script = LuaScript(name: "wait.lua", source: "require('host').wait()")
        let nursery = LuaScript(
            name: "spawn.lua",
            source: "local host = require('host') for i = 1, ... do host.spawn(function() host.wait() end) end")
        var others: [LuaState] = []
        var runs: [Task<Void, Never>] = []
        // Excludes what only the first run needs.
        let first = Task(executorPreference: thread) { _ = try? await host.state.run(script, id: host.nextID()) }
        await host.gate.arrival(of: 1)
        let before = stock_resident_bytes()
        switch self {
        case .shared:
            for _ in 0..<count {
                runs.append(Task(executorPreference: thread) { _ = try? await host.state.run(script, id: host.nextID()) })
            }
        case .own:
            var module = Host.module(gate: host.gate, elsewhere: Elsewhere())
            module.prelude = nil
            for _ in 0..<count {
                let state = try LuaState(thread: thread)
                try await state.define(module)
                others.append(state)
                runs.append(Task(executorPreference: thread) { _ = try? await state.run(script, id: host.nextID()) })
            }
        case .child:
            let arguments = [LuaValue.integer(Int64(count))]
            runs.append(
                Task(executorPreference: thread) { _ = try? await host.state.run(nursery, id: host.nextID(), arguments: arguments) })
        }
        await host.gate.arrival(of: count + 1)
        let grown = stock_resident_bytes() - before
        let begin = stock_now_ns()
        for run in runs { run.cancel() }
        for run in runs { await run.value }
        let elapsed = stock_now_ns() - begin
        first.cancel()
        await first.value
        var left = await host.state.liveTasks
        for state in others { left += await state.liveTasks }
        print(Double(grown) / Double(count), Double(elapsed) / 1_000_000, left, count)
    }
}
