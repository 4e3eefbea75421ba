import Lua
import PushModel
import Testing

@testable import Bindings

@Suite struct ArgumentsTests {
    private static let send = Binding(
        "push.send", "Sends.",
        takes: .table([
            .required("to", .audience, "who gets it", mistakenFor: ["tags", "user"]),
            .optional("alert", .string, "the text"),
            .optional("count", .integer, "how many"),
            .optional("priority", .oneOf(["high", "normal"]), "how urgent"),
            .optional("tags", .list(.string), "a list"),
            .optional("values", .map(.either([.string, .number])), "named values"),
            .optional("within", .duration, "how long"),
            .optional("at", .time, "when"),
            .optional("password", .secret, "a secret"),
        ]),
        example: "", body: .prelude)
    private static let strict = Binding(
        "push.tidy", "Tidies.",
        takes: .table([.required("to", .string, "who", mistakenFor: ["user"])]),
        example: "", body: .prelude)
    private static let advance = Binding(
        "push.clock.advance", "Moves.",
        takes: .positional([.required("duration", .duration, "how far"), .optional("note", .string, "why")]),
        example: "", body: .prelude)
    private static let register = Binding(
        "session:register", "Registers.",
        takes: .table([.required("device", .string, "which")]),
        example: "", body: .prelude)

    private func call(_ arguments: LuaValue...) -> LuaCall {
        LuaCall(arguments: arguments, run: LuaRunID(rawValue: 1))
    }

    private func table(_ fields: [String: LuaValue]) -> LuaValue { .table(LuaTable(fields: fields)) }

    private func refusal(
        _ binding: Binding, _ arguments: LuaValue..., sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) -> LuaError? {
        do throws(LuaError) {
            _ = try Arguments(LuaCall(arguments: arguments, run: LuaRunID(rawValue: 1)), for: binding)
            Issue.record("was accepted", sourceLocation: sourceLocation)
            return nil
        } catch {
            #expect(error.kind == .misuse, sourceLocation: sourceLocation)
            return error
        }
    }

    @Test func `named values have the types of the description`() throws {
        let arguments = try Arguments(
            call(
                table([
                    "to": .string("Sports"), "count": .number(3), "tags": .table(LuaTable(array: [.string("a")])),
                    "values": table(["n": .integer(1), "s": .string("x")]), "within": .string("1h30m"),
                    "at": .string("2026-01-05T09:00:00Z"), "password": .string("pw"),
                ])), for: Self.send)
        #expect(arguments.string("to") == "Sports")
        #expect(arguments.value("count") == .number(3))
        #expect(arguments.strings("tags") == ["a"])
        #expect(try arguments.duration("within") == .seconds(5400))
        #expect(arguments.secret("password") == Secret("pw"))
        #expect(arguments.value("alert") == nil)
    }

    @Test(
        arguments: [
            ("alret", "alert"), ("cuont", "count"), ("user", "to"), ("Alert", "alert"),
        ])
    func `an unknown key is refused, and the error names the key that was meant`(key: String, meant: String) {
        let error = refusal(Self.send, table(["to": .string("a"), key: .string("x")]))
        #expect(error?.code == "args.unknown_key")
        #expect(error?.message == "push.send has no key \"\(key)\"; did you mean \"\(meant)\"?")
        #expect(error?.details == .table(LuaTable(fields: ["key": .string(key)])))
        #expect(error?.hint?.contains("to, alert, count") == true)
    }

    @Test func `a key that resembles nothing is refused without a suggestion`() {
        let error = refusal(Self.strict, table(["to": .string("a"), "zzzzzz": .integer(1)]))
        #expect(error?.message == "push.tidy has no key \"zzzzzz\"")
    }

    @Test func `of several unknown keys the alphabetically first is reported`() {
        let error = refusal(Self.strict, table(["zz": .integer(1), "aa": .integer(1), "to": .string("a")]))
        #expect(error?.message.contains("\"aa\"") == true)
    }

