import Testing

@testable import Lua

@Suite(.serialized) struct SessionTests {
    @Test func `globals and tasks persist between calls, separate from those of scripts`() async throws {
        let bench = try await SessionBench()
        try await bench.call("x = 1 waiting = t.spawn(function() t.gate 'g' x = x + 1 return 'done' end)")
        #expect(try await bench.call("return x") == [.integer(1)])
        #expect(try await bench.bench.run("return x") == [.nil])
        await bench.bench.gates.arrival(at: "g")
        try await bench.call("t.open 'g'")
        #expect(try await bench.call("return waiting:await(), x") == [.string("done"), .integer(2)])
    }

    @Test func `a call that fails, exceeds a budget or its memory ends alone`() async throws {
        let bench = try await SessionBench(limits: LuaLimits(memory: 8 << 20, cpu: .milliseconds(300)))
        try await bench.call("x = 1 kept = t.spawn(function() t.gate 'g' return 'kept' end)")
        await bench.bench.gates.arrival(at: "g")
        let failed = try await bench.failure(of: "\nerror 'boom'")
        #expect(failed.message == "boom")
        #expect(failed.location == Lua.SourceLocation(chunk: "s", line: 2))
        #expect(failed.annotations == ["run": "r-1"])
        for source in [
            "while true do end", "while true do pcall(function() while true do end end) end",
            "coroutine.wrap(function() while true do end end)()",
            "local c <close> = setmetatable({}, {__close = function() while true do end end}) while true do end",
            "t.spawn(function() while true do end end):await()",
        ] {
            let error = try await bench.failure(of: source)
            #expect(error.code == "budget.cpu", "\(source): \(error)")
        }
        #expect(try await bench.failure(of: "local s = 'x' while true do s = s .. s end").code == "budget.memory")
        try await bench.call("t.open 'g'")
        #expect(try await bench.call("return x, kept:await()") == [.integer(1), .string("kept")])
        #expect(bench.told == [])
    }

    @Test func `cancelling affects only the call in progress`() async throws {
        let bench = try await SessionBench()
        try await bench.call("other = t.spawn(function() t.gate 'other' return 'alive' end)")
        await bench.bench.gates.arrival(at: "other")
        for source in ["t.gate 'mine'", "t.all { function() t.gate 'mine' end }", "t.spawn(function() t.gate 'mine' end):await()"] {
            let call = Task {
                try await bench.call("local c <close> = setmetatable({}, {__close = function() t.log 'closed' end}) \(source)")
            }
            await bench.bench.gates.arrival(at: "mine")
            call.cancel()
            let error = await #expect(throws: LuaError.self) { try await call.value }
            #expect(error?.code == "cancelled")
        }
        #expect(bench.bench.log == ["closed", "closed", "closed"])
        try await bench.call("t.open 'other'")
        #expect(try await bench.call("return other:await()") == [.string("alive")])
        #expect(bench.told == [])
    }

    @Test func `an older task that computes during a cancellation is suspended and continues afterwards`() async throws {
        let bench = try await SessionBench(limits: LuaLimits(cpu: .seconds(20)))
        for waits in ["t.gate 'mine'", "t.spawn(function() t.gate 'mine' end):await()"] {
            try await bench.call(
                """
                closed = false
                local function busy(name)
                  t.gate 'go'
                  t.open(name)
                  while not closed do string.rep('x', 1e6) end
                  return 'alive'
                end
                older = t.spawn(busy, 'computing')
                t.spawn_daemon(function() t.gate 'stay' end)
                """)
            await bench.bench.gates.arrival(at: "go")
            let call = Task {
                try await bench.call(
                    "local c <close> = setmetatable({}, {__close = function() closed = true end}) t.open 'go' \(waits)")
            }
            try await bench.bench.gates.wait("computing")
            call.cancel()
            let error = await #expect(throws: LuaError.self) { try await call.value }
            #expect(error?.code == "cancelled")
            #expect(try await bench.call("return older:await()") == [.string("alive")])
            bench.bench.gates.close("go", "computing")
        }
        #expect(bench.told == [])
        #expect(await bench.bench.state.liveTasks == 2)
    }

    @Test func `a cancelled call also cancels tasks it spawned, including those of tasks that have ended`() async throws {
        let bench = try await SessionBench(limits: LuaLimits(cpu: .seconds(20)))
        try await bench.call("older = t.spawn(function() t.gate 'old' while not t_done do t.later() end return 'alive' end)")
        await bench.bench.gates.arrival(at: "old")
        let call = Task {
            try await bench.call(
                """
                local function closing(f) return function()
                  local c <close> = setmetatable({}, {__close = function() t.log 'closed' end})
                  f()
                end end
                t.spawn(function() t.spawn(closing(function() t.gate 'orphan' end)) end)
                t.spawn_daemon(closing(function() while true do t.gate 'daemon' end end))
                closing(function() t.gate 'mine' end)()
                """)
        }
        for gate in ["orphan", "daemon", "mine"] { await bench.bench.gates.arrival(at: gate) }
        call.cancel()
        await #expect(throws: LuaError.self) { try await call.value }
        #expect(try await bench.call("t_done = true t.open 'old' return older:await()") == [.string("alive")])
        #expect(bench.bench.log == ["closed", "closed", "closed"])
        #expect(await bench.bench.state.liveTasks == 0)
        #expect(bench.told == [])
    }

