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
        "errors", "events", "files", "gc", "gengc", "goto", "literals", "locals", "main", "math", "nextvar", "pm", "sort",
        "strings", "tpack", "utf8", "vararg", "verybig",
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
        }
        let script = LuaScript(name: "\(name).lua", source: Array(Self.opening.utf8) + Array(data))
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
        print("standard \(name): \(verdict)")
    }

    @Test(arguments: names)
    func `in the sandbox`(name: String) async throws {
        let verdict = try await run(name, library: .sandboxed)
        print("sandboxed \(name): \(verdict)")
    }
}
