import CLua
import FoundationEssentials
import Glibc
import Testing

@testable import Lua

/// The test programs of the Lua project, run by hand: they are not part of this repository.
///
///     git clone --depth 1 --branch v5.4.4 https://github.com/lua/lua /tmp/lua
///     LUA_TESTES=/tmp/lua/testes swift test --filter LuaTestesTests
@Suite(.serialized, .enabled(if: getenv("LUA_TESTES") != nil)) struct LuaTestesTests {
    static let folder = getenv("LUA_TESTES").map { String(cString: $0) }

    /// As with `_U` in all.lua: nothing that takes long or depends on the platform, no tests of the inside.
    static let opening = "_port = true _soft = true _nomsg = true Message = function() end "

    static let names = [
        "api", "attrib", "big", "bitwise", "bwcoercion", "calls", "closure", "code", "constructs", "coroutine", "cstack", "db",
        "errors", "events", "files", "gc", "gengc", "goto", "literals", "locals", "math", "nextvar", "pm", "sort",
        "strings", "tpack", "utf8", "vararg", "verybig",
    ]

    /// The sandbox gets the libraries that it lacks, so that the tests get past what they use beside their matter: what is
    /// compared is the language, and those functions that are ours.
    private static func addAbsent(to machine: Machine) {
        let libraries: [(String, lua_CFunction)] = [("debug", luaopen_debug), ("io", luaopen_io), ("os", luaopen_os)]
        for (name, open) in libraries { luaL_requiref(machine.lua, name, open, 1) }
        lua_settop(machine.lua, 0)
    }

    static let substitutes = "local memory = collectgarbage collectgarbage = function(o) return o == 'count' and memory 'count' or 0 end "

    /// Lines that are left out in the sandbox, and the deliberate difference that they meet.
    static let differences: [String: [(lines: ClosedRange<Int>, why: String)]] = [
        "strings": [(157...193, "no %p")], "pm": [(391...418, "no %p")], "literals": [(211...233, "no %p")],
        "coroutine": [
            (345...351, "the frame that protects a coroutine is seen by debug.sethook"), (411...412, "memory is not collected on demand"),
        ],
        "nextvar": [(273...283, "no package.loaded")],
    ]

    /// Files that are about what the sandbox lacks, and how they find out.
    static let absent = [
        "attrib": "package.path is not available", "bitwise": "(local 'smt')", "bwcoercion": "(local 'smt')",
        "calls": "load takes the text of a chunk", "cstack": "__gc is not available", "db": "db.lua:688", "errors": "errors.lua:30",
        "files": "loadfile is not available",
        "gc": "gc.lua:15", "gengc": "__gc is not available", "locals": "locals.lua:580", "nextvar": "nextvar.lua:376",
        "strings": "strings.lua:12",
    ]

    private func run(_ name: String, library: LuaLibrary) async throws -> String {
        let folder = try #require(Self.folder)
        guard chdir(folder) == 0, let data = FileManager.default.contents(atPath: "\(folder)/\(name).lua") else {
            throw Folder.Failure()
        }
        let thread = LuaThread(name: "lua-testes")
        defer { thread.stop() }
        // Its tests of the memory's end want an end that comes soon.
        let limits = LuaLimits(memory: 1 << 30, cpu: .seconds(120))
        let siblings = LuaSearchPath.folders([folder])
        let state = try LuaState(thread: thread, limits: limits, searchPath: siblings, library: library)
        if library == .sandboxed {
            try await state.define(LuaModule(name: "print", globals: [.sync("print") { _ in [] }]))
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
            return "\(error)"
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
