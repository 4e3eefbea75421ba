import CLua
import Testing

@testable import Lua

/// Scripts for which stock Lua would need a long time in one step, or its whole stack.
@Suite struct StepTests {
    @Test(arguments: [LuaLibrary.sandboxed, .standard])
    func `a chain of coroutines that close each other ends with a stack overflow error`(library: LuaLibrary) async {
        await #expect(processExitsWith: .success) { [isSandboxed = (library == .sandboxed) as Bool] in
            let bench = try await Bench(library: isSandboxed ? .sandboxed : .standard)
            for close in ["coroutine.close(previous)", "coroutine.wrap(function() return coroutine.close(previous) end)()"] {
                let results = try await bench.run(
                    """
                    local previous
                    local least = "no error"
                    for i = 1, 20000 do
                        local previous_one = previous
                        previous = coroutine.create(function()
                            local c <close> = setmetatable({}, { __close = function()
                                local previous = previous_one
                                if not previous then return end
                                local ok, e = pcall(function() assert(\(close)) end)
                                if not ok then least = e end
                            end })
                            coroutine.yield()
                        end)
                        assert(coroutine.resume(previous))
                    end
                    local ok = coroutine.close(previous)
                    return ok, least
                    """)
                guard case .string(let error)? = results.last else { return #expect(Bool(false), "\\(results)") }
                #expect(error.hasSuffix("C stack overflow"))
            }
        }
    }

