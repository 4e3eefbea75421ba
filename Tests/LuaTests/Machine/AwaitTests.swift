import Synchronization
import Testing

@testable import Lua

/// Waiting in every position of a script. An operation cannot complete twice: it is one Swift function, which returns or
/// throws once.
@Suite struct AwaitTests {
    /// Each calls `w`, which waits, and returns its result.
    static let places = [
        "return w(5)",
        "return select(2, pcall(w, 5))",
        "return select(2, pcall(pcall, w, 5)) and select(3, pcall(pcall, w, 5))",
        "return select(2, xpcall(w, print, 5))",
        "return coroutine.wrap(w)(5)",
        "return coroutine.wrap(function() return coroutine.wrap(function() return (coroutine.wrap(w)(5)) end)() end)()",
        "return select(2, coroutine.resume(coroutine.create(w), 5))",
        "local r do local c <close> = setmetatable({}, {__close = function() r = w(5) end}) end return r",
        "local r pcall(function() local c <close> = setmetatable({}, {__close = function() r = w(5) end}) error 'x' end) return r",
        "for v in function(_, last) if not last then return w(5) end end do return v end",
        "for v in coroutine.wrap(function() coroutine.yield(w(5)) end) do return v end",
        "return setmetatable({}, {__index = function(_, k) return w(5) end}).x",
        "return setmetatable({}, {__call = function() return w(5) end})()",
        "return setmetatable({}, {__add = function() return w(5) end}) + 1",
        "return -setmetatable({}, {__unm = function() return w(5) end})",
        "return #setmetatable({}, {__len = function() return w(5) end})",
        "return setmetatable({}, {__concat = function() return w(5) end}) .. 'x'",
        "local m = {__lt = function() return w(5) == 5 end} return setmetatable({}, m) < setmetatable({}, m) and 5",
        "local m = {__eq = function() return w(5) == 5 end} return setmetatable({}, m) == setmetatable({}, m) and 5",
        "local r local x = setmetatable({}, {__newindex = function() r = w(5) end}) x.y = 1 return r",
        "for k in pairs(setmetatable({}, {__pairs = function() return function(_, k) if not k then return w(5) end end end})) do return k end",
        "return load('local w = ... return w(5)')(w)",
        "return t.spawn(w, 5):await()",
        "return t.all { function() return w(5) end }[1]",
        "return (select(2, t.traced(w, 5)))",
        "local function deep(n) if n == 0 then return w(5) end return (deep(n - 1)) end return deep(150)",
    ]

    @Test(arguments: ["t.later", "t.at_once", "function(x) return t.spawn(t.later, x):await() end"], places)
    func `a script can wait`(function: String, place: String) async throws {
        let bench = try await Bench()
        #expect(try await bench.run("local w = \(function)\n\(place)") == [.integer(5)])
        #expect(await bench.state.inspect { $0.waiting.isEmpty && $0.framesEntered == $0.framesLeft })
    }

    @Test(arguments: places)
    func `an error is raised where the script waits`(place: String) async throws {
        let bench = try await Bench()
        let source = "local seen local w = function() local ok, e = pcall(t.later_fail) seen = e error(e) end"
        let results = try await bench.run(
            "\(source) local ok, e = pcall(function() \(place) end) return type(seen) == 'table' and seen.code, ok or t.is_error(e) or e")
        #expect(results.first == .string("hub.refused"))
    }

