import Testing

@testable import Lua

/// Cancelling a run in each of its states, which also ends its children and leaves nothing behind.
@Suite struct CancelTests {
    enum Stage: String, CaseIterable {
        /// The run is requested, and the thread is still busy.
        case queued
        /// The run computes.
        case running
        /// The run waits for an operation.
        case parked
        /// The run waits for several tasks.
        case all
        /// The run waits for one task.
        case task
        /// The run waits for a module that another task loads.
        case module

        var source: String {
            switch self {
            case .queued: "t.log 'ran'"
            case .running: "t.open 'there' while true do end"
            case .parked: "t.open 'there' t.gate 'never'"
            case .all:
                "t.all { function() t.gate 'never' end, function() t.open 'there' t.gate 'never' end, function() t.spawn(t.gate, 'never'):await() end }"
            case .task: "t.spawn(function() t.open 'there' t.gate 'never' end):await()"
            case .module: "t.spawn(function() require 'm' end) t.later() require 'm'"
            }
        }
    }

    private func check(_ bench: Bench, after stage: Stage) async throws {
        let isEmpty = await bench.state.inspect { machine in
            machine.collect()
            return machine.runs.isEmpty && machine.waiting.isEmpty && machine.framesEntered == machine.framesLeft
        }
        #expect(isEmpty, "\(stage)")
        #expect(await bench.state.liveTasks == 0)
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
    }

    @Test(arguments: Stage.allCases, [true, false])
    func `a run is cancelled together with its children`(stage: Stage, byTask: Bool) async throws {
        let bench = try await Bench(
            searchPath: .lookup { _ in LuaScript(name: "m.lua", source: "local t = require 't' t.open 'there' t.gate 'never'") })
        let id = bench.nextID()
        let hold = Gates()
        let children =
            "for i = 1, 3 do t.spawn(function() local c <close> = setmetatable({}, {__close = function() t.log 'child' end}) t.gate 'never' end) end "
        let isQueued = stage == .queued
        if isQueued {
            // Blocks the thread until the cancellation has been sent.
            bench.thread.perform { while !hold.isOpen("go") {} }
        }
        let run = Task { try await bench.run(isQueued ? stage.source : children + "t.later() " + stage.source, id: id) }
        if isQueued {
            while !bench.state.table.contains(id) { await Task.yield() }
        } else {
            try await bench.gates.wait("there")
        }
        if byTask { run.cancel() } else { bench.state.cancel(id) }
        hold.open("go")
        do {
            _ = try await run.value
            Issue.record("did not fail")
        } catch let error as LuaError {
            #expect(error.code == "cancelled")
            #expect(error.kind == .cancelled)
        }
        #expect(bench.log == (isQueued ? [] : ["child", "child", "child"]))
        try await check(bench, after: stage)
    }

    @Test func `a computing run is cancelled even if its caller uses the same thread`() async throws {
        let bench = try await Bench()
        let run = Task(executorPreference: bench.thread) { try await bench.run("t.open 'there' while true do end") }
        try await bench.gates.wait("there")
        run.cancel()
        await #expect(throws: LuaError.self) { try await run.value }
        try await check(bench, after: .running)
    }

    @Test func `cancelling a run that has ended or does not exist does nothing`() async throws {
        let bench = try await Bench()
        let id = bench.nextID()
        #expect(try await bench.run("return 1", id: id) == [.integer(1)])
        bench.state.cancel(id)
        bench.state.cancel(LuaRunID(rawValue: 999))
        // A later run with the same number is a different run.
        #expect(try await bench.run("return t.later(2)", id: id) == [.integer(2)])
        try await check(bench, after: .parked)
    }

    @Test func `short runs finish while another run spins, in the same and in another state`() async throws {
        let bench = try await Bench()
        let other = try await Bench(thread: bench.thread)
        let id = bench.nextID()
        let spinner = Task { try await bench.run("t.open 'spins' while true do end", id: id) }
        try await bench.gates.wait("spins")
        let hasEnded = Gates()
        let watch = Task {
            _ = try? await spinner.value
            hasEnded.open("spinner")
        }
        try await withThrowingTaskGroup(of: [LuaValue].self) { group in
            for index in 0..<20 {
                let bench = index % 2 == 0 ? bench : other
                group.addTask {
                    try await bench.run(
                        "local n = 0 for i = 1, 1000 do n = n + i end return t.later(n)", id: LuaRunID(rawValue: 1_000 + index))
                }
            }
            for try await results in group { #expect(results == [.integer(500_500)]) }
        }
        #expect(!hasEnded.isOpen("spinner"))
        bench.state.cancel(id)
        await watch.value
        try await check(bench, after: .running)
    }

    // MARK: all

    @Test func `all refuses tasks of other runs, and values that are not tasks, before anything starts`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local r = t.all { t.spawn(t.later, 5), function() return t.later(6) end }
            return r[1], r[2], r.n, t.all({}).n
            """)
        #expect(results == [.integer(5), .integer(6), .integer(2), .integer(0)])
        let id = bench.nextID()
        let holder = Task { try await bench.run("t.kept = t.spawn(t.gate, 'never') t.open 'there' t.gate 'never'", id: id) }
        try await bench.gates.wait("there")
        for source in ["t.all { function() t.log 'ran' end, t.kept }", "t.kept:await()"] {
            let error = try await bench.failure(of: source)
            #expect(error.code == "script.bad_argument")
            #expect(error.kind == .misuse)
        }
        for value in ["1", "{}", "coroutine.create(print)", "t.thing('x')"] {
            #expect(try await bench.failure(of: "t.all { function() t.log 'ran' end, \(value) }").code == "script.bad_argument")
        }
        #expect(bench.log.isEmpty, "nothing starts before all has been looked at")
        bench.state.cancel(id)
        await #expect(throws: LuaError.self) { try await holder.value }
        try await check(bench, after: .all)
    }

    @Test func `all raises the first failure, not the errors that its cancellation causes`() async throws {
        let bench = try await Bench()
        for order in ["bad, good, good", "good, bad, good", "good, good, bad"] {
            let results = try await bench.run(
                """
                local function bad() t.later_fail() end
                local function good() local ok, e = pcall(t.gate, 'never') t.log(e.code) error 'a later one' end
                local ok, e = pcall(t.all, {\(order)})
                return e.code, e.where
                """)
            #expect(results == [.string("hub.refused"), .string("a.lua:1")])
        }
        #expect(bench.log == Array(repeating: "cancelled", count: 6))
    }
}
