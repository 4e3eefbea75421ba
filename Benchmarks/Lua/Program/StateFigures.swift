import CLua
import Lua
import StockLua

/// The number of repetitions, and their best time.
struct Measure {
    var name: String
    var goal = Goal.none
    var count: Int
    var body: (Int) async throws -> Void
    var rival: ((Int) async throws -> Void)?
}

/// Measures awaits, states and runs.
struct StateFigures {
    let host: Host
    let stock: OpaquePointer

    var measures: [Measure] {
        let wrapped = """
            local n = ... local c = coroutine.wrap(function() while true do coroutine.yield() end end) for i = 1, n do c() end return 0
            """
        return [
            Measure(
                name: "await of a function that never suspends; rival: Lua's resume and yield", goal: .value(1_000), count: 10_000,
                body: { try await awaits("at_once", $0) }, rival: { _ = stock_run(stock, wrapped, Int64($0)) }),
            Measure(
                name: "await of a function that suspends on the host's thread; rival: `await Task {}.value`", goal: .value(4_000),
                count: 5_000, body: { try await awaits("hop", $0) },
                rival: { for _ in 0..<$0 { await Task {}.value } }),
            Measure(
                name: "await of a function that goes to another thread and back", count: 2_000, body: { try await awaits("away", $0) }),
            Measure(
                name: "sandboxed state, opened and closed; rival: stock libraries", goal: .value(25_000), count: 200,
                body: { count in
                    for _ in 0..<count {
                        let context = clua_context_new(64 << 20, 1)
                        clua_state_close(clua_state_new(context))
                        clua_context_free(context)
                    }
                }, rival: { for _ in 0..<$0 { stock_open_and_close() } }),
            Measure(
                name: "the same as a `LuaState`", goal: .value(25_000), count: 200, body: { try await Self.open($0, on: host.thread) },
                rival: { for _ in 0..<$0 { stock_open_and_close() } }),
            Measure(
                name: "run of `return 1` in an open state", count: 2_000, body: { try await runs($0) },
                rival: { for _ in 0..<$0 { _ = stock_run(stock, "return 1", 0) } }),
        ]
    }

    private func awaits(_ function: String, _ count: Int) async throws {
        _ = try await host.run("local f = require('host').\(function) for i = 1, ... do f() end return 0", count: count)
    }

    static func open(_ count: Int, on thread: LuaThread) async throws {
        try await Task(executorPreference: thread) {
            for _ in 0..<count {
                _ = try LuaState(thread: thread)
                await Task.yield()  // the thread closes it
            }
        }.value
    }

    private func runs(_ count: Int) async throws {
        let host = self.host
        try await Task(executorPreference: host.thread) {
            let script = LuaScript(name: "one.lua", source: "return 1")
            for _ in 0..<count { _ = try await host.state.run(script, id: host.nextID()) }
        }.value
    }
}