    @Test func `a missing required key is refused with its description`() {
        for arguments in [[], [LuaValue.nil], [table([:])], [table(["to": .nil])]] {
            let error = #expect(throws: LuaError.self) {
                _ = try Arguments(LuaCall(arguments: arguments, run: LuaRunID(rawValue: 1)), for: Self.send)
            }
            #expect(error?.code == "args.missing")
            #expect(error?.message == "push.send needs \"to\"")
            #expect(error?.hint == "who gets it")
        }
    }

    @Test(
        arguments: [
            ("alert", LuaValue.integer(3), "\"alert\" must be a string, got the number 3"),
            ("alert", .bytes([0xff]), "\"alert\" must be a string, got text that is not UTF-8"),
            ("count", .number(1.5), "\"count\" must be a whole number, got the number 1.5"),
            ("count", .number(.nan), "\"count\" must be a whole number, got the number nan"),
            ("count", .string("3"), "\"count\" must be a whole number, got the string \"3\""),
            ("to", .table(LuaTable()), "\"to\" must be a tag expression or push.everyone, got a table"),
            ("tags", .string("a"), "\"tags\" must be a list of strings, got the string \"a\""),
            (
                "tags", .table(LuaTable(array: [.string("a"), .integer(2)])),
                "\"tags\" must be a list of strings, got the number 2 at index 2"
            ),
            (
                "tags", .table(LuaTable(fields: ["a": .string("b")])),
                "\"tags\" must be a list of strings, got a table with named keys"
            ),
            (
                "values", .table(LuaTable(fields: ["b": .boolean(true)])),
                "\"values\" must be a table of strings or numbers, got true for \"b\""
            ),
            ("values", .table(LuaTable(array: [.integer(1)])), "\"values\" must be a table of strings or numbers, got a list"),
            (
                "within", .boolean(true),
                "\"within\" must be a duration such as \"90s\" or a number of seconds, got true"
            ),
            ("priority", .string("hihg"), "\"priority\" must be \"high\", \"normal\", got the string \"hihg\""),
        ])
    func `a wrong type is refused with the expected and the given type`(
        key: String, value: LuaValue, message: String
    ) {
        var fields: [String: LuaValue] = ["to": .string("a")]
        fields[key] = value
        let error = refusal(Self.send, table(fields))
        #expect(error?.code == "args.wrong_type")
        #expect(error?.message == "push.send: \(message)")
    }

    @Test func `an unknown choice names the nearest one`() {
        let error = refusal(Self.send, table(["to": .string("a"), "priority": .string("hihg")]))
        #expect(error?.hint == "did you mean \"high\"?")
    }

    @Test func `a password of a wrong type is not shown`() {
        let error = refusal(Self.send, table(["to": .string("a"), "password": .integer(424_242)]))
        #expect(error?.message.contains("424242") == false)
    }

    @Test func `a single required value may be passed without its name, several may not`() throws {
        let alone = try Arguments(call(.string("Sports")), for: Self.strict)
        #expect(alone.string("to") == "Sports")
        #expect(refusal(Self.strict, .string("a"), .string("b"))?.code == "args.wrong_type")
        #expect(refusal(Self.strict, table(["to": .string("a")]), .string("b"))?.code == "args.too_many")
        #expect(refusal(Self.strict, .table(LuaTable(array: [.string("a")])))?.code == "args.unknown_key")
    }

    @Test func `positional values are read in order, and extra ones are refused`() throws {
        let arguments = try Arguments(call(.string("3d"), .string("to see")), for: Self.advance)
        #expect(try arguments.duration("duration") == .seconds(3 * 86_400))
        #expect(arguments.string("note") == "to see")
        let error = refusal(Self.advance, .string("1s"), .string("a"), .string("b"))
        #expect(error?.message == "push.clock.advance takes 2 arguments, got 3")
    }

    @Test func `calling a method without its receiver asks for the colon`() throws {
        for arguments in [[], [LuaValue.string("x")], [table(["device": .string("x")])]] {
            let error = #expect(throws: LuaError.self) {
                _ = try Arguments(LuaCall(arguments: arguments, run: LuaRunID(rawValue: 1)), for: Self.register)
            }
            #expect(error?.code == "args.receiver")
            #expect(error?.hint == "write a colon: session:register(…)")
        }
        let object = LuaObject(type: "session", payload: 1)
        let arguments = try Arguments(call(.object(object), .string("phone")), for: Self.register)
        #expect(arguments.receiver == object)
        #expect(arguments.string("device") == "phone")
        #expect(refusal(Self.register, .object(LuaObject(type: "device", payload: 1)))?.code == "args.receiver")
    }

    @Test(
        arguments: [
            LuaValue.string("soon"), .string(""), .string("-1s"), .integer(-1), .number(.nan), .number(.infinity),
            .integer(.max),
        ])
    func `an invalid duration is refused with the valid forms`(value: LuaValue) throws {
        let arguments = try Arguments(call(value), for: Self.advance)
        let error = #expect(throws: LuaError.self) { try arguments.duration("duration") }
        #expect(error?.code == "args.duration")
        #expect(error?.hint?.contains("\"1h30m\"") == true)
    }
}

@Suite struct DurationTests {
    @Test(
        arguments: [
            ("500ms", 500), ("90s", 90_000), ("5m", 300_000), ("5min", 300_000), ("1h30m", 5_400_000),
            ("3d", 259_200_000), ("1w", 604_800_000), ("1.5s", 1500), ("0s", 0), ("1h30m5s250ms", 5_405_250),
        ])
    func `durations have units`(text: String, milliseconds: Int) {
        #expect(Duration(parsing: text) == .milliseconds(milliseconds))
    }

    @Test(
        arguments: [
            "", "5", "s", "five", "5x", "-5s", "1h-30m", "5 s", " 5s", "1..5s", ".s", "1e5s", "٣s",
            "9999999999999999999d", String(repeating: "9", count: 500) + "s", "5S", "1h 30m",
        ])
    func `other texts are invalid durations`(text: String) {
        #expect(Duration(parsing: text) == nil)
    }

    @Test func `an oversized text is refused before it is processed`() throws {
        let long = String(repeating: "x", count: (1 << 20) + 1)
        let error = #expect(throws: LuaError.self) {
            let fields = LuaTable(fields: ["to": .string("a"), "alert": .string(long)])
            _ = try Arguments(LuaCall(arguments: [.table(fields)], run: LuaRunID(rawValue: 1)), for: SendBindings.send)
        }
        #expect(error?.code == "args.too_long")
        #expect((error?.message.count ?? 0) < 200)
    }
}
