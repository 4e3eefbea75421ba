import Testing

@testable import Lua

/// Lengths near the limits of 32 and 64 bits: refused as too large or by the memory budget, and never truncated.
@Suite struct LengthTests {
    /// Calls, and a part of their error message.
    static let refused: [(calls: [String], message: String)] = [
        (
            [
                "('x'):rep(1 << 31)", "('x'):rep((1 << 32) + 1)", "('x'):rep(1 << 62)", "('x'):rep(math.maxinteger)", "('x'):rep(1e18)",
                // With overflow these would be 0, 2, 16 and 48 bytes.
                "('abcd'):rep(1 << 62)", "('xy'):rep((1 << 63 - 1) + 1 | 1 << 62)", "('x'):rep(16):rep((1 << 60) + 1)",
                "('x'):rep(48):rep((1 << 60) + 1)",
                // With separators and overflow: 1, 1 and 4 bytes.
                "('x'):rep((1 << 62) + 1, 'yyy')", "(''):rep((1 << 63 - 1) + 1, 'y')", "('xy'):rep((1 << 62) + 1, 'yy')",
                "(''):rep(math.maxinteger, 'y')", "('x'):rep(math.maxinteger, 'y')", "('x'):rep(1 << 32, 'y')",
                "mib:rep(2048)", "mib:rep(4096)", "mib:rep(4097)", "mib:rep(1 << 44)", "mib:rep((1 << 44) + 1)", "('x'):rep(2048, mib)",
            ], "resulting string too large"
        ),
        (
            [
                "('x'):rep((1 << 31) - 1)", "mib:rep(2047)", "('x'):rep(2047, mib)", "table.concat(list)", "table.concat(list, mib)",
                "table.concat(list, mib, 1, 4097)", "table.concat(endless)", "table.concat(endless, '', math.mininteger, math.maxinteger)",
                "table.concat(endless, mib, math.maxinteger - 4096, math.maxinteger)", "('%s'):rep(4097):format(table.unpack(list))",
                "mib:gsub('x', mib)", "mib:gsub('', mib)", "string.pack('c2147483639', '')", "string.pack('c2147483648', '')",
                "string.pack('c4294967296', '')", "string.pack('c9223372036854775808', '')",
                "string.pack(('s4'):rep(4097), table.unpack(list))",
            ], "memory budget"
        ),
        (
            [
                "('%2147483648d'):format(1)", "('%4294967297d'):format(1)", "('%9223372036854775808d'):format(1)", "('%100s'):format('')",
                "('%.4294967296f'):format(1)", "('%.100s'):format('')",
            ], "invalid"
        ),
        (
            [
                "string.packsize('c2147483640')", "string.packsize('c2147483648')", "string.packsize('c4294967296')",
                "string.packsize('c9223372036854775808')", "string.packsize('c18446744073709551617')",
            ], "invalid format option"
        ),
        (
            ["string.pack('i17', 1)", "string.pack('i4294967297', 1)", "string.pack('s4294967304', '')", "string.pack('!17i4', 1)"],
            "out of limits"
        ),
        (["string.packsize('c2147483639c9')", "string.packsize(('c2147483639'):rep(3))"], "too large"),
        (
            [
                "string.unpack('s8', ('\\xff'):rep(8))", "string.unpack('<s8', '\\0\\0\\0\\0\\1\\0\\0\\0')",
                "string.unpack('<s8', '\\0\\0\\0\\0\\0\\0\\0\\x80')", "string.unpack('<s8', '\\xf8\\xff\\xff\\xff\\xff\\xff\\xff\\xff')",
                "string.unpack('c2147483639', 'x')", "string.unpack('<s4', '\\xff\\xff\\xff\\xff')",
            ], "too short"
        ),
        (["string.unpack('i4', 'abcd', math.maxinteger)", "string.unpack('i4', 'abcd', 1 << 32)"], "out of string"),
        (
            [
                "table.unpack({}, 1, 1 << 31)", "table.unpack({}, 1, 1 << 32)", "table.unpack({}, math.mininteger, math.maxinteger)",
                "table.unpack({}, 0, math.maxinteger)", "table.unpack(endless)",
            ], "too many results to unpack"
        ),
        (["mib:byte(1, -1)", "mib:byte(1, math.maxinteger)", "mib:byte(math.mininteger, 1 << 32)"], "string slice too long"),
        (["string.char((1 << 32) + 65)", "utf8.char((1 << 32) + 65)", "utf8.char(-1)"], "out of range"),
        (["table.move({}, 1, math.maxinteger, 2)", "table.move({}, 2, math.maxinteger, 3)"], "wrap around"),
        (["table.move({}, math.mininteger, math.maxinteger, 1)", "table.move({}, -1, math.maxinteger, 1)"], "too many elements"),
    ]

    static let setUp = """
        local mib = ('x'):rep(1 << 20)
        local list = {}
        for i = 1, 4097 do list[i] = mib end
        local endless = setmetatable({}, { __index = function() return mib end, __len = function() return 1 << 43 end })

        """

    @Test(arguments: refused.indices)
    func `a length beyond the limits is refused`(index: Int) async {
        // Runs in a child process, because an overflow would write outside of its memory.
        await #expect(processExitsWith: .success) { [index = index as Int] in
            HangGuard.arm()
            let (calls, message) = Self.refused[index]
            let bench = try await Bench(limits: LuaLimits(memory: 16 << 20, cpu: .seconds(30)))
            for call in calls {
                let error = try await bench.failure(of: Self.setUp + "local x = \(call)")
                #expect(error.message.contains(message), "\(call): \(error)")
                #expect(error.code == (message == "memory budget" ? "budget.memory" : "script.error"), "\(call): \(error)")
            }
            #expect(await bench.state.memoryPeak <= 16 << 20)
            #expect(try await bench.run("return ('x'):rep(3, 'y')") == [.string("xyxyx")])
        }
    }

    @Test(
        arguments: [
            ("('x'):rep(1 << 63)", LuaValue.string("")), ("('x'):rep(math.mininteger)", .string("")),
            ("(''):rep(math.maxinteger)", .string("")),
            ("(''):rep(math.maxinteger, '')", .string("")), ("('abc'):sub(math.mininteger, math.maxinteger)", .string("abc")),
            ("('abc'):sub((1 << 32) + 1)", .string("")), ("('abc'):byte(1 << 32)", .nil), ("('abc'):find('', 1 << 62)", .nil),
            ("string.packsize('c2147483639c8')", .integer(2_147_483_647)), ("utf8.offset('abc', math.maxinteger)", .nil),
            ("table.concat({}, 'x', math.maxinteger, math.mininteger)", .string("")),
            ("select('#', table.unpack({}, math.maxinteger, 1))", .integer(0)),
        ] as [(String, LuaValue)])
    func `positions beyond the end of a string are valid`(call: String, result: LuaValue) async throws {
        #expect(try await Bench().run("return (\(call))") == [result])
    }
}
