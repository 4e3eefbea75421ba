import CLua
import Testing

@testable import Lua

/// Fails every allocation of a script, one after the other. Each Swift frame that was entered must be left.
@Suite(.serialized) struct FaultTests {
    static let source = """
        local kept = {}
        for i = 1, 3 do
            kept[#kept + 1] = t.echo({a = {b = "longer than fifteen bytes " .. i}, "x", "y"})
            kept[#kept + 1] = t.later("text " .. i)
            kept[#kept + 1] = t.thing("thing " .. i)
            local ok, e = pcall(t.fail)
            kept[#kept + 1] = e
            kept[#kept + 1] = select(2, t.traced(t.later_fail))
            kept[#kept + 1] = t.spawn(function(x) return t.later(x .. "!") end, "s" .. i):await()
        end
        t.all { function() return t.later(1) end, function() return t.at_once({2}) end }
        return #kept
        """

    private func torture() async throws -> (entered: Int, left: Int, failed: Int) {
        var entered = 0
        var left = 0
        var failed = 0
        for point in 1...100_000 {
            let bench = try await Bench()
            await bench.state.inspect { machine in
                machine.armFault(after: point)
            }
            var succeeded = true
            do {
                let results = try await bench.run(Self.source)
                #expect(results == [.integer(18)])
            } catch { succeeded = false }
            let unused = await bench.state.inspect { machine in
                entered += machine.framesEntered
                left += machine.framesLeft
                return machine.context.pointee.fail_after > 0
            }
            if unused { break }
            if !succeeded { failed += 1 }
        }
        return (entered, left, failed)
    }

    @Test func `no failing allocation jumps over a Swift frame`() async throws {
        let outcome = try await torture()
        #expect(outcome.entered == outcome.left)
        #expect(outcome.failed > 30)
    }

    @Test func `every memory limit either suffices or is named`() async throws {
        for limit in stride(from: 40_000, to: 160_000, by: 2_048) {
            guard let bench = try? await Bench(limits: LuaLimits(memory: limit)) else { continue }
            do {
                try await bench.run(
                    "local k = {} for i = 1, 4 do k[i] = t.later(('x'):rep(20000)); k[i + 9] = t.echo({i}) end")
            } catch let error as LuaError {
                #expect(error.code == "budget.memory")
            }
            let balanced = await bench.state.inspect { $0.framesEntered == $0.framesLeft && lua_gettop($0.lua) == 0 }
            #expect(balanced)
        }
    }

    /// The same fault, with and without the rule that allocations cannot fail while Swift runs: the test above would
    /// notice if the rule were broken.
    @Test(arguments: [true, false])
    func `without the protection frames are jumped over`(isProtected: Bool) throws {
        let frames = Frames()
        var failed = 0
        for point in 1...10_000 {
            let context = clua_context_new(1 << 20, 1)
            guard let context, let lua = clua_state_new(context) else { return }
            defer {
                clua_state_close(lua)
                clua_context_free(context)
            }
            context.pointee.host = Unmanaged.passUnretained(frames).toOpaque()
            context.pointee.dispatch = makeTable
            context.pointee.ignore_no_fail = isProtected ? 0 : 1
            clua_push_function(lua, 0, "make", false)
            lua_setglobal(lua, "make")
            let source = "local kept = {} for i = 1, 5 do kept[i] = make() end"
            #expect(clua_load(lua, nil, source, source.utf8.count, "=test") == LUA_OK)
            context.pointee.fail_after = Int64(point)
            if clua_call(lua, 0, 0) != LUA_OK { failed += 1 }
            if context.pointee.fail_after > 0 { break }
        }
        #expect(failed > 0)
        #expect(isProtected == (frames.entered == frames.left))
    }
}

private final class Frames {
    var entered = 0
    var left = 0
}

private let makeTable: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, Int64) -> Int32 = { host, L, _ in
    guard let host, let L else { return 0 }
    let frames = Unmanaged<Frames>.fromOpaque(host).takeUnretainedValue()
    frames.entered += 1
    defer { frames.left += 1 }
    lua_createtable(L, 0, 4)
    for index in 0..<4 {
        lua_pushstring(L, "a text that is longer than fifteen bytes \(index)")
        lua_rawseti(L, -2, Int64(index + 1))
    }
    return 1
}
