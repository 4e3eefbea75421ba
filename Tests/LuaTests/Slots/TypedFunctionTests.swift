import CLua
import Testing

@testable import Lua

private struct Order: LuaReadableRecord, LuaWritableRecord, Equatable {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("topic", .text), ("priority", .integer.optional), ("tags", .list(of: .text).optional),
    ]
    var topic: String
    var priority: Int?
    var tags: [String]?

    init(topic: String, priority: Int?, tags: [String]?) {
        self.topic = topic
        self.priority = priority
        self.tags = tags
    }

    init(members: inout LuaReader) throws {
        topic = try members.read()
        priority = try members.read()
        tags = try members.read()
    }

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(topic)
        writer.write(priority)
        writer.write(tags)
    }
}

/// A record in a record, lists of records, a map, and a member without a schema.
private struct OrderList: LuaWritableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("first", Order.luaShape.optional), ("orders", .list(of: Order.luaShape)), ("counts", .map(of: .integer).optional),
        ("extra", .value),
    ]
    var first: Order?
    var orders: [Order]
    var extra: LuaValue

    init(members: inout LuaReader) throws {
        first = try members.read()
        orders = try members.read()
        extra = try members.read()
    }

    func writeMembers(to writer: inout LuaWriter) {
        writer.write(first)
        writer.write(orders)
        writer.beginMap(count: orders.count)
        for order in orders {
            writer.write(order.topic)
            writer.write(order.priority ?? 0)
        }
        writer.write(extra)
    }
}

private struct ReadOrderList: LuaReadableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [
        ("first", Order.luaShape.optional), ("orders", .list(of: Order.luaShape)), ("extra", .value),
    ]
    var list: OrderList

    init(members: inout LuaReader) throws { list = try OrderList(members: &members) }
}

/// A record with known keys, one of which may be passed without its name.
private struct Greeting: LuaReadable {
    static var luaShape: LuaShape {
        .record([("name", .text), ("times", .integer.optional)], isExact: true, alone: "name")
    }
    var text: String

    static func read(from reader: inout LuaReader) throws -> Greeting {
        try reader.readRecord { members in
            let name: String = try members.read()
            let times: Int? = try members.read()
            return Greeting(text: String(repeating: name, count: times ?? 1))
        }
    }
}

/// Records in records, each with more members than the initial stack has slots.
private protocol Summed: LuaReadable { var sum: Int { get } }

private struct Leaf: LuaReadableRecord, Summed {
    static let luaMembers: [(name: String, shape: LuaShape)] = ["b", "z"].map { ($0, .integer.optional) }
    var sum: Int

    init(members: inout LuaReader) throws {
        sum = (try members.read(Int?.self) ?? 0) + (try members.read(Int?.self) ?? 0)
    }
}

private struct Deep<Inner: Summed>: LuaReadableRecord, Summed {
    private static var names: [String] { ["b", "z"] + (0..<18).map { "m\($0)" } }
    static var luaMembers: [(name: String, shape: LuaShape)] {
        [("a", Inner.luaShape)] + names.map { ($0, .integer.optional) }
    }
    var sum: Int

    init(members: inout LuaReader) throws {
        sum = try members.read(Inner.self).sum
        for _ in Self.names { sum += try members.read(Int?.self) ?? 0 }
    }
}

/// A state whose module `f` has typed functions.
private struct TypedBench {
    let bench: Bench

