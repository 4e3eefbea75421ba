import CLua
import Glibc
import Testing

@testable import Lua

/// A sandboxed state that also has the stock libraries, as `stock.string`, `stock.table` and `stock.utf8`.
enum StockComparison {
    /// Runs a script with the seed as `...`. Returns its error, or nil.
    static func run(_ source: String, seed: Int64, fuel: Int64) -> String? {
        guard let context = clua_context_new(64 << 20, 1), let lua = clua_state_new(context) else { return "no state" }
        defer {
            clua_state_close(lua)
            clua_context_free(context)
        }
        lua_createtable(lua, 0, 3)
        let openers: [(String, lua_CFunction)] = [
            ("string", { luaopen_string($0) }), ("table", { luaopen_table($0) }), ("utf8", { luaopen_utf8($0) }),
        ]
        for (name, open) in openers {
            lua_pushcclosure(lua, open, 0)
            guard clua_call(lua, 0, 1) == LUA_OK else { return "no \(name)" }
            lua_setfield(lua, -2, name)
        }
        lua_setglobal(lua, "stock")
        let control = RunControl(limits: LuaLimits(cpu: .seconds(60), instructions: Int(fuel)))
        guard let task = lua_newthread(lua) else { return "no coroutine" }
        guard clua_load(task, control.pointer, source, source.utf8.count, "=test", false) == LUA_OK else { return text(task) }
        lua_pushinteger(task, seed)
        clua_task_prepare(task, 1)
        var results: Int32 = 0
        let status = clua_resume(task, control.pointer, 2, &results)
        if control.pointer.pointee.stop != 0 { return "stopped: \(control.pointer.pointee.stop)" }
        return status == LUA_OK ? nil : text(task)
    }

    /// The seed: `LUA_TEST_SEED`, or a new one each time.
    static var seed: Int64 {
        if let given = getenv("LUA_TEST_SEED").flatMap({ Int64(String(cString: $0)) }) { return given }
        return Int64.random(in: 0..<1 << 31)
    }

    private static func text(_ L: OpaquePointer) -> String {
        clua_tostring(L, -1, nil).map { String(cString: $0) } ?? "an error without text"
    }
}
