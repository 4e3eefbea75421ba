import CLua
import Testing

@testable import Lua

/// Has members without a schema.
private struct Loose: LuaReadableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("any", .value), ("n", .integer.optional), ("more", .list(of: .value).optional),
    ]
    init(members: inout LuaReader) throws {
        _ = try members.read(LuaValue.self)
        _ = try members.read(Int?.self)
        _ = try members.read([LuaValue]?.self)
    }
}

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
    func `values survive passing into a script and back`(value: LuaValue) async throws {
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
            ("{1, nil, 3}", "argument 1 of t.echo has the key [3], which is neither a name nor part of a list without holes"),
            ("{a = {[true] = 1}}", "argument 1.a of t.echo has a boolean as a key"),
            ("{a = {b = coroutine.create(print)}}", "argument 1.a.b of t.echo is a thread, which cannot be passed to the host"),
            ("(function() local x = {} x.me = {x} return x end)()", "argument 1.me[1] of t.echo contains itself"),
            ("(function() local x = {} for i = 1, 70 do x = {x} end return x end)()", nil),
            (
                "(function() local x = {1} for i = 1, 40 do x = {x, x} end return x end)()",
                "argument 1 of t.echo has too many values or too much text"
            ),
        ] as [(String, String?)])
    func `an unsupported value is refused by name`(expression: String, message: String?) async throws {
        let bench = try await Bench()
        let error = try await bench.failure(of: "t.echo(\(expression))")
        #expect(error.code == "value.unsupported")
        if let message { #expect(error.message == message) }
        #expect(error.hint != nil)
    }

    @Test(arguments: [
        ("u.any(1, coroutine.create(print))", "argument 2 of u.any is a thread, which cannot be passed to the host"),
        ("u.any(1, {x = {[{}] = 1}})", "argument 2.x of u.any has a table as a key"),
        ("u.wait({{}, {io}})", "argument 1[2][1] of u.wait is a thread, which cannot be passed to the host"),
        ("u.list({1, {co}})", "argument 1[2][1] of u.list is a thread, which cannot be passed to the host"),
        ("u.list({co})", "argument 1[1] of u.list is a thread, which cannot be passed to the host"),
        ("u.one({any = {x = co}})", "argument 1.any.x of u.one is a thread, which cannot be passed to the host"),
        ("u.one({any = big})", "argument 1.any of u.one has too many values or too much text"),
        ("u.wait_one(1, {n = 3, any = co})", "argument 2.any of u.wait_one is a thread, which cannot be passed to the host"),
        (
            "u.orders({'\\255', 'b'}, {{any = 1}, {n = 1, any = {co}}})",
            "argument 2[2].any[1] of u.orders is a thread, which cannot be passed to the host"
        ),
        (
            "u.orders({'a', 'b', 'c'}, {{any = 1, more = {1, co}}, {any = co}})",
            "argument 2[1].more[2] of u.orders is a thread, which cannot be passed to the host"
        ),
        ("u.twice({any = 1}, {any = co})", "argument 1.any of thing:twice is a thread, which cannot be passed to the host"),
        ("u.method(1, 2, co)", "argument 2 of thing:method is a thread, which cannot be passed to the host"),
        ("u.method(co)", "the value before the colon of thing:method is a thread, which cannot be passed to the host"),
        ("u.check('u.other', 1, {co})", "argument 2[1] of u.other is a thread, which cannot be passed to the host"),
    ])
    func `an unsupported argument names its function as the script called it`(source: String, message: String) async throws {
        let bench = try await Bench()
        let module = LuaModule(
            name: "u",
            functions: [
                LuaFunction("u.any") { (_: Int, _: LuaValue) in },
                LuaFunction("u.wait") { (_: LuaValue) async in },
                LuaFunction("u.list") { (_: [LuaValue]) in },
                LuaFunction("u.one") { (_: Loose) in },
                LuaFunction("u.wait_one") { (_: Int, _: Loose) async in },
                LuaFunction("u.orders") { (_: [LuaBytes], _: [Loose]) in },
                LuaFunction("thing:twice") { (_: Loose, _: Loose) in },
                .sync("thing:method") { _ in [] },
                .check("u.check") { _, _ in },
            ],
            prelude: LuaScript(
                name: "=[u]",
                source: """
                    local f = (...).functions
                    local u = {method = f["thing:method"], twice = f["thing:twice"]}
                    for name, f in pairs(f) do u[name:match '^u%.(.*)' or name] = f end
                    return u
                    """))
        try await bench.state.define(module)
        let error = try await bench.failure(
            of:
                "local u, co, big = require('u'), coroutine.create(print), {1} for i = 1, 40 do big = {big, big} end local io = co \(source)"
        )
        #expect(error.code == "value.unsupported")
        #expect(error.message == message)
        #expect(error.hint != nil)
    }

    @Test func `arguments that are too large together are refused`() async throws {
        let bench = try await Bench()
        let list = "local a = {} for i = 1, 130000 do a[i] = i end "
        #expect(try await bench.run(list + "return #t.echo(a), #t.echo('x', 1)") == [.integer(130_000), .integer(1)])
        let error = try await bench.failure(of: list + "t.echo(a, a)")
        #expect(error.code == "value.unsupported")
        #expect(error.message == "the arguments of t.echo have too many values or too much text together")
        #expect(error.hint == "pass them in parts")
    }

    @Test func `a function reference is valid only in its own state`() async throws {
        let bench = try await Bench()
        let other = try await Bench()
        let function = try await bench.run("return function(x) return x + 1 end")
        #expect(try await bench.run("return (...)(1)", arguments: function) == [.integer(2)])
        await #expect(throws: LuaError.self) { try await other.run("return (...)(1)", arguments: function) }
    }

    @Test func `calls have the position and the task of their script`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            "local w, n = t.where()\nlocal a = t.spawn(t.where)\nreturn w, n, select(2, a:await())")
        #expect(results == [.string("a.lua:1"), .integer(0), .integer(1)])
    }

    @Test(
        arguments: [
            (.number(.infinity), "t.echo(1/0)"), (.number(-.infinity), "t.echo(-1/0)"),
            (.integer(9_007_199_254_740_993), "t.echo((1 << 53) + 1)"),
            (.number(9_007_199_254_740_992), "t.echo(2^53)"), (.number(0x1p63), "t.echo(2^63)"),
            (.integer(.min), "t.echo(math.mininteger)"),
            (.integer(.min), "t.echo(math.maxinteger + 1)"), (.number(-0.0), "t.echo(-0.0)"), (.bytes([0xC3]), "t.echo('\\xC3')"),
            (.bytes([0xED, 0xA0, 0x80]), "t.echo('\\u{D800}')"), (.bytes([0x80, 0]), "t.echo('\\x80\\0')"),
            (.string("\0"), "t.echo('\\0')"),
            (.table(LuaTable(array: [.integer(1), .integer(2)])), "t.echo({[1.0] = 1, [2] = 2})"),
            (.table(LuaTable(fields: ["": .integer(1), "1": .integer(2)])), "t.echo({[''] = 1, ['1'] = 2})"),
            (.table(LuaTable(array: [.integer(7)], fields: ["n": .integer(1)])), "t.echo({7, n = 1})"),
        ] as [(LuaValue, String)])
    func `the host receives the values that a script passes`(value: LuaValue, expression: String) async throws {
        let bench = try await Bench()
        #expect(try await bench.run("return \(expression)") == [value])
    }

    @Test func `missing arguments are missing, and extra ones are passed`() async throws {
        let bench = try await Bench()
        #expect(
            try await bench.run("return select('#', t.echo()), select('#', t.echo(nil, nil)), t.echo(nil, 1, nil)") == [
                .integer(0), .integer(2), .nil, .integer(1), .nil,
            ])
        #expect(try await bench.run("return (t.echo())") == [.nil])
        let many = try await bench.run("return select('#', t.echo(table.unpack({}, 1, 5000)))")
        #expect(many == [.integer(5_000)])
    }

    @Test(
        arguments: [
            ("{[0] = 1}", "argument 1 of t.echo has the key [0], which is neither a name nor part of a list without holes"),
            (
                "{[2^53] = 1}",
                "argument 1 of t.echo has the key [9007199254740992], which is neither a name nor part of a list without holes"
            ),
            (
                "{[2^63] = 1}",
                "argument 1 of t.echo has the key [9.223372036854776e+18], which is neither a name nor part of a list without holes"
            ),
            ("{[1.5] = 1}", "argument 1 of t.echo has the key [1.5], which is neither a name nor part of a list without holes"),
            ("{['\\xff'] = 1}", "argument 1 of t.echo has a key that is not UTF-8"),
            ("1, {x = {print, {y = {[print] = 1}}}}", "argument 2.x[2].y of t.echo has a function as a key"),
            ("setmetatable({}, {__index = function() return 1 end, __len = function() return 9 end, __pairs = error})", nil),
            (
                "(function() local x = {} for i = 1, 250001 do x[i] = 0 end return x end)()",
                "argument 1 of t.echo has too many values or too much text"
            ),
            ("{('x'):rep(20 << 20)}", "argument 1 of t.echo has too many values or too much text"),
        ] as [(String, String?)])
    func `keys and lengths near the limits are read raw or refused`(arguments: String, message: String?) async throws {
        let bench = try await Bench()
        let result = try await bench.run("local ok, e = pcall(t.echo, \(arguments)) return ok, type(e) == 'table' and e.message or nil")
        #expect(result == [.boolean(message == nil), message.map(LuaValue.string) ?? .nil])
    }

    @Test func `results of the host count towards the memory of the script`() async throws {
        let bench = try await Bench(limits: LuaLimits(memory: 4 << 20))
        try await bench.state.define(
            LuaModule(
                name: "big",
                functions: [
                    .sync("big.text") { _ in [.bytes([UInt8](repeating: 0x41, count: 5 << 20))] },
                    .async("big.list") { _ in
                        await Task.yield()
                        return [
                            .table(
                                LuaTable(
                                    array: [LuaValue](repeating: .string("longer than any short string of Lua is, by far"), count: 300_000))
                            )
                        ]
                    },
                ]))
        for name in ["text", "list"] {
            let error = try await bench.failure(of: "\nlocal ok, e = pcall(require('big').\(name)) error(e, 0)")
            #expect(error.code == "budget.memory")
            #expect(try await bench.run("return 1 + 1") == [.integer(2)])
        }
        await #expect(throws: LuaError.self) {
            try await bench.run("return ...", arguments: [.bytes([UInt8](repeating: 0, count: 9 << 20))])
        }
        #expect(try await bench.run("return 1 + 1") == [.integer(2)])
    }

    @Test func `a result is released once it has been returned to its caller`() async throws {
        let control = RunControl(limits: LuaLimits())
        weak var held: LuaFunctionReference?
        do {
            let function = LuaFunctionReference(reference: 1, definition: nil, bin: DiscardedReferences())
            held = function
            control.end(with: .success([.function(function)]))
        }
        #expect(held != nil)
        _ = try await control.result()
        #expect(held == nil)
    }

    @Test func `a hundred thousand runs leave nothing in the registry`() async throws {
        let bench = try await Bench()
        func sweep(_ count: Int) async throws {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<20 {
                    group.addTask {
                        for index in 0..<count / 20 {
                            let script = LuaScript(name: "a.lua", source: index % 4 == 0 ? "error 'x'" : "return {}")
                            _ = try? await bench.state.run(script, id: LuaRunID(rawValue: (index + 1) * 100 + lane))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        func size() async -> (Int, Int) {
            await bench.state.inspect { machine in
                machine.collect()
                return (machine.registryCount, machine.context.pointee.used)
            }
        }
        try await sweep(1_000)
        let before = await size()
        try await sweep(100_000)
        let after = await size()
        #expect(after.0 <= before.0 + 2)
        #expect(after.1 < before.1 + 20_000)
    }

    @Test func `runs with tasks and failures leave nothing in the registry`() async throws {
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
        try await sweep(1_000)
        let after = await size()
        #expect(after.0 <= before.0 + 2)
        #expect(after.1 < before.1 + 20_000)
    }
}