    init(limits: LuaLimits = LuaLimits()) async throws {
        bench = try await Bench(limits: limits)
        try await bench.state.define(
            LuaModule(
                name: "f",
                functions: [
                    LuaFunction("f.add") { (a: Int, b: Int) in a + b },
                    LuaFunction("f.half") { (number: Double) in number / 2 },
                    LuaFunction("f.both") { (text: String, flag: Bool) in [.boolean(flag), .string(text)] as [LuaValue] },
                    LuaFunction("f.count") { (text: String) in text.count },
                    LuaFunction("f.nothing") { () in },
                    LuaFunction("f.reverse") { (bytes: LuaBytes) in LuaBytes(bytes.bytes.reversed()) },
                    LuaFunction("f.same") { (bytes: LuaBorrowedBytes) in bytes },
                    LuaFunction("f.order") { (order: Order) in order },
                    LuaFunction("f.later") { (order: Order, more: [Int]) async in
                        await Task.yield()
                        return Order(topic: order.topic, priority: more.last, tags: order.tags)
                    },
                    LuaFunction("f.pause") { () async in await Task.yield() },
                    LuaFunction("f.at_once") { (text: String) async in text + "!" },
                    LuaFunction("f.refuse") { (text: String?) async throws -> Int in
                        if text != nil { await Task.yield() }
                        throw Bench.refusal
                    },
                    LuaFunction("f.fail") { (_: Int) throws -> Int in throw Bench.refusal },
                    LuaFunction("f.orders") { (list: ReadOrderList) in list.list },
                    LuaFunction("f.greet") { (greeting: Greeting) in greeting.text },
                    LuaFunction("f.any") { (value: LuaValue, function: LuaFunctionReference?) in
                        [value, function.map(LuaValue.function) ?? .boolean(false)]
                    },
                    LuaFunction("f.name") { (object: LuaObject) in "\(object.payload)" },
                    LuaFunction("f.list") { (list: [Int?]) in list.compactMap(\.self).count },
                    LuaFunction("f.deep") { (deep: Deep<Deep<Deep<Leaf>>>) in deep.sum },
                    LuaFunction("f.site") { (site: LuaCallSite, number: Int) in
                        "\(site.location?.description ?? "?") \(number) \(site.task)"
                    },
                ]))
    }

    func run(_ source: String) async throws -> [LuaValue] { try await bench.run("local f = require 'f'; " + source) }

    func failure(of source: String) async throws -> LuaError { try await bench.failure(of: "local f = require 'f'; " + source) }
}

@Suite struct TypedFunctionTests {
    @Test(arguments: [
        ("return f.add(2, 3), f.add(2.0, -3)", "5 -1"),
        (
            "return f.add(2^53, 1), f.add(math.maxinteger, 1 - 1), f.add(-2^63, 0)",
            "9007199254740993 9223372036854775807 -9223372036854775808"
        ),
        ("return f.list{1, nil, 3}, f.list{}", "2 0"),
        ("return f.deep{a = {a = {a = {z = 1}, b = 2}, b = 3, z = 4}, b = 5, z = 6}", "21"),
        ("return f.half(3), f.half(0.5)", "1.5 0.25"),
        ("return table.unpack(f.both('a', true))", "true a"),
        ("return select('#', f.nothing())", "0"),
        ("return f.reverse('a\\0\\xff') == '\\xff\\0a', f.same('\\xff\\0') == '\\xff\\0', f.reverse('') == ''", "true true true"),
        ("return f.count('déjà'), f.count('')", "4 0"),
        ("local o = f.order{topic='x'}; return o.topic, o.priority, o.tags", "x nil nil"),
        ("local o = f.order{topic='x', priority=3, tags={'a','b'}, other=1}; return o.priority, #o.tags, o.tags[2], o.other", "3 2 b nil"),
        (
            "local o = f.later({topic='long enough to be no small string', tags={}}, {1, 2, 3}); return o.topic, #o.tags, o.priority",
            "long enough to be no small string 0 3"
        ),
        ("return f.at_once('now'), select('#', f.pause())", "now! 0"),
        ("return f.greet{name='a', times=3}, f.greet 'b', f.greet{name='c'}", "aaa b c"),
        ("local r = f.any({1, {x = 2}}, print); return r[1][2].x, r[2] == print", "2 true"),
        ("local r = f.any(); return r[1], r[2]", "nil false"),
        ("return f.name(t.thing('box'))", "box"),
        ("return f.site(7)", "a.lua:1 7 0"),
        ("return math.type(f.add(1, 1)), math.type(f.half(4))", "integer float"),
        ("local v = f.any(t.thing('a'))[1]; return v == t.thing('a'), tostring(v)", "false thing a"),
    ])
    func `values are converted by their types`(source: String, expected: String) async throws {
        let results = try await TypedBench().run(source)
        #expect(results.map(Bench.text).joined(separator: " ") == expected)
    }