    @Test(arguments: [
        "table.sort({3, 2, 1}, function(a, b) w() return a < b end)",
        "string.gsub('abc', '%w', w)", "('abc'):gsub('%w', function() return coroutine.wrap(w)() end)",
        "tostring(setmetatable({}, {__tostring = w}))", "string.format('%s', setmetatable({}, {__tostring = w}))",
        "table.concat(setmetatable({}, {__index = w, __len = function() return 1 end}))",
        "table.unpack(setmetatable({}, {__index = w}), 1, 1)", "table.insert(setmetatable({}, {__len = w}), 1)",
        "local ok, e = xpcall(error, function() w() end) error(e, 0)",
        "coroutine.close((function() local co = coroutine.create(function() local c <close> = setmetatable({}, {__close = w}) coroutine.yield() end) coroutine.resume(co) return co end)())",
        "for _ in pairs(setmetatable({}, {__pairs = function() return next, {}, table.sort({2, 1}, w) end})) do end",
        "load(setmetatable({}, {__tostring = w}))",
        "ipairs(setmetatable({}, {__index = function() table.sort({1, 2}, w) end}))(setmetatable({}, {__index = w}), 0)",
    ])
    func `in a position that cannot be suspended, the operation does not start`(place: String) async throws {
        let bench = try await Bench()
        let begun = Printed()
        try await bench.state.define(
            LuaModule(
                name: "counted",
                functions: [
                    .async("counted.wait") { _ in
                        begun.append("begun")
                        await Task.yield()
                        return []
                    }
                ]))
        _ = try? await bench.run("local w = require('counted').wait; \(place)")
        #expect(begun.lines.isEmpty)
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
        #expect(await bench.state.inspect { $0.waiting.isEmpty && $0.framesEntered == $0.framesLeft })
    }

    @Test func `results may be nil, absent, or many`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local many = table.pack(t.later(table.unpack({}, 1, 3000)))
            return select('#', t.later()), select('#', t.later(nil)), select('#', t.later(1, nil, nil)), many.n
            """)
        #expect(results == [.integer(0), .integer(1), .integer(3), .integer(3_000)])
    }

    /// An operation that ignores cancellation.
    private func stubborn(_ bench: Bench) async throws -> (begun: Gates, end: @Sendable () -> Void) {
        let begun = Gates()
        let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let box = Box(waiting)
        try await bench.state.define(
            LuaModule(
                name: "stubborn",
                functions: [
                    .async("stubborn.wait") { _ in
                        await withCheckedContinuation { continuation in
                            box.waiting.withLock { $0 = continuation }
                            begun.open("begun")
                        }
                        begun.open("ended")
                        return [.string("too late")]
                    }
                ]))
        return (begun, { box.waiting.withLock { $0.take() }?.resume() })
    }

    private final class Box: Sendable {
        let waiting: Mutex<CheckedContinuation<Void, Never>?>
        init(_ waiting: consuming sending Mutex<CheckedContinuation<Void, Never>?>) { self.waiting = waiting }
    }

    @Test func `a result after cancellation is dropped`() async throws {
        let bench = try await Bench()
        let (begun, end) = try await stubborn(bench)
        let id = bench.nextID()
        let run = Task {
            try await bench.run("local ok, e = pcall(require('stubborn').wait) t.log(e.code) return t.at_once(1)", id: id)
        }
        try await begun.wait("begun")
        bench.state.cancel(id)
        await #expect(throws: LuaError.self) { try await run.value }
        #expect(bench.log == ["cancelled"])
        end()
        try await begun.wait("ended")
        #expect(try await bench.run("return t.later(1)") == [.integer(1)])
    }

    @Test(.timeLimit(.minutes(10))) func `a result after the state was closed is dropped`() async throws {
        let thread = LuaThread(name: "lua-late")
        defer { thread.stop() }
        weak var machine: Machine?
        let begun: Gates
        let end: @Sendable () -> Void
        do {
            let bench = try await Bench(thread: thread)
            (begun, end) = try await stubborn(bench)
            let id = bench.nextID()
            let run = Task { [bench] in try await bench.run("require('stubborn').wait()", id: id) }
            try await begun.wait("begun")
            bench.state.cancel(id)
            await #expect(throws: LuaError.self) { try await run.value }
            machine = await bench.state.inspect { $0 }
        }
        // The state is closed on its thread before the jobs that follow.
        await withCheckedContinuation { continuation in thread.perform { continuation.resume() } }
        #expect(machine?.isClosed != false)
        end()
        try await begun.wait("ended")
        await withCheckedContinuation { continuation in thread.perform { continuation.resume() } }
    }
}