    @Test func `closing a long chain from outside uses little stack`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local closed = 0
            local function open(n)
                local co = coroutine.create(function()
                    local c <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
                    if n > 1 then coroutine.wrap(function() open(n - 1) end)() end
                    coroutine.yield()
                end)
                assert(coroutine.resume(co))
                return coroutine.close(co)
            end
            return open(20), closed
            """)
        #expect(results == [.boolean(true), .integer(20)])
    }

    /// Keys that collide in a growing table, in several ways.
    static let endless = [
        "for i = 1, 100000 do t[i * 131071] = true end",
        "for i = 1, 100000 do t[1 + i * 2.0 ^ -50] = true end",
        "for i = 1, 150000 do t[i * 131071], t['x' .. i] = true, true end",
        // an array that moves into the hash part
        """
        local n, m = 1 << 19, (1 << 19) - 1
        for i = 1, n do t[i] = true end
        for i = 1, 1 << 17 do t[((1 << 40) // m + i) * m] = true end
        for i = 1, n, 2 do t[i] = nil end
        for i = 2, 64, 2 do t[i] = nil end
        t.x = 1
        """,
        // a constructor with a list at its end, where the table is rebuilt in the same size
        """
        local keys = {}
        for i = 1, 62000 do keys[i] = "[" .. i .. " * m] = 1" end
        load("\\n local m, f = ... return {" .. table.concat(keys, ",") .. ", f()}", "@a.lua")(65535, function() return 1, 2, 3 end)
        """,
    ]

    @Test(arguments: endless.indices)
    func `a step that does not end is abandoned together with its state`(index: Int) async {
        await #expect(processExitsWith: .success) { [index = index as Int] in
            HangGuard.arm()  // it would take seconds to minutes
            let bench = try await Bench(limits: LuaLimits(memory: 96 << 20, cpu: .seconds(600)))
            let other = Task { try await bench.run("t.open('there') t.gate('never')") }
            try await bench.gates.wait("there")
            let error = try await bench.failure(of: "local t = {}\n\(Self.endless[index])")
            #expect(error.code == "budget.step")
            #expect(error.location?.chunk == "a.lua")
            #expect(error.location?.line ?? 0 >= 2)
            guard case .failure(let end as LuaError) = await other.result else { return #expect(Bool(false), "it went on") }
            #expect(end.code == "state.ended")
            #expect(try await bench.failure(of: "return 1").code == "state.ended")
            await #expect(throws: LuaError.self) { try await bench.state.compile(LuaScript(name: "a.lua", source: "")) }
            await #expect(throws: LuaError.self) { try await bench.state.define(LuaModule(name: "more")) }
            #expect(await bench.state.memoryInUse == 0)
            #expect(try await Bench().run("return 1") == [.integer(1)])
        }
    }

    /// The compiler stores the constants of a chunk in a table.
    static let collidingChunk = "local x = {" + (1...100_000).map { "\($0 * 131_071)," }.joined() + "}"

    @Test(arguments: ["", "require 'chunk'", "pcall(coroutine.wrap(function() require 'chunk' end))"])
    func `compiling that does not end is abandoned with all memory of the state, wherever it starts`(source: String) async {
        await #expect(processExitsWith: .success) { [source = source as String] in
            HangGuard.arm()
            let chunk = LuaScript(name: "chunk", source: Self.collidingChunk)
            let bench = try await Bench(searchPath: .lookup { $0 == "chunk" ? chunk : nil })
            weak let object = try await bench.keepObject()
            #expect(object != nil)
            try await bench.run("local t = {} for i = 1, 2000 do t[i] = ('x'):rep(5000 + i) end require('t').kept.texts = t")
            let error = try await bench.failure(of: source.isEmpty ? Self.collidingChunk : source)
            #expect(error.code == "budget.step")
            #expect(error.location == SourceLocation(chunk: "a.lua", line: 1))
            #expect(object == nil)
            #expect(await bench.state.memoryInUse == 0)
        }
    }

    @Test func `a state that only checks scripts also ends when compiling does not end`() async {
        await #expect(processExitsWith: .success) {
            HangGuard.arm()
            let bench = try await Bench()
            for code in ["budget.step", "state.ended"] {
                do {
                    try await bench.state.compile(LuaScript(name: "chunk", source: Self.collidingChunk))
                    Issue.record("it was compiled")
                } catch let error as LuaError {
                    #expect(error.code == code)
                }
            }
        }
    }

    @Test func `sessions end with their state, during a call and between calls`() async {
        await #expect(processExitsWith: .success) {
            HangGuard.arm()
            let bench = try await SessionBench(limits: LuaLimits(cpu: .seconds(600)))
            let idle = try await bench.bench.state.openSession(id: bench.bench.nextID(), annotations: ["run": "r-2"]) { _ in }
            #expect(try await idle.call(bench.evaluate, [.string("return 1")]) == [.integer(1)])
            for code in ["budget.step", "state.ended"] {
                let error = await #expect(throws: LuaError.self) { try await bench.call("local t = {} \(Self.endless[0])") }
                #expect(error?.code == code)
            }
            let error = await #expect(throws: LuaError.self) { try await idle.call(bench.evaluate, [.string("return 1")]) }
            #expect(error?.code == "state.ended")
            #expect(error?.annotations == ["run": "r-2"])
            try await idle.close()
        }
    }

    @Test func `a session reports when its work between calls ends the state, also with an instruction budget`() async {
        await #expect(processExitsWith: .success) {
            HangGuard.arm()
            let bench = try await SessionBench(limits: LuaLimits(cpu: .seconds(600), instructions: 1_000_000_000))
            try await bench.call("t.spawn_daemon(function() t.gate 'go' local t = {} \(Self.endless[0]) end)")
            bench.bench.gates.open("go")
            let error = await bench.told(1).first
            #expect(error?.code == "budget.step")
            #expect(error?.location == SourceLocation(chunk: "s", line: 1))
            #expect(try await bench.failure(of: "return 1").code == "state.ended")
        }
    }

    /// Work of the host while its objects are released is not a step of the script.
    @Test func `releasing objects of the host may take long`() async throws {
        let bench = try await Bench()
        let thread = bench.thread
        let results = try await Task(executorPreference: thread) {
            try await bench.run(
                "local t = ... t = nil for i = 1, 200 do local garbage = ('x'):rep(100000 + i) end return 'went on'",
                arguments: (0..<3).map { _ in .object(LuaObject(type: "thing", payload: SlowToGo())) })
        }.value
        #expect(results == [.string("went on")])
    }

    /// Computes for twice the time limit of a step.
    private final class SlowToGo: Sendable {
        deinit {
            let end = clua_ticks() + 140
            while clua_ticks() < end {}
        }
    }

    @Test(arguments: [
        "i", "-i", "i * 3", "i * 255", "i * 1000", "i * 4096", "i * 65536", "i << 32", "i * 0.1", "i * 2.0 ^ 60", "1 / i", "i + 0.5",
        "1767225600 + i * 60", "1767225600 + i / 1000", "(i // 400) << 20 | i % 400", "(1767225600 + i * 60) * 1000", "i * i",
        "math.random(0)", "math.random()", "'user' .. i", "{}",
        "i % 2 == 0 and i * 7 or 'k' .. i",
    ])
    func `tables with common kinds of keys grow without being stopped`(key: String) async throws {
        let bench = try await Bench()
        let results = try await bench.run("local t = {} for i = 1, 150000 do t[\(key)] = i end return true")
        #expect(results == [.boolean(true)])
    }

    @Test(arguments: ["break", "goto l"])
    func `a chunk may have thousands of jumps`(jump: String) async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            return load("for i = 1, 2 do " .. ("if x then \(jump) end "):rep(8000) .. " ::l:: end return 'ran'")()
            """)
        #expect(results == [.string("ran")])
    }

