import CLua
import Glibc
import Testing

/// Shows that the attacks are real by running them in stock Lua, protected only by a counting hook and an allocator with a
/// limit. They run in child processes, one at a time, because the kernel has to end them.
@Suite struct StockLuaTests {
    @Test(.serialized, arguments: Attacks.inStock.indices.filter { Attacks.inStock[$0].attack.endsInStock == nil })
    func `an attack hangs stock Lua`(index: Int) async {
        await #expect(processExitsWith: .signal(SIGPROF), "\(Attacks.inStock[index].attack.source)") { [index = index as Int] in
            HangGuard.arm(milliseconds: 250)
            Self.run(index)
        }
    }

    /// Shows that the test above does not merely measure a slow machine.
    @Test func `stock Lua stops the attacks that are marked so`() async {
        await #expect(processExitsWith: .success) {
            for index in Attacks.inStock.indices where Attacks.inStock[index].attack.endsInStock != nil {
                HangGuard.arm()
                Self.run(index)
            }
        }
    }

    // MARK: In the child process

    private static func run(_ index: Int) {
        let (setUp, attack) = Attacks.inStock[index]
        var used = 0
        withUnsafeMutablePointer(to: &used) { used in
            let lua = lua_newstate(
                { used, block, before, size in
                    guard let used = used?.assumingMemoryBound(to: Int.self) else { return nil }
                    let before = block == nil ? 0 : before
                    if size > before, used.pointee + (size - before) > 48 << 20 { return nil }
                    used.pointee += size - before
                    if size > 0 { return realloc(block, size) }
                    free(block)
                    return nil
                }, used)
            guard let lua else { return }
            luaL_openlibs(lua)
            let hook = "debug.sethook(function() error('no fuel') end, '', 100000); "
            #expect(luaL_loadstring(lua, setUp + hook + attack.source) == LUA_OK)
            _ = lua_pcallk(lua, 0, 0, 0, 0, nil)
            lua_close(lua)
        }
    }
}
