import Testing

@testable import Lua

/// What would take stock Lua long in one step, or its whole stack.
@Suite struct StepTests {
    @Test(arguments: [LuaLibrary.sandboxed, .standard])
    func `a chain of coroutines that close each other meets the end of the stack as an error`(library: LuaLibrary) async {
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

    @Test func `closing a long chain from the outside takes no stack`() async throws {
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

    /// Numbers that share a place in the table of 2¹⁷ nodes; and floats that differ in their last bits, which no hash sees.
    static let colliding = [
        "for i = 1, 70000 do t[i * 131071] = true end",
        "for i = 1, 70000 do t[-i * 131071] = true end",
        "for i = 1, 70000 do t[i * 131071 * 65535 * 32767] = true end",
        "for i = 1, 70000 do t[1 + i * 2.0 ^ -50] = true end",
        "for i = 1, 70000 do t[i * 131071], t['x' .. i] = true, true end",
        "for i = 1, 200000 do t[i * 131071] = i end for i = 1, 200000 do t[i * 131071] = nil end",
    ]

    @Test(arguments: colliding)
    func `a table does not grow when its numbers would collide`(loop: String) async {
        await #expect(processExitsWith: .success) { [loop = loop as String] in
            HangGuard.arm()  // it would take seconds to minutes
            let bench = try await Bench()
            let error = try await bench.failure(of: "local t = {}\n\(loop)")
            #expect(error.code == "budget.collisions")
            #expect(error.location == SourceLocation(chunk: "a.lua", line: 2))
            let results = try await bench.run(
                """
                local t = {}
                local ok, e = pcall(function() \(loop) end)
                local sum = 0
                for key, value in next, t do sum = sum + 1 end
                return ok, e, sum > 1000
                """)
            #expect(results == [.boolean(false), .string("not enough memory"), .boolean(true)])
        }
    }

    @Test(arguments: [
        "i", "-i", "i * 3", "i * 255", "i * 1000", "i * 4096", "i * 65536", "i << 32", "i * 0.1", "i * 2.0 ^ 60", "1 / i", "i + 0.5",
        "1767225600 + i * 60", "(1767225600 + i * 60) * 1000", "i * i", "math.random(0)", "math.random()", "'user' .. i", "{}",
        "i % 2 == 0 and i * 7 or 'k' .. i",
    ])
    func `a table grows with the keys that people have`(key: String) async throws {
        let bench = try await Bench()
        let results = try await bench.run("local t = {} for i = 1, 150000 do t[\(key)] = i end return true")
        #expect(results == [.boolean(true)])
    }

    @Test(arguments: ["break", "goto l"])
    func `a chunk may have some thousand jumps`(jump: String) async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local function chunk(n) return "for i = 1, 2 do " .. ("if x then \(jump) end "):rep(n) .. " ::l:: end return 'ran'" end
            local text = chunk(40000)
            local at = 0
            local function piece() at = at + 3 return text:sub(at - 2, at) end
            local _, whole = load(text)
            local _, inPieces = load(piece)
            return load(chunk(7000))(), whole, inPieces
            """)
        let refusal = LuaValue.string("too many 'goto' and 'break' in one chunk (limit is 8000)")
        #expect(results == [.string("ran"), refusal, refusal])
    }

    @Test func `a chunk's name is short in errors`() async throws {
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
    }

    @Test func `a chain through weak keys is collected in no time`() async {
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
    func `tables are weak for trusted scripts alone`(library: LuaLibrary) async throws {
        let bench = try await Bench(library: library)
        let reference = try await bench.run("t = setmetatable({ {}, {}, {} }, { __mode = 'v' }) return function() return #t end")
        await bench.state.inspect { $0.collect() }
        guard case .function(let count)? = reference.first else { throw Bench.refusal }
        let results = try await bench.run("return (...)()", arguments: [.function(count)])
        #expect(results == [.integer(library == .standard ? 0 : 3)])
    }
}
