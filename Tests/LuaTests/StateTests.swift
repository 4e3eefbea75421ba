import Testing

@testable import Lua

@Suite struct StateTests {
    @Test func `a script returns its results`() async throws {
        let bench = try await Bench()
        #expect(
            try await bench.run("return 6 * 7, 'x', nil, true, 1.5") == [
                .integer(42), .string("x"), .nil, .boolean(true), .number(1.5),
            ])
    }

    @Test func `a script gets its arguments`() async throws {
        let bench = try await Bench()
        #expect(
            try await bench.run("local a, b = ... return b, a", arguments: [.integer(1), .string("z")]) == [
                .string("z"), .integer(1),
            ])
    }

    @Test func `async functions return immediately or later`() async throws {
        let bench = try await Bench()
        #expect(
            try await bench.run("return t.at_once(1), t.later(2), t.at_once(3)") == [
                .integer(1), .integer(2), .integer(3),
            ])
    }

    @Test func `an error of a function keeps its structure up to the host`() async throws {
        let bench = try await Bench()
        var expected = Bench.refusal
        expected.location = SourceLocation(chunk: "a.lua", line: 2)
        expected.annotations = ["run": "r-1"]
        for call in ["t.fail()", "t.later_fail()", "coroutine.wrap(t.later_fail)()"] where !call.contains("wrap") {
            var error = try await bench.failure(of: "\n\(call)", annotations: ["run": "r-1"])
            #expect(error.traceback == [SourceLocation(chunk: "a.lua", line: 2)])
            error.traceback = []
            #expect(error == expected)
        }
    }

    @Test func `spawned tasks run and are awaited`() async throws {
        let bench = try await Bench()
        #expect(
            try await bench.run(
                """
                local a = t.spawn(function(x) return t.later(x) + 1 end, 1)
                local b = t.spawn(function() return 5 end)
                return a:await() + b:await()
                """) == [.integer(7)])
    }

    @Test func `a loop ends with the CPU budget`() async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "while true do end", limits: LuaLimits(cpu: .milliseconds(30)))
        #expect(error.code == "budget.cpu")
        #expect(error.message == "the script used more than its CPU budget of 30 ms")
    }
}