    @Test func `each stop has its own position`() async throws {
        let bench = try await SessionBench(limits: LuaLimits(cpu: .seconds(60), instructions: 10_000))
        for line in 1...3 {
            let error = try await bench.failure(of: String(repeating: "\n", count: line - 1) + "while true do end")
            #expect(error.code == "budget.instructions")
            #expect(error.location == SourceLocation(chunk: "s", line: line))
        }
    }

    @Test func `an older task does not use up the time for the cleanup`() async throws {
        let bench = try await SessionBench(limits: LuaLimits(cpu: .seconds(60)))
        try await bench.call(
            """
            older = t.spawn(function()
              t.gate 'go'
              for i = 1, 5e8 do end
              return 'alive'
            end)
            """)
        await bench.bench.gates.arrival(at: "go")
        let call = Task {
            try await bench.call("pcall(t.gate, 'mine') t.open 'go' t.later() t.log 'cleaned' older:await()")
        }
        await bench.bench.gates.arrival(at: "mine")
        call.cancel()
        let error = await #expect(throws: LuaError.self) { try await call.value }
        #expect(error?.code == "cancelled")
        #expect(bench.bench.log == ["cleaned"])
        #expect(try await bench.call("return older:await()") == [.string("alive")])
        #expect(bench.told == [])
    }

    @Test func `a cancellation between calls affects only what the latest call left computing`() async throws {
        let bench = try await SessionBench(limits: LuaLimits(cpu: .seconds(20)))
        try await bench.call(
            "older = t.spawn(function() t.gate 'old' t.open 'busy' for i = 1, 3e7 do end return 'alive' end)")
        await bench.bench.gates.arrival(at: "old")
        try await bench.call(
            "t.spawn(function() t.gate 'new' t.open 'computing' while true do end end)")
        await bench.bench.gates.arrival(at: "new")
        bench.bench.gates.open("new")
        try await bench.bench.gates.wait("computing")
        bench.session.cancel()
        #expect(await bench.told(1).map(\.code) == ["cancelled"])
        try await bench.call("return 1")
        bench.bench.gates.open("old")
        try await bench.bench.gates.wait("busy")
        bench.session.cancel()
        #expect(try await bench.call("return older:await()") == [.string("alive")])
        #expect(bench.told.count == 1)
    }

