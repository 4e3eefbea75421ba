import CLua
import FoundationEssentials
import Glibc
import Testing

@testable import Lua

/// The test programs of the Lua project, run manually because they are not part of this repository.
///
///     git clone --depth 1 --branch v5.4.4 https://github.com/lua/lua /tmp/lua
///     LUA_TESTES=/tmp/lua/testes swift test --filter LuaTestesTests
@Suite(.serialized, .enabled(if: getenv("LUA_TESTES") != nil)) struct LuaTestesTests {
    static let folder = getenv("LUA_TESTES").map { String(cString: $0) }

    /// Settings as with `_U` in all.lua: no long or platform-dependent tests, no tests of internals.
    static let opening = "_port = true _soft = true _nomsg = true Message = function() end "

    static let names = [
        "api", "attrib", "big", "bitwise", "bwcoercion", "calls", "closure", "code", "constructs", "coroutine", "cstack", "db",
        "errors", "events", "files", "gc", "gengc", "goto", "literals", "locals", "math", "nextvar", "pm", "sort",
        "strings", "tpack", "utf8", "vararg", "verybig",
    ]

    /// Adds the absent libraries to the sandbox, because the tests use them in passing. Only the language and this package's
    /// own functions are compared.
    private static func addAbsent(to machine: Machine) {
        let libraries: [(String, lua_CFunction)] = [("debug", luaopen_debug), ("io", luaopen_io), ("os", luaopen_os)]
        for (name, open) in libraries { luaL_requiref(machine.lua, name, open, 1) }
        lua_settop(machine.lua, 0)
    }

    /// Replaces `package` and modules with versions that do nothing, or as little as the tests need.
    static let substitutes = """
        local memory = collectgarbage collectgarbage = function(o) return o == 'count' and memory 'count' or 0 end \
        package = {preload = {}} local found = require require = function(name) \
        return package.preload[name] and package.preload[name]() or found(name) end\u{20}
        """

    /// Lines that are skipped in the sandbox, each with the deliberate difference that they touch.
    static let differences: [String: [(lines: ClosedRange<Int>, why: String)]] = [
        "bitwise": [(6...6, "the metatable of strings is locked"), (26...27, "so that"), (60...85, "these have no operations on bits")],
        "calls": [
            (315...335, "no bytecode"), (352...356, "no bytecode"), (374...419, "no bytecode"), (435...478, "no bytecode"),
        ],
        "closure": [(29...32, "no table is weak")],
        "coroutine": [
            (345...351, "the frame that protects a coroutine is seen by debug.sethook"), (411...412, "memory is not collected on demand"),
        ],
        "db": [(693...694, "print is the host's")],
        "errors": [(251...251, "collectgarbage is substituted"), (254...267, "no bytecode"), (310...310, "collectgarbage is substituted")],
        "literals": [(211...233, "no %p")], "nextvar": [(273...283, "no package.loaded"), (370...399, "next keeps no order, pairs does")],
        "pm": [(391...418, "no %p")], "strings": [(157...193, "no %p"), (374...374, "no %p")],
    ]

    /// Files about features that the sandbox lacks, with the error they end with.
    static let absent = [
        "attrib": "attrib.lua:13", "bwcoercion": "(local 'smt')", "db": "db.lua:720", "files": "loadfile is not available",
        "gc": "gc.lua:15", "gengc": "__gc is not available",
    ]

    private func run(_ name: String, library: LuaLibrary) async throws -> String {
        let folder = try #require(Self.folder)
        guard chdir(folder) == 0, let data = FileManager.default.contents(atPath: "\(folder)/\(name).lua") else {
            throw Folder.Failure()
        }
        let thread = LuaThread(name: "lua-testes")
        defer { thread.stop() }
        // The tests of memory exhaustion need a limit that is reached soon.
        let limits = LuaLimits(memory: 1 << 30, cpu: .seconds(120))
        let siblings = LuaSearchPath.folders([folder])
        let state = try LuaState(thread: thread, limits: limits, searchPath: siblings, library: library)
        if library == .sandboxed {
            try await state.define(LuaModule(name: "print", globals: [.sync("print") { _ in [] }]))
            // Reports collections through __gc.
            let functions = [LuaFunction.sync("stop") { _ in [] }, .sync("start") { _ in [] }]
            try await state.define(LuaModule(name: "tracegc", functions: functions))
            await state.inspect(Self.addAbsent)
        }
        let opening = Self.opening + (library == .sandboxed ? Self.substitutes : "")
        var lines = data.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        if library == .sandboxed {
            for (range, _) in Self.differences[name] ?? [] {
                for line in range { lines[line - 1] = [] }
            }
        }
        let script = LuaScript(name: "\(name).lua", source: Array(opening.utf8) + Array(lines.joined(separator: [0x0A])))
        do {
            _ = try await state.run(script, id: LuaRunID(rawValue: 1))
            return "passes"
        } catch let error as LuaError {
            return "\(error) from \(error.traceback.map(\.description))"
        }
    }

    @Test(arguments: names)
    func `with the standard library`(name: String) async throws {
        let verdict = try await run(name, library: .standard)
        #expect(verdict == "passes")
    }

    @Test(arguments: names)
    func `in the sandbox`(name: String) async throws {
        let verdict = try await run(name, library: .sandboxed)
        if let expected = Self.absent[name] {
            #expect(verdict.contains(expected), "\(verdict)")
        } else {
            #expect(verdict == "passes")
        }
    }
}
