import Testing

@testable import Lua

/// Tables that are marked as lists.
@Suite struct ListTests {
    private static let empty = LuaValue.table(LuaTable(isList: true))

    @Test func `the mark survives passing the table into a script and back`() async throws {
        let bench = try await Bench()
        let nested = LuaValue.table(LuaTable(fields: ["a": Self.empty, "b": .table(LuaTable())]))
        #expect(try await bench.run("return t.echo(...)", arguments: [Self.empty]) == [Self.empty])
        #expect(try await bench.run("return t.echo(...)", arguments: [nested]) == [nested])
        #expect(try await bench.run("return t.list {}, {}") == [Self.empty, .table(LuaTable())])
        #expect(Self.empty != .table(LuaTable()))
        #expect(LuaTable(array: [.integer(1)], isList: true) == LuaTable(array: [.integer(1)]))
    }

    @Test func `a marked table behaves like any other`() async throws {
        let bench = try await Bench()
        let results = try await bench.run(
            """
            local list = t.list { 1, 2 }
            table.insert(list, 3) list[#list + 1] = 4 table.remove(list, 1) table.sort(list, function(a, b) return a > b end)
            local keys = 0 for _ in pairs(list) do keys = keys + 1 end
            return list, #list, keys, table.concat(list, ","), t.is_list(list), t.is_list({}), t.is_list(nil), getmetatable(list)
            """)
        #expect(
            results == [
                .table(LuaTable(array: [.integer(4), .integer(3), .integer(2)])), .integer(3), .integer(3), .string("4,3,2"),
                .boolean(true), .boolean(false), .boolean(false), .boolean(false),
            ])
    }

    @Test func `a script may set a metatable on a marked table but cannot read the mark`() async throws {
        let bench = try await Bench()
        #expect(
            try await bench.run(
                "local list = t.list {} setmetatable(list, { __index = { x = 1 } }) return list.x, t.is_list(list), t.is_list(t.list {})")
                == [.integer(1), .boolean(false), .boolean(true)])
        #expect(try await bench.run("return t.list(setmetatable({}, {}))") == [.nil])
        let error = try await bench.failure(of: "getmetatable(t.list {}).__gc = print")
        #expect(error.message.hasPrefix("attempt to index a boolean value"))
    }
}
