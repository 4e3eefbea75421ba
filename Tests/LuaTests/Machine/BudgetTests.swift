import CLua
import Testing

@testable import Lua

/// Every call of a session and every run of a state has its own budgets. Tests move the clock for CPU time.
@Suite struct BudgetTests {
    /// Scripts that use three quarters of a budget, and more than all of it.
    enum Budget: String, CaseIterable {
        case cpu, instructions

        var limits: LuaLimits {
            switch self {
            case .cpu: LuaLimits(cpu: .seconds(400))
            case .instructions: LuaLimits(cpu: .seconds(600), instructions: 1_000_000)
            }
        }

        var most: String { self == .cpu ? "clock.spend(300)" : "for i = 1, 750000 do end" }
        var tooMuch: String { "\(most) \(most) for i = 1, 10000 do end" }
        var code: String { "budget.\(rawValue)" }

        func bench() async throws -> SessionBench {
            let bench = try await SessionBench(limits: limits)
            try await bench.bench.defineClock()
            try await bench.call("clock = require 'clock'")
            return bench
        }
    }

    @Test(arguments: Budget.allCases)
    func `each call has the whole budget`(budget: Budget) async throws {
        let bench = try await budget.bench()
        for _ in 1...3 { #expect(try await bench.call("\(budget.most) return 'enough'") == [.string("enough")]) }
        #expect(try await bench.failure(of: budget.tooMuch).code == budget.code)
        #expect(try await bench.call("\(budget.most) return 'enough'") == [.string("enough")])
    }

    /// The budget is renewed at the end of a call; otherwise the task would not have enough.
    @Test(arguments: Budget.allCases)
    func `the use of a call is not charged to a task that continues after it`(budget: Budget) async throws {
        let bench = try await budget.bench()
        try await bench.call("t.spawn(function() t.gate 'go' \(budget.most) error('enough', 0) end) \(budget.most)")
        await bench.bench.gates.arrival(at: "go")
        bench.bench.gates.open("go")
        #expect(await bench.told(1).map(\.message) == ["enough"])
    }

    /// The budget is also renewed at the beginning of a call.
    @Test(arguments: Budget.allCases)
    func `the use of a task between calls is not charged to the next call`(budget: Budget) async throws {
        let bench = try await budget.bench()
        try await bench.call("t.spawn(function() t.gate 'go' \(budget.most) error('enough', 0) end)")
        await bench.bench.gates.arrival(at: "go")
        bench.bench.gates.open("go")
        #expect(await bench.told(1).map(\.message) == ["enough"])
        #expect(try await bench.call("\(budget.most) return 'enough'") == [.string("enough")])
    }

    @Test(arguments: Budget.allCases)
    func `each run of a state has the whole budget`(budget: Budget) async throws {
        let bench = try await Bench(limits: budget.limits)
        try await bench.defineClock()
        let clock = "local clock = require 'clock' "
        for _ in 1...3 { try await bench.run(clock + budget.most) }
        #expect(try await bench.failure(of: clock + budget.tooMuch).code == budget.code)
        try await bench.run(clock + budget.most)
    }

    @Test func `a negative CPU budget is one clock tick`() async {
        await #expect(processExitsWith: .success) {
            HangGuard.arm()  // a budget that stays exhausted must not block the thread
            let bench = try await SessionBench(limits: LuaLimits(cpu: .seconds(-1)))
            #expect(try await bench.call("return 1") == [.integer(1)])
            #expect(try await bench.failure(of: "while true do end").code == "budget.cpu")
            #expect(try await bench.call("return 1") == [.integer(1)])
        }
    }

    @Test(arguments: [0, -1, .min])
    func `a memory budget of zero or less is too small for a state`(memory: Int) throws {
        let thread = LuaThread(name: "lua-test")
        defer { thread.stop() }
        let error = #expect(throws: LuaError.self) { try LuaState(thread: thread, limits: LuaLimits(memory: memory)) }
        #expect(error?.code == "budget.memory")
        #expect(error?.message == "the script used more than its memory budget of 0 MiB")
    }

    /// Tested for a run and for its state.
    @Test(arguments: [
        (LuaLimits(cpu: .seconds(-1)), "while true do end", "the script used more than its CPU budget of 0 s"),
        (LuaLimits(wall: .seconds(-1)), "t.gate 'never'", "the script took longer than its time budget of 0 s"),
        (LuaLimits(wall: .zero), "while true do end", "the script took longer than its time budget of 0 s"),
        (LuaLimits(tasks: -3), "t.spawn(t.later)", "the script already has 0 tasks"),
        (LuaLimits(tasks: .min), "t.spawn(t.later)", "the script already has 0 tasks"),
        (LuaLimits(instructions: -3), "while true do end", "the script used more than its budget of 0 instructions"),
        (LuaLimits(instructions: 0), "while true do end", "the script used more than its budget of 0 instructions"),
        (LuaLimits(instructions: .min), "while true do end", "the script used more than its budget of 0 instructions"),
    ])
    func `a negative budget is zero`(limits: LuaLimits, source: String, message: String) async throws {
        #expect(try await Bench().failure(of: source, limits: limits).message == message)
        #expect(try await Bench(limits: limits).failure(of: source).message == message)
    }

    @Test func `a negative task budget of a session is zero`() async throws {
        let bench = try await Bench()
        guard case .function(let spawn)? = try await bench.run("return function() return t.spawn(t.later) end").first else {
            throw Bench.refusal
        }
        let session = try await bench.state.openSession(id: bench.nextID(), limits: LuaLimits(tasks: -3)) { _ in }
        let error = await #expect(throws: LuaError.self) { try await session.call(spawn) }
        #expect(error?.message == "the script already has 0 tasks")
        try await session.close()
    }

    /// No budget of a session behaves like this; a broken renewal would.
    @Test func `a session whose stop cannot be withdrawn ends`() async {
        await #expect(processExitsWith: .success) {
            HangGuard.arm()  // without an end the thread would check for the stop forever
            let bench = try await SessionBench()
            let machine = bench.bench.state.machine
            try await bench.bench.state.define(
                LuaModule(
                    name: "late",
                    functions: [
                        .sync("late.be") { call in
                            machine.runs[call.run]?.control.pointer.pointee.deadline_ns = 1
                            return []
                        }
                    ]))
            try await bench.call("older = t.spawn(function() t.gate 'go' require('late').be() t.later() end)")
            await bench.bench.gates.arrival(at: "go")
            let error = try await bench.failure(of: "t.open 'go' t.gate 'never'")
            #expect(error.code == "session.stuck")
            #expect(error.annotations == ["run": "r-1"])
            #expect(bench.told.count == 1)
            #expect(try await bench.failure(of: "return 1").code == "session.busy")
            #expect(await bench.bench.state.liveTasks == 0)
            #expect(try await bench.bench.run("return 1 + 1") == [.integer(2)])
            try await bench.session.close()
        }
    }
}
