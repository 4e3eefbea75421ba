import Lua
import PushModel
import Testing

@testable import Bindings

@Suite struct CalendarTests {
    private static let time = Timestamp(seconds: 1_767_603_600)

    @Test(
        arguments: [
            ("%Y-%m-%d %H:%M:%S", "2026-01-05 09:00:00"), ("!%c", "Mon Jan  5 09:00:00 2026"),
            ("%A %a %B %b %p %I %j %w %u", "Monday Mon January Jan AM 09 005 1 1"),
            ("%F %T %R %D %y %e %s %Z %z", "2026-01-05 09:00:00 09:00 01/05/26 26  5 1767603600 UTC +0000"),
            ("100%%%n%t", "100%\n\t"), ("", ""), ("plain ü", "plain ü"),
        ])
    func `dates are formatted like strftime in the C locale, in UTC`(format: String, text: String) throws {
        #expect(try DateFormat(format).value(at: Self.time) == .string(text))
    }

    @Test func `the table of a date has the fields of Lua's os date`() throws {
        guard case .table(let table) = try DateFormat("*t").value(at: Self.time) else { return #expect(Bool(false)) }
        #expect(
            table.fields
                == [
                    "year": .integer(2026), "month": .integer(1), "day": .integer(5), "hour": .integer(9),
                    "min": .integer(0), "sec": .integer(0), "wday": .integer(2), "yday": .integer(5),
                    "isdst": .boolean(false),
                ])
        #expect(try DateFormat("!*t").value(at: Self.time) == .table(table))
    }

    @Test(arguments: ["%Q", "%", "abc%"])
    func `an unknown format is refused`(format: String) {
        let error = #expect(throws: LuaError.self) { try DateFormat(format).value(at: Self.time) }
        #expect(error?.code == "args.date_format")
    }

    @Test func `times before 1970 have dates`() throws {
        #expect(try DateFormat("%F %T").value(at: Timestamp(seconds: -1)) == .string("1969-12-31 23:59:59"))
        #expect(try DateFormat("%F").value(at: Timestamp(seconds: -86_400 * 366)) == .string("1968-12-31"))
    }

    @Test(
        arguments: [
            LuaValue.integer(.max), .integer(.min), .number(1e300), .number(.nan), .number(-.infinity), .string("now"),
        ])
    func `a time outside of the calendar is refused`(value: LuaValue) {
        let error = #expect(throws: LuaError.self) { try DateFormat.time(value, now: Self.time) }
        #expect(error?.code == "args.time")
    }

    @Test func `fractions of a second are rounded down, and nil means now`() throws {
        #expect(try DateFormat.time(.number(1.9), now: Self.time) == Timestamp(seconds: 1))
        #expect(try DateFormat.time(.number(-0.5), now: Self.time) == Timestamp(seconds: -1))
        #expect(try DateFormat.time(.nil, now: Self.time) == Self.time)
    }

    @Test(
        arguments: [
            (["year": LuaValue.integer(2026), "month": .integer(1), "day": .integer(5), "hour": .integer(9)], 1_767_603_600),
            (["year": .integer(1970), "month": .integer(1), "day": .integer(1)], 43_200),
            (["year": .integer(1970), "month": .integer(13), "day": .integer(1), "hour": .integer(0)], 31_536_000),
            (["year": .integer(1970), "month": .integer(0), "day": .integer(32), "hour": .integer(0)], 0),
            (["year": .number(1970), "month": .integer(1), "day": .integer(2), "hour": .integer(0)], 86_400),
        ] as [([String: LuaValue], Int64)])
    func `a table of fields becomes a time, and months and days may overflow`(
        fields: [String: LuaValue], seconds: Int64
    ) throws {
        #expect(try CalendarFields(LuaTable(fields: fields)).seconds == seconds)
    }

    @Test(
        arguments: [
            ["year": LuaValue.integer(2026), "month": .integer(1)],
            ["year": .string("2026"), "month": .integer(1), "day": .integer(1)],
            ["year": .integer(.max), "month": .integer(1), "day": .integer(1)],
            ["year": .integer(.min), "month": .integer(1), "day": .integer(1)],
            ["year": .integer(2026), "month": .number(1.5), "day": .integer(1)],
        ])
    func `fields that are missing or not whole numbers are refused`(fields: [String: LuaValue]) {
        #expect(throws: LuaError.self) { try CalendarFields(LuaTable(fields: fields)) }
    }
}

@Suite struct JSONConversionTests {
    @Test func `values become JSON with members in alphabetical order`() {
        let value = LuaValue.table(
            LuaTable(fields: [
                "b": .integer(1), "a": .number(1.5), "list": .table(LuaTable(array: [.boolean(true), .string("x")])),
                "empty": .table(LuaTable()),
            ]))
        let packed = LuaTable(array: [.string("x"), .string("y")], fields: ["n": .integer(2)])
        #expect(LuaValue.table(packed).json?.text() == #"["x","y"]"#)
        #expect(LuaValue.table(LuaTable(array: [.string("x")], fields: ["n": .integer(2)])).json == nil)
        #expect(value.json?.text() == #"{"a":1.5,"b":1,"empty":{},"list":[true,"x"]}"#)
    }

    @Test(
        arguments: [
            LuaValue.bytes([0xff]), .number(.nan), .number(.infinity), .object(LuaObject(type: "secret", payload: 1)),
            .table(LuaTable(array: [.integer(1)], fields: ["a": .integer(1)])),
            .table(LuaTable(array: [.bytes([0xff])])), .table(LuaTable(fields: ["a": .number(.nan)])),
        ])
    func `values without a JSON form are refused`(value: LuaValue) {
        #expect(value.json == nil)
    }

    @Test func `JSON becomes values, and null has a value of its own`() throws {
        let json = try JSON(parsing: #"{"a":[1,2.5,"x",true],"n":null,"o":{}}"#)
        guard case .table(let table) = LuaValue(json) else { return #expect(Bool(false)) }
        #expect(table["a"] == .table(LuaTable(array: [.integer(1), .number(2.5), .string("x"), .boolean(true)])))
        #expect(table["n"] == JSONNull.value)
        #expect(table["o"] == .table(LuaTable()))
    }

    @Test(
        arguments: [
            (LuaValue.nil, "nil"), (.boolean(true), "true"), (.integer(3), "the number 3"),
            (.string("x"), "the string \"x\""), (.string(String(repeating: "x", count: 41)), "a string of 41 characters"),
            (.bytes([0xff, 0]), "2 bytes that are not UTF-8"), (.table(LuaTable()), "a table"),
            (.object(LuaObject(type: "device", payload: 1)), "a device"),
        ])
    func `messages name values briefly`(value: LuaValue, phrase: String) {
        #expect(value.phrase == phrase)
    }
}
