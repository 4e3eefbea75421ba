import Testing

@testable import Lua

/// A result that writes something other than its declared shape.
private protocol InvalidResult: LuaWritable, Sendable { init() }

private struct Nothing: InvalidResult {
    static var luaShape: LuaShape { .integer }
    func write(to writer: inout LuaWriter) {}
}

private struct NoText: InvalidResult {
    static var luaShape: LuaShape { .text }
    func write(to writer: inout LuaWriter) { writer.beginRecord() }
}

private struct NoRecord: InvalidResult {
    static var luaShape: LuaShape { .record([("a", .integer), ("b", .text)]) }
    func write(to writer: inout LuaWriter) {}
}

private struct HalfRecord: InvalidResult {
    static var luaShape: LuaShape { NoRecord.luaShape }
    func write(to writer: inout LuaWriter) {
        writer.beginRecord()
        writer.write(1)
    }
}

private struct WideRecord: InvalidResult {
    static var luaShape: LuaShape { .record((0..<200).map { ("m\($0)", .value) }) }
    func write(to writer: inout LuaWriter) { writer.beginRecord() }
}

private struct ListForRecord: InvalidResult {
    static var luaShape: LuaShape { NoRecord.luaShape }
    func write(to writer: inout LuaWriter) {
        writer.beginList(count: 2)
        writer.write(1)
        writer.write("b")
    }
}

private struct ShortList: InvalidResult {
    static var luaShape: LuaShape { .list(of: .text) }
    func write(to writer: inout LuaWriter) {
        writer.beginList(count: 3)
        writer.write("one")
    }
}

private struct EmptyLongList: InvalidResult {
    static var luaShape: LuaShape { .list(of: .list(of: .text)) }
    func write(to writer: inout LuaWriter) { writer.beginList(count: 100_000) }
}

private struct ShortMap: InvalidResult {
    static var luaShape: LuaShape { .map(of: .integer) }
    func write(to writer: inout LuaWriter) {
        writer.beginMap(count: 2)
        writer.write("key")
        writer.write(1)
        writer.write("other")
    }
}

private struct HalfInner: InvalidResult {
    static var luaShape: LuaShape { .record([("list", .list(of: NoRecord.luaShape)), ("after", .text)]) }
    func write(to writer: inout LuaWriter) {
        writer.beginRecord()
        writer.beginList(count: 1)
        HalfRecord().write(to: &writer)
        writer.write("after")
    }
}

private struct TooMuch: InvalidResult {
    static var luaShape: LuaShape { .list(of: .integer) }
    func write(to writer: inout LuaWriter) {
        writer.write([1, 2])
        writer.write(3)
    }
}

/// An argument that is read with another type than its shape declares.
private struct Misread<Value: LuaReadable>: LuaReadable {
    static var luaShape: LuaShape { .integer }
    static func read(from reader: inout LuaReader) throws -> Misread {
        _ = try reader.read(Value.self)
        return Misread()
    }
}

/// Like `Misread` for a text, whose slot has an address.
private struct MisreadText<Value: LuaReadable>: LuaReadable {
    static var luaShape: LuaShape { .text }
    static func read(from reader: inout LuaReader) throws -> MisreadText {
        _ = try reader.read(Value.self)
        return MisreadText()
    }
}

/// A record whose members are read in another order than its shape declares.
private struct Swapped: LuaReadableRecord {
    static let luaMembers: [(name: String, shape: LuaShape)] = [("a", .text), ("b", .integer)]
    init(members: inout LuaReader) throws {
        _ = try members.read(Int.self)
        _ = try members.read(String.self)
    }
}

/// A text that is read as a record.
private struct NoRecordAtAll: LuaReadable {
    static var luaShape: LuaShape { .text }
    static func read(from reader: inout LuaReader) throws -> NoRecordAtAll { reader.readRecord { _ in NoRecordAtAll() } }
}

/// Reads more values than its shape declares.
private struct Greedy: LuaReadable {
    static var luaShape: LuaShape { .text }
    static func read(from reader: inout LuaReader) throws -> Greedy {
        _ = try reader.read(String.self)
        _ = try reader.read(String.self)
        return Greedy()
    }
}

@Suite struct InvalidResultTests {
    private static let kinds: [any InvalidResult.Type] = [
        Nothing.self, NoText.self, NoRecord.self, HalfRecord.self, WideRecord.self, ListForRecord.self, ShortList.self,
        EmptyLongList.self, ShortMap.self, HalfInner.self, TooMuch.self,
    ]

