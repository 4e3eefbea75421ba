import HostSupport
import Support
import Testing

/// Budgets apply wherever a script spends time, including Lua's own library.
@Suite struct BudgetTests {
    private static let endless = [
        "pattern": "local s = ('a'):rep(400) print(s:find('.-.-.-.-b'))",
        "move": "table.move({}, 1, math.maxinteger - 1, 1, setmetatable({}, {__newindex = type}))",
        "handler": "xpcall(error, function() while true do end end)",
    ]

    @Test(arguments: ["pattern", "move", "handler"], ["--cpu-limit", "--timeout", "--instruction-limit"])
    func `a run ends when its budget is exceeded`(name: String, option: String) async throws {
        let folder = try ScriptFolder(["flow.lua": "-- Only this:\n" + (Self.endless[name] ?? "")])
        let limit = option == "--instruction-limit" ? "1000000" : "300ms"
        let run = try await BuiltProgram.run(["run", "flow.lua", option, limit], in: folder.url)
        #expect(run.status == 3 && !run.wasKilled)
        let code = ["--cpu-limit": "budget.cpu", "--timeout": "budget.wall", "--instruction-limit": "budget.instructions"][option]
        #expect(run.errors.contains("error[\(code ?? "")]"), "\(run.errors)")
        #expect(run.errors.contains("flow.lua:2"))
    }

    @Test func `the instruction limit ends a run at the same point in every process`() async throws {
        let folder = try ScriptFolder([
            "flow.lua": """
            local count, words = 0, {}
            for i = 1, 1e9 do
              count = count + 1
              words[tostring(i)] = coroutine.wrap(function() return ("x"):rep(i % 50):gsub("x", "y") end)()
              if count % 100 == 0 then print(count) end
            end
            """
        ])
        var outputs: Set<String> = []
        for _ in 0..<3 {
            let run = try await BuiltProgram.run(["run", "flow.lua", "--instruction-limit", "200000"], in: folder.url)
            #expect(run.errors.contains("budget.instructions"))
            outputs.insert(run.output + run.errors)
        }
        #expect(outputs.count == 1)
    }

    @Test func `a budget of zero is rejected`() async throws {
        let run = try await BuiltProgram.run(["run", "docs/examples/offline.lua", "--instruction-limit", "0"])
        #expect(run.status == 2)
        #expect(run.errors.contains("expected a whole number from 1"))
    }
}
