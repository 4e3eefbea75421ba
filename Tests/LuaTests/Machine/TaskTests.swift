import Testing

@testable import Lua

@Suite struct TaskTests {
    @Test func `all returns the results in order, including nil`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local r = t.all { function() return t.later(1) end, function() return t.later(nil) end, function() return 3 end }
            return r[1], r[2], r[3], r.n
            """)
        #expect(results == [.integer(1), .nil, .integer(3), .integer(3)])
    }

    @Test func `all reports the root error and cancels the siblings`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(
            of: """
                t.all {
                    function() local ok, e = pcall(t.gate, "never") t.log("sibling " .. e.code) error(e) end,
                    function() t.later_fail() end,
                }
                """)
        #expect(error.code == "hub.refused")
        #expect(bench.log == ["sibling cancelled"])
    }

    @Test(arguments: [
        ("local a = t.spawn(t.later) t.all{a, t.later, a}", "value 3 of the list is the same task as value 1"),
        (
            "local a a = t.spawn(function() t.later() t.all{t.later, a} end) a:await()",
            "value 2 of the list is the calling task, which would wait for itself"
        ),
        ("t.all{t.later, 5}", "value 2 of the list is neither a function nor a task of this run"),
    ])
    func `all refuses invalid arguments before it starts any`(source: String, message: String) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "t.all{function() return 1 end} \(source)")
        #expect(error.code == "script.bad_argument")
        #expect(error.message == message)
        #expect(try await bench.run("local f = function() return 1 end local r = t.all{f, f} return r.n") == [.integer(2)])
    }

    @Test func `an awaited task raises its error in the waiting task`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local task = t.spawn(function() t.later() error({code = "own", n = 5}) end)
            local ok, e = pcall(task.await, task)
            return ok, e.code, e.n
            """)
        #expect(results == [.boolean(false), .string("own"), .integer(5)])
    }

    @Test func `a run waits for its children`() async throws {
        let bench = try await Bench()
        try await bench.run("t.spawn(function() for i = 1, 3 do t.later() end t.log('done') end)")
        #expect(bench.log == ["done"])
    }

    @Test func `a child that fails without being awaited fails the run`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "t.spawn(function() t.later_fail() end) t.later() t.log('main')")
        #expect(error.code == "hub.refused")
        #expect(bench.log == ["main"])
    }

    @Test func `daemons are cancelled when the other tasks have ended`() async throws {
        let bench = try await Bench()
        try await bench.run(
            "t.spawn_daemon(function() local ok, e = pcall(t.gate, 'never') t.log(e.code) end) t.later()")
        #expect(bench.log == ["cancelled"])
    }

    @Test func `the error of a daemon fails the run`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "t.spawn_daemon(t.later_fail) t.gate('never')")
        #expect(error.code == "hub.refused")
    }

    @Test func `cancel stops a waiting task, whose cleanup may do anything except wait`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local task = t.spawn(function()
                local guard <close> = setmetatable({}, {__close = function() t.log("closed") end})
                local ok, e = pcall(t.gate, "never")
                local again, f = pcall(t.gate, "never")
                return e.code, f.code, again, t.later(1), t.echo("sync")
            end)
            t.later()
            task:cancel()
            return task:await()
            """)
        #expect(
            results == [.string("cancelled"), .string("cancelled"), .boolean(false), .integer(1), .string("sync")])
        #expect(bench.log == ["closed"])
    }

    @Test func `a task cancelled before its start never runs`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local task = t.spawn(function() t.log("ran") end)
            task:cancel()
            local ok, e = pcall(task.await, task)
            return ok, e.code
            """)
        #expect(results == [.boolean(false), .string("cancelled")])
        #expect(bench.log.isEmpty)
    }

    @Test func `waiting works in pcall, wrap, iterators, close handlers and nested coroutines`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local out = {}
            out[#out + 1] = select(2, pcall(t.later, 1))
            local gen = coroutine.wrap(function()
                for i = 1, 2 do coroutine.yield(t.later(i * 10)) end
            end)
            for v in gen do out[#out + 1] = v end
            do
                local c <close> = setmetatable({}, {__close = function() out[#out + 1] = t.later(99) end})
            end
            local outer = coroutine.wrap(function()
                local inner = coroutine.create(function() return t.later(7) end)
                local ok, v = coroutine.resume(inner)
                return v, coroutine.status(inner)
            end)
            local v, s = outer()
            out[#out + 1] = v
            local co = coroutine.create(function() local c <close> = setmetatable({}, {__close = function() t.log("x") end}) coroutine.yield() end)
            coroutine.resume(co)
            local closed = coroutine.close(co)
            return out, s, closed, coroutine.status(co), coroutine.isyieldable(), (select(2, coroutine.running()))
            """)
        #expect(results.first == .table(LuaTable(array: [1, 10, 20, 99, 7].map(LuaValue.integer))))
        #expect(
            Array(results.dropFirst()) == [
                .string("dead"), .boolean(true), .string("dead"), .boolean(false), .boolean(true),
            ])
        #expect(bench.log == ["x"])
    }

    @Test(arguments: [
        "table.sort({3, 2, 1}, function(a, b) t.gate('never') return a < b end)",
        "string.gsub('abc', '%w', function() t.gate('never') end)",
        "local s = {3, 2, 1} table.sort(s, function(a, b) coroutine.wrap(function() t.gate('never') end)() return a < b end)",
        "local task = t.spawn(function() end) table.sort({2, 1}, function() task:await() end)",
    ])
    func `waiting in a position that cannot be suspended is refused before it starts`(source: String) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: source)
        #expect(error.code == "lua.cannot_wait")
        #expect(error.kind == .misuse)
    }

    @Test func `tasks that wait for each other are a deadlock`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(
            of: "local a, b a = t.spawn(function() b:await() end) b = t.spawn(function() a:await() end) a:await()")
        #expect(error.code == "script.deadlock")
    }

    @Test func `too many tasks are refused`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(
            of: "for i = 1, 100 do t.spawn(t.gate, 'never') end", limits: LuaLimits(tasks: 10))
        #expect(error.code == "budget.tasks")
    }

    @Test func `ten thousand tasks end and leave nothing`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local sum = 0
            for round = 1, 10 do
                local fns = {}
                for i = 1, 1000 do fns[i] = function() return t.later(i) end end
                for _, v in ipairs(t.all(fns)) do sum = sum + v end
            end
            return sum
            """)
        #expect(results == [.integer(5_005_000)])
        #expect(await bench.state.liveTasks == 0)
    }

    @Test func `the coroutine of an ended task is dead, and its results stay available`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local thread
            local task = t.spawn(function() thread = coroutine.running() return function() t.log 'run' end, 21 end)
            local first, number = task:await()
            local status, resumed, closed = coroutine.status(thread), coroutine.resume(thread), coroutine.close(thread)
            local again, same = task:await()
            local main = coroutine.running()
            t.spawn(function() t.later(1) t.later(2) t.log(tostring(coroutine.close(main))) end)
            return status, resumed, closed, again == first and same == number
            """)
        #expect(results == [.string("dead"), .boolean(false), .boolean(true), .boolean(true)])
        #expect(bench.log == ["true"])
    }
}
