import Testing

@testable import Lua

@Suite(.serialized) struct StopTests {
    @Test(arguments: [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "coroutine.wrap(function() while true do end end)()",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
        "while true do coroutine.wrap(function() for i = 1, 300 do end end)() end",
        "xpcall(error, function() while true do end end)",
        "xpcall(function() while true do end end, function() while true do end end)",
        "local c <close> = setmetatable({}, {__close = function() while true do end end}) while true do end",
        "local c <close> = setmetatable({}, {__close = function() while true do end end})",
        """
        local co = coroutine.create(function()
            local c <close> = setmetatable({}, {__close = function() while true do end end})
            while true do end
        end)
        while true do coroutine.resume(co) coroutine.close(co) end
        """,
        """
        local co = coroutine.create(function()
            local c <close> = setmetatable({}, {__close = function() while true do end end})
            coroutine.yield()
        end)
        coroutine.resume(co) coroutine.close(co)
        """,
        "return tostring(setmetatable({}, {__tostring = function() while true do end end}))",
        "table.sort({1, 2, 3}, function() while true do end end)",
        "local ok, e repeat ok, e = pcall(function() while true do end end) until false",
        "while true do t.later() for i = 1, 100000 do end end",
        "t.all { function() while true do end end, function() t.gate('never') end }",
        "for i = 1, 1e9 do t.spawn(function() while true do end end) t.later() end",
    ])
    func `a stop cannot be caught`(source: String) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: source, limits: LuaLimits(cpu: .milliseconds(20)))
        #expect(error.code == "budget.cpu")
        #expect(error.kind == .budget)
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
    }

    /// Each round takes dozens of milliseconds in about eight instructions. A stop that waited for a thousand instructions
    /// would come after more than a hundred rounds. Ticks may be late on a busy machine.
    @Test(arguments: [
        "while true do t.log() string.rep('x', 1e8) end",
        "while true do t.log() pcall(string.rep, 'x', 1e8) end",
        "while true do t.log() coroutine.wrap(string.rep)('x', 1e8) end",
        "while true do t.log() coroutine.wrap(function() string.rep('x', 1e8) end)() end",
    ])
    func `a stop does not wait for the end of long library functions`(source: String) async throws {
        let bench = try await Bench(limits: LuaLimits(memory: 512 << 20))
        #expect(try await bench.failure(of: source, limits: LuaLimits(cpu: .milliseconds(20))).code == "budget.cpu")
        #expect(bench.log.count < 80)
        let late = try await Bench(limits: LuaLimits(memory: 512 << 20))
        #expect(try await late.failure(of: source, limits: LuaLimits(wall: .milliseconds(20))).code == "budget.wall")
        #expect(late.log.count < 80)
        let other = try await Bench(limits: LuaLimits(memory: 512 << 20))
        try await other.defineSelfCancel()
        #expect(try await other.failure(of: "require('self').cancel() \(source)").code == "cancelled")
        #expect(other.log.count < 80)
    }

    @Test(arguments: [
        ("local all = {}\nfor i = 1, 1e9 do\nall[i] = i\nend", 3),
        ("local s = 'x'\nwhile true do\ns = s .. s\nend", 3),
        ("\nreturn ('x'):rep(1e9)", 2),
        ("\nreturn t.echo(('x'):rep(2 << 20),\n('y'):rep(2 << 20))\n", 2),
        ("local function deep()\nreturn 1 + deep()\nend\ndeep()", 2),
        ("\nlocal function many(...)\nreturn 1 + many(1, ...)\nend many()", 3),
        ("local c = coroutine.wrap(function()\nlocal all = {} while true do all[#all + 1] = {} end\nend)\nc()", 2),
        ("local all = {}\nwhile true do\nall[#all + 1] = function() return all end\nend", 3),
        ("local all = {}\nwhile true do\nall[#all + 1] = coroutine.create(print)\nend", 3),
        ("local all = {}\nwhile true do\nall[#all + 1] = ('%99d'):format(#all)\nend", 3),
        ("local list = {} for i = 1, 60 do list[i] = ('x'):rep(1e5) end\nreturn table.concat(list)", 2),
        (
            "local ok = pcall(string.rep, 'x', 1e9)\nok = ok or pcall(t.echo, ('x'):rep(2 << 20), ('x'):rep(2 << 20))\nlocal s = ('x'):rep(1e9)",
            3
        ),
        ("local task = t.spawn(function()\nlocal s = ('x'):rep(1e9)\nend)\ntask:await()", 2),
    ])
    func `the memory error names the line that exceeded the budget`(source: String, line: Int) async throws {
        let bench = try await Bench(limits: LuaLimits(memory: 8 << 20))
        let error = try await bench.failure(of: source)
        #expect(error.code == "budget.memory")
        #expect(error.location == Lua.SourceLocation(chunk: "a.lua", line: line))
        #expect(error.traceback.first == error.location)
    }

    @Test func `memory not requested by any line has no line in the error`() async throws {
        let bench = try await Bench(limits: LuaLimits(memory: 8 << 20))
        try await bench.run("pcall(string.rep, 'x', 1e9)")
        let error = try await bench.failure(of: "t.spawn(string.rep, 'x', 1e9)")
        #expect(error.code == "budget.memory")
        #expect(error.location == nil)
    }

    @Test(arguments: [
        "local all = {} while true do all[#all + 1] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "return ('x'):rep(1e9)",
        "return t.echo(('x'):rep(3 << 20), ('y'):rep(3 << 20))",
    ])
    func `a script that allocates gets the error of its memory budget`(source: String) async throws {
        let bench = try await Bench(limits: LuaLimits(memory: 8 << 20))
        let error = try await bench.failure(of: source)
        #expect(error.code == "budget.memory")
        #expect(error.message == "the script used more than its memory budget of 8 MiB")
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
    }

    @Test func `an endless wait ends with the wall budget`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "t.gate('never')", limits: LuaLimits(wall: .milliseconds(10)))
        #expect(error.code == "budget.wall")
        #expect(error.message == "the script took longer than its time budget of 10 ms")
    }

    @Test func `maximal budgets mean no limit`() async throws {
        let bench = try await Bench(limits: LuaLimits(cpu: .seconds(Int64.max), wall: .seconds(Int64.max), tasks: .max, instructions: .max))
        #expect(try await bench.run("return t.later(1)") == [.integer(1)])
    }

    @Test func `a loop ends with the wall budget`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "while true do end", limits: LuaLimits(wall: .milliseconds(10)))
        #expect(error.code == "budget.wall")
    }

    @Test func `cancelling stops a waiting run, and its cleanup runs`() async throws {
        let bench = try await Bench()
        let id = bench.nextID()
        let result = Task {
            try await bench.run(
                "local c <close> = setmetatable({}, {__close = function() t.log('closed') end}) t.gate('g')", id: id)
        }
        await bench.gates.arrival(at: "g")
        bench.state.cancel(id)
        await #expect(throws: LuaError.self) { try await result.value }
        #expect(bench.log == ["closed"])
        #expect(await bench.state.liveTasks == 0)
    }

    @Test func `cancelling the Swift task cancels the run`() async throws {
        let bench = try await Bench()
        let task = Task { try await bench.run("t.gate('g')") }
        await bench.gates.arrival(at: "g")
        task.cancel()
        do {
            _ = try await task.value
            Issue.record("did not fail")
        } catch let error as LuaError {
            #expect(error.code == "cancelled")
        }
    }

    @Test func `cancelling stops a computing run with one error that it can catch`() async throws {
        let bench = try await Bench()
        let id = bench.nextID()
        async let result = bench.run(
            """
            local ok, e = pcall(function() t.gate('g') while true do end end)
            t.log(e.code)
            local ok, e = pcall(function() for i = 1, 1000 do end return "cleaned up" end)
            t.log(e)
            """, id: id)
        await bench.gates.arrival(at: "g")
        // The gate opens first: the script is in its loop when the cancellation arrives, or soon after.
        bench.gates.open("g")
        bench.state.cancel(id)
        do {
            _ = try await result
            Issue.record("did not fail")
        } catch let error as LuaError {
            #expect(error.code == "cancelled")
        }
        #expect(bench.log == ["cancelled", "cleaned up"])
    }

    @Test func `a cancelled computing run may clean up`() async throws {
        let bench = try await Bench()
        let id = bench.nextID()
        try await bench.defineSelfCancel()
        await #expect(throws: LuaError.self) {
            try await bench.run(
                "local ok, e = pcall(function() require('self').cancel() while true do end end) t.log(e.code) return 1",
                id: id)
        }
        #expect(bench.log == ["cancelled"])
    }

    /// Runs in a child process, because without the end of the cleanup it would use its whole CPU budget.
    @Test func `a cancelled run that continues to compute is stopped`() async {
        await #expect(processExitsWith: .success) {
            HangGuard.arm()
            let bench = try await Bench()
            let id = bench.nextID()
            let run = Task { try await bench.run("pcall(t.gate, 'g') while true do pcall(function() while true do end end) end", id: id) }
            await bench.gates.arrival(at: "g")
            bench.state.cancel(id)
            let error = await #expect(throws: LuaError.self) { try await run.value }
            #expect(error?.code == "cancelled")
        }
    }

    @Test func `cancelling before the start prevents a run`() async throws {
        let bench = try await Bench()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await bench.run("t.log('ran')")
        }
        do {
            _ = try await task.value
            Issue.record("did not fail")
        } catch let error as LuaError {
            #expect(error.code == "cancelled")
        }
        #expect(bench.log.isEmpty)
    }

    @Test func `a spinning run lets other runs of its thread continue`() async throws {
        let bench = try await Bench()
        let other = try await Bench(thread: bench.thread)
        let id = bench.nextID()
        let spinner = Task { try await bench.run("t.gate('g') while true do end", id: id) }
        await bench.gates.arrival(at: "g")
        bench.gates.open("g")
        #expect(try await other.run("return t.later(1)") == [.integer(1)])
        #expect(try await bench.run("return t.later(2)") == [.integer(2)])
        bench.state.cancel(id)
        await #expect(throws: LuaError.self) { try await spinner.value }
    }
}

extension Bench {
    /// Defines a module `self` whose function `cancel` cancels the run.
    func defineSelfCancel() async throws {
        try await state.define(
            LuaModule(
                name: "self",
                functions: [
                    .sync("self.cancel") { [state] call in
                        state.cancel(call.run)
                        return []
                    }
                ]))
    }
}
