import Testing

@testable import Lua

/// Parts of Lua's library that a sandbox lacks: reading one gives nil, using it is an error with a hint.
@Suite struct AbsentLibraryTests {
    @Test(arguments: [
        "os.execute", "os.getenv", "io.open", "io.stdout", "debug.getmetatable", "debug.traceback", "package.loaded", "string.dump",
        "_G.dofile", "_G.loadfile", "os.nothing", "debug[1]",
    ])
    func `reading an absent function gives nil`(name: String) async throws {
        let bench = try await Bench()
        #expect(try await bench.run("return \(name), \(name) and 1 or 2") == [.nil, .integer(2)])
    }

    @Test(
        arguments: [
            ("os.execute('x')", "os.execute", "there are no processes"), ("io.open 'x'", "io.open", "use push.log"),
            ("local execute = os.execute\nif execute == nil then end\nexecute('x')", "os.execute", "there are no processes"),
            ("io.stdout:write('x')", "io.stdout", "use push.log"), ("dofile 'x'", "dofile", "use require"),
            ("io.write('x')", "io.write", "use push.log"), ("package.loaded.x = 1", "package.loaded", nil),
            ("package.path = 1", "package.path", nil), ("local p = package.path .. ';x'", "package.path", nil),
            ("string.dump(print)", "string.dump", nil),
            ("t.spawn(function() os.execute() end):await()", "os.execute", "there are no processes"),
            ("coroutine.wrap(function() os.execute() end)()", "os.execute", "there are no processes"),
            ("t.rethrow(function() os.execute() end)", "os.execute", "there are no processes"),
            (
                "local ok, e = xpcall(function() os.execute() end, function(e) return e end) error(e, 0)", "os.execute",
                "there are no processes"
            ),
            ("xpcall(print, debug.traceback)", "debug.traceback", nil),
        ] as [(String, String, String?)])
    func `using an absent function is an error with a hint`(source: String, name: String, hint: String?) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: source)
        #expect(error.code == "sandbox.absent")
        #expect(error.kind == .misuse)
        #expect(error.message == "\(name) is not available to scripts")
        #expect(error.hint == hint)
        #expect(error.location?.chunk == "a.lua")
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
        let isBalanced = await bench.state.inspect { $0.framesEntered == $0.framesLeft }
        #expect(isBalanced)
    }

    @Test(arguments: [
        ("local x = nil x()", "attempt to call a nil value (local 'x')"),
        ("local thing = {} thing.execute()", "attempt to call a nil value (field 'execute')"),
        ("local thing = {} thing.dump()", "attempt to call a nil value (field 'dump')"),
        ("local thing = {} thing.loadfile()", "attempt to call a nil value (field 'loadfile')"),
        ("error(\"attempt to call a nil value (field 'open')\", 0)", "attempt to call a nil value (field 'open')"),
    ])
    func `other errors are unchanged`(source: String, message: String) async throws {
        let error = try await Bench().failure(of: source)
        #expect(error.code == "script.error")
        #expect(error.message == message)
    }

    @Test func `reading thousands of absent names does not fill the memory`() async throws {
        let bench = try await Bench(limits: LuaLimits(memory: 1 << 20, cpu: .seconds(600)))
        #expect(
            try await bench.run("for i = 1, 1e5 do local x = os['name' .. i] or io[('x'):rep(1e3)] or debug[i] end return true")
                == [.boolean(true)])
        #expect(try await bench.failure(of: "os.execute()").code == "sandbox.absent")
    }

    /// Small libraries with the idioms of real ones.
    private static let libraries = [
        "keys": """
        local getmetatable = debug and debug.getmetatable or getmetatable
        local unpack, loader = table.unpack or unpack, loadstring or load
        local traceback = debug and debug.traceback or function(text) return text end
        local home = os.getenv and os.getenv "HOME"
        local has_dump = string.dump ~= nil
        local read = io and io.open
        local searchers = package and (package.searchers or package.loaders)
        local M = { _VERSION = "1.0" }
        function M.kind(value) return getmetatable(value) and "object" or type(value) end
        function M.trace(text) return traceback(text) end
        M.can = { home = home ~= nil, dump = has_dump, read = read ~= nil, search = searchers ~= nil }
        return M
        """,
        "i18/init": """
        local path = (...):gsub("%.init$", "")
        local M = { plural = require(path .. ".plural") }
        setmetatable(M, { __call = function(_, n) return M.plural(n) end })
        return M
        """,
        "i18/plural": "return function(n) return n == 1 and 'one' or 'other' end",
    ]

    @Test func `libraries that test for absent functions load and work`() async throws {
        let folder = try Folder(Dictionary(uniqueKeysWithValues: Self.libraries.map { ("\($0).lua", $1) }))
        let bench = try await Bench(searchPath: .folders([folder.path]), folder: folder)
        #expect(
            try await bench.run(
                "local k = require 'keys' return k.kind({}), k.trace('x'), k.can.home, k.can.dump, k.can.read, k.can.search, (require 'i18')(2)"
            )
                == [
                    .string("table"), .string("x"), .boolean(false), .boolean(false), .boolean(false), .boolean(false), .string("other"),
                ])
    }
}
