import CLua
import Testing

@testable import Lua

@Suite struct ValueTests {
    @Test(
        arguments: [
            .nil, .boolean(true), .integer(1 << 53), .integer((1 << 53) + 1), .integer(.max), .integer(.min),
            .number(0.1),
            .number(9_007_199_254_740_992), .number(.infinity), .string(""), .string("ä\0ö"),
            .bytes([0xFF, 0x00, 0xFE]),
            .table(LuaTable()),
            .table(
                LuaTable(
                    array: [.integer(1), .string("x")], fields: ["k": .table(LuaTable(fields: ["": .boolean(false)]))])),
        ] as [LuaValue])
    func `values survive the way into a script and back`(value: LuaValue) async throws {
        let bench = try await Bench()
        #expect(try await bench.run("return t.echo(...)", arguments: [value]) == [value])
    }

    @Test func `NaN survives`() async throws {
        let bench = try await Bench()
        guard case .number(let number)? = try await bench.run("return t.echo(0/0)").first else {
            throw LuaError(kind: .failure, code: "", message: "")
        }
        #expect(number.isNaN)
    }

    @Test(
        arguments: [
            ("{1, nil, 3}", "argument 1 has the key [3], which is neither a name nor part of a list without holes"),
            ("{a = {[true] = 1}}", "argument 1.a has a boolean as a key"),
            ("{a = {b = coroutine.create(print)}}", "argument 1.a.b is a thread, which cannot leave the script"),
            ("(function() local x = {} x.me = {x} return x end)()", "argument 1.me[1] contains itself"),
            ("(function() local x = {} for i = 1, 70 do x = {x} end return x end)()", nil),
            (
                "(function() local x = {1} for i = 1, 40 do x = {x, x} end return x end)()",
                "argument 1 has too many values or too much text"
            ),
        ] as [(String, String?)])
    func `what has no counterpart is refused by name`(expression: String, message: String?) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "t.echo(\(expression))")
        #expect(error.code == "value.unsupported")
        if let message { #expect(error.message == message) }
    }

    @Test func `a function reference goes back to its state only`() async throws {
        let bench = try await Bench()
        let other = try await Bench()
        let function = try await bench.run("return function(x) return x + 1 end")
        #expect(try await bench.run("return (...)(1)", arguments: function) == [.integer(2)])
        await #expect(throws: LuaError.self) { try await other.run("return (...)(1)", arguments: function) }
    }

    @Test func `calls know their place and their task`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            "local w, n = t.where()\nlocal a = t.spawn(t.where)\nreturn w, n, select(2, a:await())")
        #expect(results == [.string("a.lua:1"), .integer(0), .integer(1)])
    }

    @Test func `runs leave nothing in the registry`() async throws {
        let bench = try await Bench()
        func sweep(_ count: Int) async throws {
            for _ in 0..<count {  // two runs each
                _ = try await bench.run("local a = t.spawn(function() return t.later({}) end) a:await() return print")
                _ = try? await bench.run("t.spawn(t.fail) t.fail()")
            }
        }
        func size() async -> (Int, Int) {
            await bench.state.inspect { machine in
                machine.collect()
                return (machine.registryCount, machine.context.pointee.used)
            }
        }
        try await sweep(100)
        let before = await size()
        try await sweep(5_000)
        let after = await size()
        #expect(after.0 <= before.0 + 2)
        #expect(after.1 < before.1 + 20_000)
    }
}
