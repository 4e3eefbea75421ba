import Lua
import Testing

@testable import Bindings

@Suite struct FlowDeclarationTests {
    private func declare(_ fields: [String: [String: LuaValue]]) throws(LuaError) -> FlowDeclaration {
        try FlowDeclaration(LuaTable(fields: fields.mapValues { .table(LuaTable(fields: $0)) }))
    }

    private func strings(_ texts: String...) -> LuaValue { .table(LuaTable(array: texts.map(LuaValue.string))) }

    @Test func `parameters are listed in alphabetical order with their flags`() throws {
        let declaration = try declare([
            "user": ["default": .string("alice"), "desc": .string("who")],
            "dry_run": ["type": .string("boolean")],
            "devices": ["type": .string("integer"), "min": .integer(1), "max": .integer(20)],
            "size": ["choices": .table(LuaTable(array: [.string("s"), .string("m")]))],
        ])
        #expect(declaration.parameters.map(\.name) == ["devices", "dry_run", "size", "user"])
        #expect(
            declaration.parameters.map(\.flag)
                == ["--devices <integer>", "--dry-run", "--size <s|m>", "--user <string>"])
    }

    @Test(
        arguments: [
            ("seed", ["default": LuaValue.string("x")], "is an option of pushhost itself"),
            ("fail_on_no_target", [:], "is an option of pushhost itself"),
            ("memory_limit", [:], "is an option of pushhost itself"),
            ("1st", [:], "cannot be a parameter's name"),
            ("né", [:], "cannot be a parameter's name"),
            ("a-b", [:], "cannot be a parameter's name"),
            ("", [:], "cannot be a parameter's name"),
            ("a", ["typ": .string("string")], "has no key \"typ\"; did you mean \"type\"?"),
            ("a", ["type": .string("text")], "has an unknown type"),
            ("a", ["type": .integer(1)], "has an unknown type"),
            ("a", ["default": .integer(1)], "must be of type string, got the number 1"),
            ("a", ["type": .string("integer"), "default": .number(1.5)], "must be of type integer"),
            ("a", ["type": .string("boolean"), "default": .string("no")], "must be of type boolean"),
            ("a", ["type": .string("duration"), "default": .string("soon")], "it must be a duration"),
            ("a", ["type": .string("integer"), "default": .integer(0), "min": .integer(1)], "the minimum is 1"),
            ("a", ["type": .string("number"), "default": .number(2.5), "max": .integer(2)], "the maximum is 2"),
            ("a", ["type": .string("integer"), "min": .string("1")], "must be a number, got the string \"1\""),
            ("a", ["min": .integer(1)], "is not allowed for the type"),
            ("a", ["desc": .integer(1)], "must be a string"),
            ("a", ["required": .string("yes")], "must be true or false"),
            ("a", ["choices": .string("s")], "must be a list of strings"),
            ("a", ["choices": .table(LuaTable())], "must be a list of strings"),
            ("a", ["choices": .table(LuaTable(array: [.integer(1)]))], "must be a list of strings"),
            (
                "a", ["default": .string("x"), "choices": .table(LuaTable(array: [.string("y")]))],
                "choose one of y"
            ),
        ])
    func `an invalid declaration is refused`(
        name: String, fields: [String: LuaValue], part: String
    ) {
        let error = #expect(throws: LuaError.self) { try declare([name: fields]) }
        #expect(error?.code == "args.declaration")
        #expect(error?.kind == .misuse)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test func `a list as declaration, and a parameter that is not a table, are refused`() {
        #expect(throws: LuaError.self) { try FlowDeclaration(LuaTable(array: [.string("user")])) }
        let error = #expect(throws: LuaError.self) { try FlowDeclaration(LuaTable(fields: ["user": .string("alice")])) }
        #expect(error?.message == "the parameter \"user\" must be a table, got the string \"alice\"")
    }

    private func flow() throws -> FlowDeclaration {
        try declare([
            "user": ["default": .string("alice")],
            "devices": ["type": .string("integer"), "default": .integer(2), "min": .integer(1), "max": .integer(20)],
            "rate": ["type": .string("number")],
            "loud": ["type": .string("boolean"), "default": .boolean(true)],
            "dry_run": ["type": .string("boolean")],
            "wait": ["type": .string("duration")],
            "size": ["choices": strings("s", "m")],
        ])
    }

    @Test func `defaults apply where no value is given, and a flag without a default is false`() throws {
        #expect(
            try flow().resolve([])
                == LuaTable(fields: [
                    "user": .string("alice"), "devices": .integer(2), "loud": .boolean(true), "dry_run": .boolean(false),
                ]))
    }

    @Test func `values are parsed by their types, and the last one wins`() throws {
        let values = try flow().resolve([
            ("user", "bob"), ("user", "eve"), ("devices", "7"), ("rate", "2.5"), ("no-loud", nil), ("dry-run", nil),
            ("wait", "90s"), ("size", "m"),
        ])
        #expect(
            values
                == LuaTable(fields: [
                    "user": .string("eve"), "devices": .integer(7), "rate": .number(2.5), "loud": .boolean(false),
                    "dry_run": .boolean(true), "wait": .string("90s"), "size": .string("m"),
                ]))
        #expect(try flow().resolve([("dry_run", "yes")])["dry_run"] == .boolean(true))
        #expect(try flow().resolve([("loud", "false")])["loud"] == .boolean(false))
    }

    @Test(
        arguments: [
            ("usr", "x", "usage.unknown_option", "unknown option \"--usr\"; did you mean \"--user\"?"),
            ("no-user", nil, "usage.unknown_option", "unknown option \"--no-user\""),
            ("devices", "0", "usage.option", "the minimum is 1"),
            ("devices", "21", "usage.option", "the maximum is 20"),
            ("devices", "two", "usage.option", "it must be a whole number"),
            ("devices", "1.5", "usage.option", "it must be a whole number"),
            ("devices", nil, "usage.option", "the value is missing"),
            ("rate", "nan", "usage.option", "it must be a number"),
            ("loud", "loudly", "usage.option", "write true or false"),
            ("no-loud", "yes", "usage.option", "takes no value"),
            ("wait", "soon", "usage.option", "it must be a duration"),
            ("size", "xl", "usage.option", "choose one of s, m"),
        ] as [(String, String?, String, String)])
    func `invalid command lines are refused`(
        name: String, value: String?, code: String, part: String
    ) throws {
        let flow = try flow()
        let error = #expect(throws: LuaError.self) { try flow.resolve([(name, value)]) }
        #expect(error?.code == code)
        #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }

    @Test func `a missing required parameter is an error`() throws {
        let declaration = try declare(["to": ["required": .boolean(true), "desc": .string("who gets it")]])
        let error = #expect(throws: LuaError.self) { try declaration.resolve([]) }
        #expect(error?.code == "usage.missing_option")
        #expect(error?.message == "the flow needs --to <string>")
        #expect(error?.hint == "who gets it")
        #expect(try declaration.resolve([("to", "x")])["to"] == .string("x"))
    }
}
