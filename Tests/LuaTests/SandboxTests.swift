import Testing

@testable import Lua

@Suite struct SandboxTests {
    @Test(arguments: [
        ("io.open('x')", "io.open", "use push.log"),
        ("os.execute('x')", "os.execute", "there are no processes"),
        ("os.exit()", "os.exit", nil),
        ("os.getenv('HOME')", "os.getenv", nil),
        ("os.remove('x')", "os.remove", nil),
        ("debug.traceback()", "debug.traceback", nil),
        ("dofile('x')", "dofile", "use require"),
        ("loadfile('x')", "loadfile", nil),
        ("package.path = 'x'", "package.path", nil),
        ("io.output = print", "io.output", "use push.log"),
        ("os[1] = nil", "os.1", nil),
        ("debug.x = 1", "debug.x", nil),
        ("string.dump(print)", "string.dump", nil),
        ("setmetatable({}, {__gc = print})", "__gc", "use a to-be-closed variable: local x <close> = ..."),
    ])
    func `using an absent function is an error that names it`(source: String, name: String, hint: String?) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "\n" + source)
        #expect(error.code == "sandbox.absent")
        #expect(error.message == "\(name) is not available to scripts")
        #expect(error.hint == hint)
        #expect(error.location == SourceLocation(chunk: "a.lua", line: 2))
    }

    @Test func `host functions replace parts of the library`() async throws {
        let bench = try await Bench()
        #expect(try await bench.run("print('a', 1) return os.time()") == [.integer(1_000)])
        #expect(bench.log == ["a\t1"])
    }

    /// A position such as `[push]:12` belongs to the host and is omitted from tracebacks.
    @Test(arguments: ["=[x]", "=[x", "@[x]", "[x]"])
    func `a chunk loaded by a script is not the host's, whatever its name`(name: String) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "\nload('\\n\\n require [[t]].fail()', '\(name)')()")
        #expect(error.location?.line == 3)
        #expect(error.location?.chunk.contains("[x") == true, "\(error)")
        #expect(error.traceback.last == SourceLocation(chunk: "a.lua", line: 2))
        let places = try await bench.run("return (load('\\n return (require [[t]].where())', '\(name)')())")
        #expect(places != [.string("a.lua:1")])
    }

    @Test func `the metatable of strings is locked`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            "string.upper = function() return 'poisoned' end return ('a'):upper(), getmetatable('')")
        #expect(results == [.string("A"), .boolean(false)])
        #expect(try await bench.failure(of: "setmetatable(t.thing(1), {})").code == "script.error")
    }

    @Test func `globals end with their run, and load sees them`() async throws {
        let bench = try await Bench()
        #expect(try await bench.run("x = 5 return load('return x')(), _G.x") == [.integer(5), .integer(5)])
        #expect(try await bench.run("return x") == [.nil])
        #expect(try await bench.run("return load('return x', 'n', 't', {x = 6})()") == [.integer(6)])
        #expect(try await bench.run("return (load('\\27Lua'))") == [.nil])
    }

    @Test(
        arguments: [
            ("load(pieces('return ', 'x + ', '1'))()", [.integer(6)]), ("load(pieces('return x', '', ' + 1'))()", [.integer(5)]),
            ("load(pieces('return x'), '=n', 't', {x = 7})()", [.integer(7)]),
            ("load(pieces('local e = _E', 'NV return e.x'))()", [.integer(5)]),
            ("load(pieces(7))", [.nil, .string("(load):1: unexpected symbol near '7'")]),
            ("load(pieces({}))", [.nil, .string("a.lua:1: reader function must return a string")]),
            ("load(pieces('\\27Lua'))", [.nil, .string("attempt to load a binary chunk (mode is 't')")]),
            ("load(function() error('own', 0) end)", [.nil, .string("own")]),
            ("load(function() error('own', 0) end, 'n', 'b')", [.nil, .string("own")]),
            ("load('return 1', 'n', 'b')", [.nil, .string("attempt to load a text chunk (mode is 'b')")]),
            ("load('return 1', 'n', 'x')", [.nil, .string("attempt to load a text chunk (mode is 'x')")]),
            ("load('return 1', 'n', '')", [.nil, .string("attempt to load a text chunk (mode is '')")]),
            ("load('\\27Lua', 'n', 't')", [.nil, .string("attempt to load a binary chunk (mode is 't')")]),
            ("load('\\27Lua', 'n', 'x')", [.nil, .string("attempt to load a binary chunk (mode is 'x')")]),
            // The stock library would load it.
            ("load('\\27Lua', 'n', 'b')", [.nil, .string("attempt to load a binary chunk (mode is 't')")]),
            ("select(2, load(function() t.later() end)).code", [.string("lua.cannot_wait")]),
            ("load(function() return load(pieces('return'))() end)() == nil", [.boolean(true)]),
        ] as [(String, [LuaValue])])
    func `load calls a function for the pieces of a chunk`(source: String, results: [LuaValue]) async throws {
        let pieces = "x = 5 local function pieces(...) local list, i = {...}, 0 return function() i = i + 1 return list[i] end end "
        #expect(try await Bench().run(pieces + "return " + source) == results)
    }

    @Test(arguments: [
        "load(function() return 'x = 1 ' end)", "load(function() return ' ' end)", "load(function() while true do end end)", "load(print)",
        "local function deep() return load(deep) end deep()",
    ])
    func `a chunk with endless pieces is stopped`(source: String) async throws {
        let bench = try await Bench(limits: LuaLimits(memory: 8 << 20))
        let error = try await bench.failure(
            of: "while true do \(source) end", limits: LuaLimits(cpu: .seconds(600), instructions: 1_000_000))
        #expect(error.code == "budget.instructions")
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
    }

    @Test func `messages name library functions that are called indirectly`() async throws {
        let bench = try await Bench()
        let messages = "select(2, pcall(string.rep)), select(2, pcall(next))"
        #expect(
            try await bench.run("return \(messages)") == [
                .string("bad argument #1 to 'string.rep' (string expected, got no value)"),
                .string("bad argument #1 to 'next' (table expected, got no value)"),
            ])
        #expect(try await bench.run("return select(2, pcall(string.rep, 'x', 1 << 31))") == [.string("resulting string too large")])
    }

    @Test(arguments: [
        ("for _ in pairs(5) do end", "a.lua:1: bad argument #1 to 'for iterator' (table expected, got number)"),
        ("for _ in pairs(nil) do end", "a.lua:1: bad argument #1 to 'for iterator' (table expected, got nil)"),
        ("pairs()", "a.lua:1: bad argument #1 to 'pairs' (value expected)"),
        ("coroutine.resume(5)", "a.lua:1: bad argument #1 to 'resume' (thread expected, got number)"),
        ("coroutine.isyieldable(nil)", "a.lua:1: bad argument #1 to 'isyieldable' (thread expected, got nil)"),
        ("coroutine.yield()", "attempt to yield from outside a coroutine"),
    ])
    func `errors have the messages of the stock library`(source: String, message: String) async throws {
        #expect(try await Bench().run("return select(2, pcall(function() \(source) end))") == [.string(message)])
    }

    @Test(arguments: [
        ("close", "thread"), ("create", "function"), ("resume", "thread"), ("status", "thread"), ("wrap", "function"),
    ])
    func `messages name the functions of the coroutine library`(name: String, type: String) async throws {
        #expect(
            try await Bench().run("return select(2, pcall(coroutine.\(name)))")
                == [.string("bad argument #1 to 'coroutine.\(name)' (\(type) expected, got no value)")])
    }

    @Test func `an unknown module names those that exist`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "require('pusch')")
        #expect(error.code == "script.unknown_module")
        #expect(error.message == "unknown module 'pusch'; modules: t")
    }

    @Test func `objects have methods, properties and a text, and name the nearest field`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            "local x = t.thing('a') return x:shout(), x.name, tostring(x), t.echo(x) == x, getmetatable(x), x")
        #expect(
            results.dropLast() == [
                .string("a!"), .string("a"), .string("thing a"), .boolean(true), .boolean(false),
            ])
        guard case .object(let object)? = results.last else { throw LuaError(kind: .failure, code: "", message: "") }
        #expect(object.payload as? String == "a")
        let error = try await bench.failure(of: "return t.thing('a').nmae")
        #expect(error.code == "script.unknown_name")
        #expect(error.hint == "did you mean 'name'?")
        #expect(try await bench.failure(of: "t.thing('a').name = 1").code == "script.read_only")
    }

    @Test func `the same script and seed behave the same in two states`() async throws {
        let source = """
            local out = {}
            local keyed = {z = 1, a = 2, [3] = 3, [1] = 4, [2.5] = 5, [-1] = 6, m = 7, [2^53] = 8}
            for k, v in pairs(keyed) do out[#out + 1] = tostring(k) .. "=" .. v end
            out[#out + 1] = tostring({}) .. tostring(print) .. string.format("%s %5.1f %%", {}, 2)
            out[#out + 1] = tostring(math.random(1000000))
            math.randomseed() out[#out + 1] = tostring(math.random(1000000))
            for k in pairs({x = 1, y = 2, w = 3}) do out[#out + 1] = k end
            return table.concat(out, "|")
            """
        let first = try await Bench()
        let second = try await Bench()
        let results = try await first.run(source)
        #expect(try await second.run(source) == results)
        guard case .string(let text)? = results.first else { throw LuaError(kind: .failure, code: "", message: "") }
        #expect(
            text.hasPrefix(
                "-1=6|1=4|2.5=5|3=3|9007199254740992=8|a=2|m=7|z=1|table: 0x00000001function: 0x00000002table: 0x00000003   2.0 %|"
            ))
        #expect(text.hasSuffix("|w|x|y"))
        #expect(try await Bench(seed: 8).run(source) != results)
    }

    @Test func `pairs skips removed entries and honours __pairs`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local keys, a = {}, {a = 1, b = 2, c = 3}
            for k in pairs(a) do keys[#keys + 1] = k a.b = nil end
            local own = setmetatable({}, {__pairs = function(s) return function(_, k) if not k then return t.later(1), 2 end end, s, nil end})
            for k, v in pairs(own) do keys[#keys + 1] = k + v end
            return keys
            """)
        #expect(results == [.table(LuaTable(array: [.string("a"), .string("c"), .integer(3)]))])
        #expect(try await bench.failure(of: "return string.format('%p', {})").code == "sandbox.absent")
    }
}