    /// Runs in a child process, because without the end of the cleanup it would use its whole CPU budget.
    @Test(arguments: ["while true do end", "while true do pcall(t.gate, 'never') end"])
    func `a call that computes or catches its cancellation is stopped`(source: String) async {
        await #expect(processExitsWith: .success) { [source = source as String] in
            HangGuard.arm()
            let bench = try await SessionBench(limits: LuaLimits(cpu: .seconds(60)))
            let call = Task { try await bench.call("t.open 'there' \(source)") }
            try await bench.bench.gates.wait("there")
            call.cancel()
            let error = await #expect(throws: LuaError.self) { try await call.value }
            #expect(error?.code == "cancelled", "\(source)")
            #expect(try await bench.call("return 1") == [.integer(1)])
        }
    }

    @Test func `a cancellation that is too early or too late has no effect`() async throws {
        let bench = try await SessionBench()
        bench.session.cancel()
        #expect(try await bench.call("return 1") == [.integer(1)])
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await bench.call("return 2")
        }
        let error = await #expect(throws: LuaError.self) { try await call.value }
        #expect(error?.code == "cancelled")
        #expect(try await bench.call("local n = 0 for i = 1, 1e7 do n = n + 1 end return n") == [.integer(10_000_000)])
    }

    @Test func `failures of tasks that are not awaited are reported at the end of the call or when they happen`() async throws {
        let bench = try await SessionBench()
        try await bench.call("t.spawn(function() error 'unseen' end)")
        #expect(bench.told == ["unseen"])
        try await bench.call("local task = t.spawn(function() error 'seen' end) pcall(task.await, task)")
        #expect(bench.told == ["unseen"])
        try await bench.call("late = t.spawn(function() t.gate 'g' error 'late' end) t.spawn_daemon(function() error 'daemon' end)")
        #expect(bench.told == ["unseen", "daemon"])
        await bench.bench.gates.arrival(at: "g")
        bench.bench.gates.open("g")
        #expect(await bench.told(3).map(\.message) == ["unseen", "daemon", "late"])
        // The failure can still be read by awaiting the task.
        #expect(try await bench.call("return (select(2, pcall(late.await, late)))") == [.string("s:1: late")])
    }

    @Test func `a task that exceeds a budget after its call is stopped and reported, and the session continues`() async throws {
        let bench = try await SessionBench(limits: LuaLimits(cpu: .milliseconds(30)))
        try await bench.call("t.spawn(function() t.gate 'g' while true do end end)")
        await bench.bench.gates.arrival(at: "g")
        bench.bench.gates.open("g")
        #expect(await bench.told(1).map(\.code) == ["budget.cpu"])
        #expect(try await bench.call("return 1") == [.integer(1)])
        #expect(await bench.bench.state.liveTasks == 0)
    }

    @Test(.timeLimit(.minutes(5))) func `a call and all its tasks share one budget`() async throws {
        let bench = try await SessionBench(limits: LuaLimits(cpu: .milliseconds(300)))
        try await bench.call("kept = t.spawn(function() t.gate 'g' return 'kept' end)")
        await bench.bench.gates.arrival(at: "g")
        let error = try await bench.failure(
            of: """
                local c <close> = setmetatable({}, {__close = function() t.log 'closed' end})
                t.open 'open'
                for i = 1, 500 do t.spawn(function() while true do pcall(t.gate, 'open') end end) end
                t.gate 'never'
                """)
        #expect(error.code == "budget.cpu")
        #expect(bench.told == [])
        #expect(bench.bench.log == [])
        #expect(await bench.bench.state.liveTasks == 1)
        try await bench.call("t.open 'g'")
        #expect(try await bench.call("return kept:await()") == [.string("kept")])
    }

    @Test func `tasks of an earlier call that exceed a budget are stopped together and reported once`() async throws {
        let bench = try await SessionBench(limits: LuaLimits(cpu: .milliseconds(300)))
        try await bench.call(
            """
            for i = 1, 500 do
              t.spawn(function() t.gate 'g' while true do end end)
              if i % 100 == 0 then t.spawn_daemon(function() while true do t.gate 'h' end end) end
            end
            """)
        await bench.bench.gates.arrival(at: "g")
        try await bench.call("kept = t.spawn(function() t.gate 'k' return 'kept' end)")
        await bench.bench.gates.arrival(at: "k")
        bench.bench.gates.open("g")
        #expect(await bench.told(1).map(\.code) == ["budget.cpu"])
        #expect(try await bench.call("return 1") == [.integer(1)])
        #expect(await bench.bench.state.liveTasks == 1)
        #expect(bench.told.count == 1)
        try await bench.call("t.open 'k'")
        #expect(try await bench.call("return kept:await()") == [.string("kept")])
    }

    @Test func `a call that waits for tasks in a cycle ends with a deadlock`() async throws {
        let bench = try await SessionBench()
        let error = try await bench.failure(
            of: "local a, b a = t.spawn(function() b:await() end) b = t.spawn(function() a:await() end)\na:await()")
        #expect(error.code == "script.deadlock")
        #expect(error.location?.line == 2)
        #expect(try await bench.call("return 1") == [.integer(1)])
    }

    @Test func `only one call is in progress at a time, and none after closing`() async throws {
        let bench = try await SessionBench()
        let first = Task { try await bench.call("t.gate 'g'") }
        await bench.bench.gates.arrival(at: "g")
        #expect(try await bench.failure(of: "return 1").code == "session.busy")
        await #expect(throws: LuaError.self) { try await bench.session.close() }
        bench.bench.gates.open("g")
        _ = try await first.value
        try await bench.session.close()
        #expect(try await bench.failure(of: "return 1").code == "session.busy")
    }

    @Test func `closing cancels remaining tasks, waits for their cleanup and leaves nothing behind`() async throws {
        let bench = try await SessionBench()
        let before = await bench.bench.state.inspect { $0.registryCount }
        let session = try await bench.bench.state.openSession(id: bench.bench.nextID()) { _ in }
        try await session.close()
        try await bench.call(
            """
            t.spawn(function()
              local c <close> = setmetatable({}, {__close = function() t.log 'closed' end})
              t.gate 'g'
            end)
            t.spawn_daemon(function() while true do t.gate 'h' end end)
            """)
        await bench.bench.gates.arrival(at: "g")
        await bench.bench.gates.arrival(at: "h")
        try await bench.session.close()
        #expect(bench.bench.log == ["closed"])
        #expect(await bench.bench.state.liveTasks == 0)
        await bench.bench.state.inspect { $0.collect() }
        #expect(await bench.bench.state.inspect { $0.registryCount } <= before)
        #expect(bench.told == [])
    }
}