    private static func functions<Result: InvalidResult>(_ kind: Result.Type, _ name: String) -> [LuaFunction] {
        [
            LuaFunction("m.\(name)") { () in Result() },
            LuaFunction("m.\(name)_at_once") { () async in Result() },
            LuaFunction("m.\(name)_later") { () async in
                await Task.yield()
                return Result()
            },
        ]
    }

    /// Leaves data that could be mistaken for a result: texts, values, and more of them than any shape has.
    private static let good = LuaFunction("m.good") { () in
        [[LuaValue]](repeating: (0..<50).map { .string("value \($0) of a call before") }, count: 8)
    }

    @Test(arguments: kinds.indices, [LuaLibrary.sandboxed, .standard])
    func `a result that does not match its shape is refused`(index: Int, library: LuaLibrary) async throws {
        let bench = try await Bench(library: library)
        try await bench.state.define(LuaModule(name: "m", functions: Self.functions(Self.kinds[index], "bad") + [Self.good]))
        for function in ["bad", "bad_at_once", "bad_later"] {
            for before in ["", "m.good() "] {
                let error = try await bench.failure(of: "local m = require 'm' \(before)local x = m.\(function)()")
                #expect(error.code == "value.shape", "\(function): \(error)")
                #expect(error.message == "the result of m.\(function) does not match its shape")
                #expect(error.location == SourceLocation(chunk: "a.lua", line: 1))
            }
        }
        let collects = library == .standard ? "collectgarbage 'isrunning'" : "true"
        let results = try await bench.run(
            "local m = require 'm' pcall(m.bad) local collects = \(collects) local g = m.good() return collects, #g, g[8][50]")
        #expect(results == [.boolean(true), .integer(8), .string("value 49 of a call before")])
    }

    /// Runs after a call that leaves texts in the slots. A result without a table takes the shortest path.
    @Test(arguments: [LuaLibrary.sandboxed, .standard], ["greedy", "greedy_flat"])
    func `reading more values than the shape declares ends the program`(library: LuaLibrary, name: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [isSandboxed = (library == .sandboxed) as Bool, name = name as String] in
            let functions = [
                LuaFunction("m.both") { (_: String, _: String) in }, LuaFunction("m.greedy") { (_: Greedy) in },
                LuaFunction("m.greedy_flat") { (_: Greedy) in 1 },
            ]
            let bench = try await Bench(library: isSandboxed ? .sandboxed : .standard)
            try await bench.state.define(LuaModule(name: "m", functions: functions))
            try await bench.run("local m = require 'm' m.both('a', 'b') m.\(name)('a')")
        }
        let told = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(told.contains("values are read in another order or with other types than the shape declares"))
    }

    @Test(
        arguments: [
            "text", "bytes", "object", "value", "function", "boolean", "number", "list", "record", "integer_of_text", "boolean_of_text",
            "number_of_text", "list_of_text", "record_of_text", "swapped",
        ])
    func `reading another type than the shape declares ends the program`(type: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [type = type as String] in
            let functions = [
                LuaFunction("m.text") { (_: Misread<String>) in },
                LuaFunction("m.bytes") { (_: Misread<LuaBytes>) in },
                LuaFunction("m.object") { (_: Misread<LuaObject>) in },
                LuaFunction("m.value") { (_: Misread<LuaValue>) in },
                LuaFunction("m.function") { (_: Misread<LuaFunctionReference>) in },
                LuaFunction("m.boolean") { (_: Misread<Bool>) in },
                LuaFunction("m.number") { (_: Misread<Double>) in },
                LuaFunction("m.list") { (_: Misread<[Int]>) in },
                LuaFunction("m.record") { (_: Misread<Swapped>) in },
                LuaFunction("m.integer_of_text") { (_: MisreadText<Int>) in },
                LuaFunction("m.boolean_of_text") { (_: MisreadText<Bool>) in },
                LuaFunction("m.number_of_text") { (_: MisreadText<Double>) in },
                LuaFunction("m.list_of_text") { (_: MisreadText<[Int]>) in },
                LuaFunction("m.record_of_text") { (_: NoRecordAtAll) in },
                LuaFunction("m.swapped") { (_: Swapped) in },
            ]
            let bench = try await Bench()
            try await bench.state.define(LuaModule(name: "m", functions: functions))
            try await bench.run("local f = require('m')['\(type)'] pcall(f, 1) pcall(f, 'a') pcall(f, {a = 'a', b = 1})")
        }
        let told = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(told.contains("values are read in another order or with other types than the shape declares"))
    }
}
