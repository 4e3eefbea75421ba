import Testing

@testable import Lua

@Suite(.serialized) struct ProgramTests {
    @Test func `calls share the globals and modules of their program, and nothing with other programs`() async throws {
        let modules = LuaSearchPath.lookup { name in
            name == "late" ? LuaScript(name: "late.lua", source: "times = (times or 0) + 1 return { text = 'late' }") : nil
        }
        let bench = try await Bench(searchPath: modules)
        let source = "x = 1 return function() x = x + 1 return x end, function() return require('late').text, times end"
        let program = try await bench.load(source)
        let other = try await bench.load(source)
        for expected: Int64 in 2...4 { #expect(try await bench.call(program, 0) == [.integer(expected)]) }
        #expect(try await bench.call(other, 0) == [.integer(2)])
        for _ in 1...3 { #expect(try await bench.call(program, 1) == [.string("late"), .integer(1)]) }
    }

    @Test func `two concurrent calls that load a module both get the same one`() async throws {
        let modules = LuaSearchPath.lookup { name in
            LuaScript(name: "slow.lua", source: "t = require 't' t.gate 'slow' times = (times or 0) + 1 return { number = times }")
        }
        let bench = try await Bench(searchPath: modules)
        let program = try await bench.load("return function() return require('slow') == require('slow'), require('slow').number end")
        async let first = bench.call(program, 0)
        async let second = bench.call(program, 0)
        await bench.gates.arrival(at: "slow")
        await bench.gates.arrival(at: "slow")
        bench.gates.open("slow")
        bench.gates.open("slow")
        #expect(try await [first, second] == [[.boolean(true), .integer(1)], [.boolean(true), .integer(1)]])
    }

    @Test func `each call has its own budget, annotations and attachment`() async throws {
        let bench = try await Bench(limits: LuaLimits(cpu: .milliseconds(200)))
        let program = try await bench.load(
            """
            local t = require 't'
            return function() while true do end end, function() error 'boom' end, function() return t.spawn(t.attached):await() end
            """)
        let overspent = await #expect(throws: LuaError.self) { try await bench.call(program, 0, annotations: ["run": "p-1"]) }
        #expect(overspent?.code == "budget.cpu")
        #expect(overspent?.annotations == ["run": "p-1"])
        let failed = await #expect(throws: LuaError.self) { try await bench.call(program, 1, annotations: ["run": "p-2"]) }
        #expect(failed?.message == "boom")
        #expect(failed?.location == Lua.SourceLocation(chunk: "p", line: 2))
        #expect(failed?.annotations == ["run": "p-2"])
        #expect(try await bench.call(program, 2, attachment: Name("third")) == [.string("third")])
        #expect(try await bench.call(program, 2) == [.nil])
    }

    @Test func `a waiting call does not block others, and is cancelled alone`() async throws {
        let bench = try await Bench()
        let program = try await bench.load("local t = require 't' return t.gate, function() return 1 end")
        let waiting = Task { try await bench.call(program, 0, arguments: [.string("g")]) }
        let cancelled = Task { try await bench.call(program, 0, arguments: [.string("h")]) }
        await bench.gates.arrival(at: "g")
        await bench.gates.arrival(at: "h")
        #expect(try await bench.call(program, 1) == [.integer(1)])
        cancelled.cancel()
        let error = await #expect(throws: LuaError.self) { try await cancelled.value }
        #expect(error?.code == "cancelled")
        bench.gates.open("g")
        #expect(try await waiting.value == [.string("g")])
    }

    @Test func `a program without references leaves nothing behind`() async throws {
        let bench = try await Bench()
        _ = try await bench.load("return 1")
        await bench.state.inspect { $0.collect() }
        let before = await bench.state.inspect { $0.registryCount }
        for _ in 1...10 {
            let program = try await bench.load("local big = ('x'):rep(1000) return function() return big end")
            _ = try await bench.call(program, 0)
        }
        await bench.state.inspect { $0.collect() }
        #expect(await bench.state.inspect { $0.registryCount } <= before)
        #expect(await bench.state.liveTasks == 0)
    }

    @Test func `a failing script does not become a program`() async throws {
        let bench = try await Bench()
        let error = await #expect(throws: LuaError.self) { _ = try await bench.load("error 'no'") }
        #expect(error?.message == "no")
    }

    final class Name: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }
}

extension Bench {
    fileprivate func load(_ source: String) async throws -> LuaProgram {
        try await state.define(
            LuaModule(
                name: "t",
                functions: [
                    .async("t.gate") { [gates] call in
                        try await gates.wait(Bench.text(call.arguments.first ?? .nil))
                        return call.arguments
                    },
                    .sync("t.attached") { call in [(call.attachment as? ProgramTests.Name).map { .string($0.text) } ?? .nil] },
                ],
                prelude: LuaScript(
                    name: "=[t]",
                    source: """
                        local host = ...
                        return { gate = host.functions["t.gate"], attached = host.functions["t.attached"], spawn = host.spawn }
                        """)))
        return try await state.load(LuaScript(name: "p", source: source), id: nextID())
    }

    fileprivate func call(
        _ program: LuaProgram, _ number: Int, arguments: [LuaValue] = [], annotations: [String: String] = [:],
        attachment: (any AnyObject & Sendable)? = nil
    ) async throws -> [LuaValue] {
        guard case .function(let function) = program.results[number] else { return [] }
        return try await program.call(function, arguments, id: nextID(), annotations: annotations, attachment: attachment)
    }
}
