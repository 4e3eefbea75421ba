import Glibc
import Lua
import StockLua

/// Scripts that try to block the thread. Each runs in a child process, which a CPU limit ends.
enum AttackFigures {
    /// The limit in seconds of CPU time.
    static let killAfter: UInt32 = 4

    static let attacks: [(name: String, budget: Duration, source: String)] = [
        ("loop", usual, "while true do end"),
        ("loop in pcall", usual, "while true do pcall(function() while true do end end) end"),
        ("short coroutines", usual, "while true do coroutine.wrap(function() for i = 1, 100 do end end)() end"),
        ("handler of xpcall", usual, "while true do xpcall(error, function() while true do end end) end"),
        ("__close", usual, "local x <close> = setmetatable({}, {__close = function() while true do end end}) while true do end"),
        ("pattern a?^n", usual, "local n = 32 return ('a'):rep(n):find(('a?'):rep(n) .. ('a'):rep(n) .. 'b')"),
        ("pattern .- × 6", usual, "return ('a'):rep(3000):find(('.-'):rep(6) .. 'b')"),
        ("plain find, 1 MB in 2 MB", usual, "return ('a'):rep(1 << 21):find(('a'):rep(1 << 20) .. 'b', 1, true)"),
        ("rep of nothing", usual, "return (''):rep(1e18)"),
        ("table.move", usual, "return table.move({}, 1, math.maxinteger - 1, 2, {})"),
        ("table.concat with __index", usual, "return table.concat(setmetatable({}, {__index = function() return '' end}), '', 1, 1e15)"),
        ("table.insert with __len", usual, "table.insert(setmetatable({}, {__len = function() return 1e15 end}), 1, 1)"),
        ("sort of 1 M", .seconds(1), "local t = {} for i = 1, 1e6 do t[i] = i * 7919 % 1000003 end while true do table.sort(t) end"),
        ("upper of 8 MB", usual, "local s = ('a'):rep(1 << 23) while true do s:upper() end"),
        ("load of 4 MB", .milliseconds(300), "local s = ('x = 1 '):rep(700000) while true do load(s) end"),
        ("pairs of 1 M keys", .seconds(1), "local t = {} for i = 1, 1e6 do t['k' .. i] = i end while true do pairs(t) end"),
        (
            "a table whose keys collide when it grows", .milliseconds(200),
            """
            local t, n, m = {}, 1 << 19, (1 << 19) - 1
            for i = 1, n do t[i] = true end
            for i = 1, 1 << 17 do t[((1 << 40) // m + i) * m] = true end
            for i = 1, n, 2 do t[i] = nil end
            for i = 2, 64, 2 do t[i] = nil end
            t.x = 1
            """
        ),
    ]

    private static let usual = Duration.milliseconds(50)

    /// Prints the milliseconds of CPU time beyond the budget, and the error's code.
    static func run(_ index: Int) async throws {
        stock_limit_cpu(killAfter)
        let attack = attacks[index]
        let thread = LuaThread(name: "attack")
        let state = try LuaState(thread: thread, limits: LuaLimits(memory: 256 << 20, cpu: attack.budget))
        let begin = cpuMilliseconds()
        var code = "ended"
        do {
            _ = try await state.run(LuaScript(name: "attack.lua", source: attack.source), id: LuaRunID(rawValue: 1))
        } catch let error as LuaError {
            code = error.code
        }
        let (seconds, attoseconds) = attack.budget.components
        let budget = Double(seconds) * 1_000 + Double(attoseconds) / 1e15
        print(max(0, cpuMilliseconds() - begin - budget), code)
    }

    private static func cpuMilliseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
    }

    static func printTable() {
        print("\n| attack | stopped after its CPU budget, goal ≤ 1 s | how it ended |\n|---|---|---|")
        for (index, attack) in attacks.enumerated() {
            let answer = ChildProcess.run(["attack", "\(index)"])
            if answer.status == 0, answer.words.count == 2, let delay = Double(answer.words[0]) {
                print("| \(attack.name) | \(fixed(delay, 1)) ms\(delay > 1_000 ? ", **missed**" : "") | `\(answer.words[1])` |")
            } else {
                print("| \(attack.name) | **not stopped** | killed after \(killAfter) s of CPU time |")
            }
        }
    }
}
