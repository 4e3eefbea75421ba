import Testing

@testable import Lua

/// Functions whose results cannot be passed to a script; creating one without a warning needs a deprecated context.
private protocol Making: Sendable {
    init()
    func make() -> LuaFunction
}

private struct Tuple: Making {
    @available(*, deprecated)
    func make() -> LuaFunction { LuaFunction("r.pair") { (a: Int) in (a, a) } }
}

private struct AsyncTuple: Making {
    @available(*, deprecated)
    func make() -> LuaFunction { LuaFunction("r.pair") { (a: Int, b: Int) async in (a, b) } }
}

private struct Unknown: Making {
    @available(*, deprecated)
    func make() -> LuaFunction { LuaFunction("r.pair") { () in (1, Unknown()) } }
}

@Suite struct ResultTests {
    @Test func `functions of a script are returned unchanged`() async throws {
        let bench = try await Bench()
        try await bench.state.define(
            LuaModule(
                name: "r",
                functions: [
                    LuaFunction("r.same") { (function: LuaFunctionReference) in function },
                    LuaFunction("r.later") { (function: LuaFunctionReference) async in
                        await Task.yield()
                        return function
                    },
                    LuaFunction("r.twice") { (function: LuaFunctionReference?) in [function, function].compactMap(\.self) },
                    LuaFunction("r.perhaps") { (function: LuaFunctionReference?) in function },
                ]))
        let results = try await bench.run(
            """
            local r, f = require 'r', function() return 7 end
            local list = r.twice(f)
            return r.same(f) == f, r.later(f) == f, list[1] == f and list[2] == f, r.perhaps() == nil, r.perhaps(print) == print, r.same(f)()
            """)
        #expect(results == Array(repeating: .boolean(true), count: 5) + [.integer(7)])
    }

    @Test func `a function of another state is refused as a result`() async throws {
        let bench = try await Bench()
        let other = try await Bench()
        guard case .function(let function)? = try await other.run("return print").first else { throw Bench.refusal }
        try await bench.state.define(LuaModule(name: "r", functions: [LuaFunction("r.give") { () in function }]))
        let error = try await bench.failure(of: "return require('r').give()")
        #expect(error.code == "value.unsupported")
        #expect(error.message == "a function of another Lua state")
    }

    @Test(arguments: ["(Int, Int)", "(Int, Int) async", "(Int, Unknown)"])
    func `a function with an unsupported result type ends the program`(type: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [type = type as String] in
            let kinds: [String: any Making.Type] = [
                "(Int, Int)": Tuple.self, "(Int, Int) async": AsyncTuple.self, "(Int, Unknown)": Unknown.self,
            ]
            _ = kinds[type]?.init().make()
        }
        let told = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(told.contains("the result of r.pair is a (Int, "), "\(told)")
    }

    /// These compile without a warning.
    @Test func `a function that returns nothing needs no result`() async throws {
        let bench = try await Bench()
        let printed = bench.printed
        try await bench.state.define(
            LuaModule(
                name: "r",
                functions: [
                    LuaFunction("r.set") { (value: Int) in printed.append("\(value)") },
                    LuaFunction("r.refuse") { () in throw Bench.refusal },
                    LuaFunction("r.never") { () in fatalError() },
                    LuaFunction("r.wait") { () async in await Task.yield() },
                ]))
        #expect(
            try await bench.run("local r = require 'r' r.set(3) r.wait() return select('#', r.set(4)), (pcall(r.refuse))") == [
                .integer(0), .boolean(false),
            ])
        #expect(bench.log == ["3", "4"])
    }
}
