import CLua
import Testing

@testable import Lua

/// The scripts end by themselves in the end: without the budget the test fails instead of hanging.
@Suite struct InstructionTests {
    /// A script whose behaviour depends on neither hashes nor addresses, and whose end must not either.
    static let manyLines = """
        local kept, words = {}, {}
        for round = 1, 5000 do
          for i = 1, 20 do kept["key" .. i * round % 97] = i end
          for k, v in pairs(kept) do words[#words + 1] = k end
          table.sort(words, function(a, b) return a > b end)
          local text = table.concat(words, " "):gsub("%d", "x"):upper()
          coroutine.wrap(function()
            for i = 1, round % 50 do coroutine.yield(i) end
          end)()
          for i = 1, 20 do kept["key" .. i] = nil end
          words = {}
          pcall(string.rep, "x", round % 3000)
          if round % 3 == 0 then load("return " .. round)() end
          local long = ("ab"):rep(round % 700):find("b", 1, true)
          t.log(round)
        end
        """

    @Test func `the same script stops at the same position in every state`() async throws {
        for instructions in [100_000, 1_234_567] {
            var ends: [String] = []
            for memory in [64 << 20, 32 << 20] {
                let bench = try await Bench(limits: LuaLimits(memory: memory))
                if memory == 32 << 20 { try await bench.run("for i = 1, 1000 do load('return ' .. i)() end") }
                let error = try await bench.failure(of: Self.manyLines, limits: LuaLimits(cpu: .seconds(600), instructions: instructions))
                #expect(error.code == "budget.instructions")
                #expect(error.message == "the script used more than its budget of \(instructions) instructions")
                ends.append("\(String(describing: error.location)) in round \(bench.log.count)")
            }
            #expect(ends[0] == ends[1])
        }
    }

    @Test func `the same script stops at the same position in every process`() async throws {
        var ends: [String] = []
        for _ in 1...2 {
            let result = await #expect(processExitsWith: .success, observing: [\ExitTest.Result.standardOutputContent]) {
                let bench = try await Bench()
                let error = try await bench.failure(of: Self.manyLines, limits: LuaLimits(cpu: .seconds(600), instructions: 2_000_000))
                print("END \(error) in round \(bench.log.count)")
            }
            let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
            ends.append(text.split(separator: "\n").first { $0.hasPrefix("END ") }.map(String.init) ?? "nothing")
        }
        #expect(ends[0].hasPrefix("END a.lua:"))
        #expect(ends[0] == ends[1])
    }

    /// A clock tick must not reset the count: these loops last for dozens of ticks.
    @Test func `ticks do not change the count`() async throws {
        var rounds: Set<Int> = []
        for _ in 1...3 {
            let bench = try await Bench()
            let error = try await bench.failure(
                of: "for round = 1, 20000 do for i = 1, 9000 do end t.log() end",
                limits: LuaLimits(cpu: .seconds(600), instructions: 40_000_000))
            #expect(error.code == "budget.instructions")
            rounds.insert(bench.log.count)
        }
        #expect(rounds.count == 1)
    }

    @Test func `a sufficient budget changes nothing`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            "local n = 0 for i = 1, 1000 do n = n + i end t.later() return n", limits: LuaLimits(cpu: .seconds(600), instructions: 100_000))
        #expect(results == [.integer(500_500)])
        let error = try await bench.failure(
            of: "local n = 0 for i = 1, 1000000 do n = n + i end", limits: LuaLimits(cpu: .seconds(600), instructions: 100_000))
        #expect(error.code == "budget.instructions")
        #expect(error.kind == .budget)
        #expect(error.location == Lua.SourceLocation(chunk: "a.lua", line: 1))
    }

    @Test(arguments: [
        "for i = 1, 1e5 do coroutine.wrap(function() for i = 1, 20 do end end)() end",
        "local co = coroutine.wrap(function() while true do coroutine.yield() end end) for i = 1, 1e6 do co() end",
        "for i = 1, 2e4 do t.spawn(function() for i = 1, 20 do end end):await() end",
        "local function often() for i = 1, 1e5 do t.later() end end t.all { often, often }",
        "t.spawn(function() for i = 1, 1e8 do end end)",
    ])
    func `instructions of coroutines and tasks count for their run`(source: String) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: source, limits: LuaLimits(cpu: .seconds(600), instructions: 200_000))
        #expect(error.code == "budget.instructions")
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
    }

    /// A new coroutine starts its count at zero, so its instructions must be charged separately.
    @Test func `instructions of short coroutines count`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(
            of: "local function f() for i = 1, 80 do end end for i = 1, 1e5 do t.log() coroutine.wrap(f)() end",
            limits: LuaLimits(cpu: .seconds(600), instructions: 100_000))
        #expect(error.code == "budget.instructions")
        #expect((500...1_050).contains(bench.log.count))
    }

    @Test func `a coroutine of a run without the budget counts for the run that resumes it`() async throws {
        let bench = try await Bench()
        try await bench.run("t.spin = coroutine.wrap(function() coroutine.yield() for i = 1, 1e8 do end end) t.spin()")
        let error = try await bench.failure(of: "t.spin()", limits: LuaLimits(cpu: .seconds(600), instructions: 200_000))
        #expect(error.code == "budget.instructions")
        let other = try await Bench()
        try await other.run(
            "t.loop = coroutine.wrap(function() while true do for i = 1, 1000 do end coroutine.yield() end end) t.loop()",
            limits: LuaLimits(cpu: .seconds(600), instructions: 200_000))
        try await other.run("for i = 1, 1000 do t.loop() end")
    }

    @Test func `a run without the budget may spin beside one with it`() async throws {
        let bench = try await Bench()
        async let spinner = bench.failure(of: "while true do end", limits: LuaLimits(cpu: .milliseconds(200)))
        let error = try await bench.failure(of: "for i = 1, 1e9 do end", limits: LuaLimits(cpu: .seconds(600), instructions: 30_000_000))
        #expect(error.code == "budget.instructions")
        #expect(try await spinner.code == "budget.cpu")
    }
}
