import CLua
import Testing

@testable import Lua

/// Fails each allocation of a script in turn. Every Swift frame that was entered must be left.
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

    static let module = """
        local t = require 't'
        local kept = {}
        for i = 1, 5 do kept[i] = t.later({name = ("a module "):rep(i)}) end
        return kept
        """

    /// Work of a state while its allocations fail.
    enum Work: String, CaseIterable {
        case run, syntaxError, session, module

        var points: Int { self == .syntaxError ? 5 : 30 }

        func perform(on bench: Bench, _ session: LuaSession, _ function: LuaFunctionReference) async throws {
            switch self {
            case .run: #expect(try await bench.run(FaultTests.source) == [.integer(18)])
            case .syntaxError: try await bench.run("local a, b = {'text', \"more text\"}, function() return end end")
            case .session: #expect(try await session.call(function) == [.integer(18)])
            case .module: #expect(try await bench.run("return #require 'm'") == [.integer(5)])
            }
        }
    }

    private func torture(_ work: Work, onward: Bool) async throws -> (entered: Int, left: Int, failed: Int) {
        var outcome = (entered: 0, left: 0, failed: 0)
        for point in 1...100_000 {
            let bench = try await Bench(searchPath: .lookup { LuaScript(name: "\($0).lua", source: Self.module) })
            let session = try await bench.state.openSession(id: bench.nextID()) { _ in }
            let made = try await bench.run("return function() \(Self.source) end")
            guard case .function(let function)? = made.first else { throw Folder.Failure() }
            await bench.state.inspect { $0.armFault(after: point, onward: onward) }
            var failure: LuaError?
            do {
                try await work.perform(on: bench, session, function)
            } catch let error as LuaError { failure = error }
            let isUnused = await bench.state.inspect { machine in
                let isUnused = machine.context.pointee.fail_after > 0
                machine.armFault(after: 0)
                outcome.entered += machine.framesEntered
                outcome.left += machine.framesLeft
                #expect(lua_gettop(machine.lua) == 0)
                #expect(machine.runs.count == 1, "only the session is left")
                #expect(machine.waiting.isEmpty)
                return isUnused
            }
            // The state continues to work after any failure.
            #expect(try await bench.run("return 1 + 1") == [.integer(2)])
            if isUnused { break }
            guard let failure else { continue }
            outcome.failed += 1
            #expect(["budget.memory", "own"].contains(failure.code), "\(work) \(point): \(failure)")
        }
        return outcome
    }

    @Test(arguments: Work.allCases, [false, true])
    func `no failing allocation jumps over a Swift frame`(work: Work, onward: Bool) async throws {
        let outcome = try await torture(work, onward: onward)
        #expect(outcome.entered == outcome.left)
        #expect(outcome.failed >= work.points)
    }

    @Test(arguments: [false, true])
    func `creating a state with failing allocations either fails or succeeds completely`(onward: Bool) {
        var failed = 0
        for point in 1...100_000 {
            let context = clua_context_new(1 << 20, 1)
            guard let context else { return }
            defer { clua_context_free(context) }
            context.pointee.fail_after = Int64(point)
            context.pointee.fail_onward = onward ? 1 : 0
            guard let lua = clua_state_new(context) else {
                failed += 1
                #expect(context.pointee.used == 0)
                continue
            }
            let isUnused = context.pointee.fail_after > 0
            context.pointee.fail_after = 0
            #expect(clua_load(lua, nil, "return #require", 15, "=test", false) == LUA_OK)
            clua_state_close(lua)
            #expect(context.pointee.used == 0)
            if isUnused { break }
        }
        #expect(failed > 100)
    }

    @Test func `every memory limit either suffices or is reported`() async throws {
        for limit in stride(from: 24_000, to: 200_000, by: 512) {
            guard let bench = try? await Bench(limits: LuaLimits(memory: limit)) else { continue }
            do {
                try await bench.run(
                    "local k = {} for i = 1, 4 do k[i] = t.later(('x'):rep(20000)); k[i + 9] = t.echo({i}) end")
            } catch let error as LuaError {
                #expect(error.code == "budget.memory")
            }
            let balanced = await bench.state.inspect { $0.framesEntered == $0.framesLeft && lua_gettop($0.lua) == 0 }
            #expect(balanced)
            // A result of the host may exceed the limit until the next check.
            #expect(await bench.state.memoryPeak <= limit + 32_768)
            await bench.state.inspect { $0.collect() }
            if limit > 80_000 { #expect(try await bench.run("return 1 + 1") == [.integer(2)]) }
        }
    }

    /// The same fault with and without the rule that allocations do not fail while Swift code runs: it shows that the test
    /// above would detect a broken rule.
    @Test(arguments: [true, false])
    func `without the protection an allocation jumps over Swift frames`(isProtected: Bool) throws {
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
            context.pointee.protects_host = isProtected ? 1 : 0
            clua_push_function(lua, 0, "make", false)
            lua_setglobal(lua, "make")
            let source = "local kept = {} for i = 1, 5 do kept[i] = make() end"
            #expect(clua_load(lua, nil, source, source.utf8.count, "=test", false) == LUA_OK)
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
