import Testing

@testable import Lua

@Suite struct DefinitionTests {
    private static func module(_ prelude: String, globals: [LuaFunction] = []) -> LuaModule {
        LuaModule(
            name: "d",
            functions: [
                LuaFunction("d.thing") { () in LuaObject(type: "d.thing", payload: "it") },
                LuaFunction("d.wait") { () async in await Task.yield() },
                .async("d.wait_too") { _ in
                    await Task.yield()
                    return []
                },
            ],
            types: [LuaObjectType(name: "d.thing", methods: [.sync("d.thing.is") { _ in [.boolean(true)] }])],
            globals: globals, prelude: LuaScript(name: "=[d]", source: prelude))
    }

    private static let good = "return {thing = (...).functions['d.thing']}"

    @Test(arguments: ["error 'x'", "return +", "(...).functions['d.wait']()"])
    func `a module whose prelude fails leaves nothing behind`(prelude: String) async throws {
        let bench = try await Bench()
        let globals: [LuaFunction] = [
            .sync("print") { _ in [.string("new")] }, .sync("os.time") { _ in [] }, .sync("os.late") { _ in [] },
            .sync("deep.er.one") { _ in [] }, .sync("deep.er.two") { _ in [] }, .sync("math.pi.no") { _ in [] },
        ]
        let before = await bench.state.inspect { $0.objectTypes.keys.sorted() }
        for _ in 1...2 {
            let error = await #expect(throws: LuaError.self) { try await bench.state.define(Self.module(prelude, globals: globals)) }
            #expect(error?.code != "value.duplicate_type")
        }
        #expect(await bench.state.inspect { $0.objectTypes.keys.sorted() } == before)
        let now = try await bench.run(
            "return (pcall(require, 'd')), print(), os.time(), deep, type(math.pi), (pcall(function() return os.late() end))")
        #expect(now == [.boolean(false), .nil, .integer(1_000), .nil, .string("number"), .boolean(false)])
        try await bench.state.define(Self.module(Self.good, globals: globals))
        let then = try await bench.run("return require('d').thing():is(), print(), type(deep.er.two), type(math.pi.no)")
        #expect(then == [.boolean(true), .string("new"), .string("function"), .string("function")])
    }

    @Test func `a duplicate type is refused together with its module`() async throws {
        let bench = try await Bench()
        let module = LuaModule(
            name: "two", types: [LuaObjectType(name: "fresh", methods: []), LuaObjectType(name: "thing", methods: [])],
            globals: [.sync("two") { _ in [] }])
        let error = await #expect(throws: LuaError.self) { try await bench.state.define(module) }
        #expect(error?.message == "the type 'thing' is already defined")
        #expect(await bench.state.inspect { $0.objectTypes["fresh"] == nil })
        #expect(try await bench.run("return two, t.thing('x').name") == [.nil, .string("x")])
    }

    @Test func `defining a module adds only the module to the registry`() async throws {
        let bench = try await Bench()
        func define() async throws -> Int {
            try await bench.state.define(LuaModule(name: "g", globals: [.sync("one.two") { _ in [] }]))
            return await bench.state.inspect { $0.registryCount }
        }
        let first = try await define()
        #expect(try await define() == first)
    }

    @Test(arguments: [
        "(...).functions['d.wait']()", "(...).functions['d.wait_too']()",
        "local f = ... pcall(f.functions['d.wait']) f.functions['d.wait']()",
        "coroutine.wrap((...).functions['d.wait'])()", "coroutine.wrap((...).functions['d.wait_too'])()",
    ])
    func `a prelude that waits gets an error`(prelude: String) async throws {
        let bench = try await Bench()
        let error = await #expect(throws: LuaError.self) { try await bench.state.define(Self.module(prelude)) }
        #expect(error?.code == "lua.cannot_wait")
        #expect(error?.message.hasSuffix("a prelude cannot wait while it is being loaded") == true, "\(String(describing: error))")
        #expect(error?.hint == "wait in a function that scripts call")
    }
}