    @Test func `records, lists, maps and values without a schema nest`() async throws {
        let results = try await TypedBench().run(
            """
            local s = f.orders { orders = { {topic = 'a', priority = 4}, {topic = 'b', tags = {'x'}} }, extra = { deep = {1} } }
            local e = f.orders { first = {topic = 'c'}, orders = {} }
            return s.first, s.orders[1].priority, s.orders[2].tags[1], s.counts.a, s.counts.b, s.extra.deep[1],
                e.first.topic, #e.orders, next(e.counts), e.extra
            """)
        #expect(results.map(Bench.text) == ["nil", "4", "x", "4", "0", "1", "c", "0", "nil", "nil"])
    }

    @Test(arguments: [
        ("f.add(1)", "argument 2 of f.add must be a whole number, got nothing"),
        ("f.add(1, 2, 3)", "f.add takes 2 arguments, got 3"),
        ("f.add(1, '2')", "argument 2 of f.add must be a whole number, got a string"),
        ("f.add(1, 0.5)", "argument 2 of f.add must be a whole number, got a number"),
        ("f.add(1, 2^63)", "argument 2 of f.add must be a whole number, got a number"),
        ("f.count('\\xff')", "argument 1 of f.count must be a UTF-8 string, got a string that is not UTF-8"),
        ("f.count('\\xed\\xa0\\x80')", "argument 1 of f.count must be a UTF-8 string, got a string that is not UTF-8"),
        ("f.order{}", "argument 1.topic of f.order must be a UTF-8 string, got nothing"),
        ("f.order()", "argument 1 of f.order must be a table, got nothing"),
        ("f.order{topic = 'x', tags = {'a', 2}}", "argument 1.tags[2] of f.order must be a UTF-8 string, got a number"),
        ("f.order{topic = 'x', tags = {a = 'b'}}", "argument 1.tags of f.order must be a list, got a table"),
        ("f.order{topic = 'x', tags = {'\\xff'}}", "argument 1.tags[1] of f.order must be a UTF-8 string, got a string that is not UTF-8"),
        (
            "f.orders{orders = {{topic = 'a'}, {topic = true}}}",
            "argument 1.orders[2].topic of f.orders must be a UTF-8 string, got a boolean"
        ),
        ("f.greet{name = 'a', tmes = 3}", "argument 1 of f.greet has no key \"tmes\""),
        ("f.greet{name = 'a', [true] = 3}", "argument 1 of f.greet must be a table with known keys only, got a table"),
        ("f.greet(true)", "argument 1 of f.greet must be a UTF-8 string, got a boolean"),
        ("f.name('box')", "argument 1 of f.name must be a host object, got a string"),
        ("f.name(t.spawn(function() end))", "an argument of f.name has the wrong type"),
        ("f.list{1, nil, 3, x = 5}", "argument 1 of f.list must be a list, got a table"),
        ("f.any(1, 2)", "argument 2 of f.any must be a function, got a number"),
        ("f.any(coroutine.create(print))", "argument 1 of f.any is a thread, which cannot be passed to the host"),
    ])
    func `an invalid argument is refused with its position`(call: String, message: String) async throws {
        let error = try await TypedBench().failure(of: "local x = " + call)
        #expect(error.message == message)
        #expect(error.kind == .misuse)
        #expect(error.location == SourceLocation(chunk: "a.lua", line: 1))
    }

    @Test(arguments: ["f.fail(1)", "f.refuse()", "f.refuse('later')", "pcall(f.add, 1) f.fail(2)"])
    func `errors keep their structure`(call: String) async throws {
        let error = try await TypedBench().failure(of: call)
        #expect(error.code == "hub.refused" && error.status == 403 && error.isRetryable)
    }

    @Test func `waiting functions wait in coroutines and are refused in positions that cannot be suspended`() async throws {
        let typed = try await TypedBench()
        let results = try await typed.run(
            """
            local w = coroutine.wrap(function() local o = f.later({topic = 'in'}, {}); coroutine.yield(o.topic); return 'end' end)
            local a, b = w(), w()
            local ok, e = pcall(table.sort, {2, 1}, function(x, y) f.at_once('x') return x < y end)
            return a, b, ok, e.code
            """)
        #expect(results.map(Bench.text) == ["in", "end", "false", "lua.cannot_wait"])
    }

    @Test func `a table with metamethods is read raw`() async throws {
        let results = try await TypedBench().run(
            """
            local calls = 0
            local m = setmetatable({}, { __index = function() calls = calls + 1 return 'x' end, __len = function() return 9 end })
            local ok = pcall(f.order, m)
            return ok, calls
            """)
        #expect(results == [.boolean(false), .integer(0)])
    }