    @Test func `the name of a chunk is shortened in errors`() async throws {
        let bench = try await Bench()
        for mark in ["=", "@"] {
            let error = try await bench.failure(
                of: """
                    local name = '\(mark)' .. ('é'):rep(100000)
                    local f = load('local f = ... local x = f() return x', name)
                    local g = load('error("boom")', name)
                    f(function() local x = f(g) return x end)
                    """)
            #expect(error.traceback.allSatisfy { $0.chunk.utf8.count <= 255 })
            #expect(error.traceback.count >= 3)
        }
        #expect(try await bench.failure(of: "load(('x'):rep(1000) .. '(')()").message.utf8.count < 300)
        let file = try await bench.failure(of: "load('error()', '@' .. ('folder/'):rep(100) .. 'é.lua')()").traceback.first?.chunk
        #expect(file?.hasPrefix("...") == true && file?.hasSuffix("/folder/é.lua") == true)
    }

    @Test func `a chain through weak keys is collected quickly`() async {
        await #expect(processExitsWith: .success) {
            HangGuard.arm()  // it would take minutes
            let bench = try await Bench(limits: LuaLimits(memory: 64 << 20, cpu: .seconds(600)))
            let results = try await bench.run(
                """
                local meta = { __mode = "k" }
                local t, keys = setmetatable({}, meta), {}
                for i = 1, 60000 do keys[i] = {} end
                for i = #keys, 2, -1 do
                    local j = math.random(i)
                    keys[i], keys[j] = keys[j], keys[i]
                end
                for i = 1, #keys - 1 do t[keys[i]] = keys[i + 1] end
                local first = keys[1]
                keys = nil
                meta.__mode = nil
                rawset(meta, "__mo" .. "de", "k")
                for i = 1, 3000 do local garbage = ("x"):rep(10000 + i) end
                return getmetatable(t).__mode, t[first] ~= nil
                """)
            #expect(results == [.string("k"), .boolean(true)])
        }
    }

    @Test(arguments: [LuaLibrary.sandboxed, .standard])
    func `weak tables work only in the standard library`(library: LuaLibrary) async throws {
        let bench = try await Bench(library: library)
        let reference = try await bench.run("t = setmetatable({ {}, {}, {} }, { __mode = 'v' }) return function() return #t end")
        await bench.state.inspect { $0.collect() }
        guard case .function(let count)? = reference.first else { throw Bench.refusal }
        let results = try await bench.run("return (...)()", arguments: [.function(count)])
        #expect(results == [.integer(library == .standard ? 0 : 3)])
    }
}

extension Bench {
    /// Stores an object of the host in the state, which then has the only reference.
    fileprivate func keepObject() async throws -> LuaObject {
        let object = LuaObject(type: "thing", payload: "x")
        try await run("require('t').kept = {...}", arguments: [.object(object)])
        return object
    }
}