    @Test func `a list with too many elements is refused before it is read`() async throws {
        let error = try await TypedBench().failure(of: "local l = {} for i = 1, 250001 do l[i] = i end f.later({topic = ''}, l)")
        #expect(error.code == "script.bad_argument")
    }

    @Test func `results over the memory limit end the run`() async throws {
        let typed = try await TypedBench(limits: LuaLimits(memory: 2 << 20))
        let error = try await typed.failure(of: "local k = {} for i = 1, 1e6 do k[i] = f.order{topic = ('x'):rep(1000)} end")
        #expect(error.code == "budget.memory")
        let isBalanced = await typed.bench.state.inspect { $0.framesEntered == $0.framesLeft && lua_gettop($0.lua) == 0 }
        #expect(isBalanced)
    }

    /// Like the test of values, with each allocation failing in turn.
    @Test func `no failing allocation jumps over a typed function`() async throws {
        var failed = 0
        var calls = 0
        for point in 1...100_000 {
            let typed = try await TypedBench()
            await typed.bench.state.inspect { $0.armFault(after: point) }
            do {
                _ = try await typed.run(
                    """
                    local k = {}
                    for i = 1, 3 do
                        k[#k + 1] = f.order{topic = 'a text that is longer than forty bytes, number ' .. i, tags = {'a', 'b' .. i}}
                        k[#k + 1] = f.later({topic = 'x' .. i}, {1, 2, i})
                        k[#k + 1] = f.orders{orders = {{topic = 'a' .. i}}, extra = {'y' .. i}}
                        pcall(f.fail, 1)
                        pcall(f.count, '\\xff')
                    end
                    """)
            } catch { failed += 1 }
            let isUnused = await typed.bench.state.inspect { machine in
                #expect(machine.framesEntered == machine.framesLeft)
                calls += machine.framesEntered
                return machine.context.pointee.fail_after > 0
            }
            if isUnused { break }
        }
        #expect(failed > 20 && calls > 200)
    }

    @Test func `finalizers of trusted scripts do not interfere with results`() async throws {
        let thread = LuaThread(name: "finalizers")
        defer { thread.stop() }
        let state = try LuaState(thread: thread, library: .standard)
        let list: @Sendable (Int) -> [LuaValue] = { count in (0..<count).map { .string("element \($0) of a list that is long enough") } }
        try await state.define(
            LuaModule(
                name: "d",
                functions: [
                    LuaFunction("d.values") { (count: Int) in list(count) },
                    LuaFunction("d.texts") { (count: Int) in (0..<count).map { "text number \($0), which is no short one" } },
                    LuaFunction("d.later") { (count: Int) async in
                        await Task.yield()
                        return (0..<count).map { "later number \($0), which is no short one" }
                    },
                ]))
        let source = """
            local d = require 'd'
            for i = 1, 100 do setmetatable({}, { __gc = function() d.texts(40) d.values(20) end }) end
            local wrong = 0
            for round = 1, 200 do
                local values, texts, later = d.values(60), d.texts(60), d.later(60)
                for i = 1, 60 do
                    if values[i] ~= 'element ' .. i - 1 .. ' of a list that is long enough' then wrong = wrong + 1 end
                    if texts[i] ~= 'text number ' .. i - 1 .. ', which is no short one' then wrong = wrong + 1 end
                    if later[i] ~= 'later number ' .. i - 1 .. ', which is no short one' then wrong = wrong + 1 end
                end
                setmetatable({}, { __gc = function() d.texts(40) d.values(20) end })
            end
            return wrong
            """
        #expect(try await state.run(LuaScript(name: "a.lua", source: source), id: LuaRunID(rawValue: 1)) == [.integer(0)])
    }

    @Test func `one large result does not keep its memory allocated`() async throws {
        let typed = try await TypedBench()
        _ = try await typed.run("f.at_once(('x'):rep(9 << 20)) f.order{topic = ('y'):rep(9 << 20)} f.add(1, 2)")
        let kept = await typed.bench.state.inspect { $0.context.pointee.results.byte_capacity }
        #expect(kept < 1 << 17)
    }
}
