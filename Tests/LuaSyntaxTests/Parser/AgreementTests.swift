import Testing

/// The parser accepts and refuses the same scripts as Lua 5.4's own compiler.
@Suite struct AgreementTests {
    @Test func `snippets from all parts of the language, valid and invalid`() async throws {
        let compiler = try Compiler()
        for snippet in accepted {
            let isTaken = try await compiler.agree(on: Array(snippet.utf8))
            #expect(isTaken, "\(snippet)")
        }
        for snippet in refused {
            let isTaken = try await compiler.agree(on: Array(snippet.utf8))
            #expect(!isTaken, "\(snippet)")
        }
    }

    @Test func `bytes that are not UTF-8 are valid in strings and comments only`() async throws {
        let compiler = try Compiler()
        for byte in UInt8.min...UInt8.max {
            for (before, after) in [
                ("x = '", "'"), ("-- ", "\nx = 1"), ("x = [[", "]]"), ("x = 1 ", " y = 2"), ("x", " = 1"), ("'\\", "'"),
            ] {
                try await compiler.agree(on: Array(before.utf8) + [byte] + Array(after.utf8))
            }
        }
    }

    @Test func `a byte order mark and a first line with a hash are skipped`() async throws {
        let compiler = try Compiler()
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        for text in ["x = 1", "#!/usr/bin/lua\nx = 1", "# no code", "#", "#\rx = 1", "#\r\nx = = 1", "", "\n#x", " #x"] {
            try await compiler.agree(on: Array(text.utf8))
            try await compiler.agree(on: mark + Array(text.utf8))
            try await compiler.agree(on: mark + mark + Array(text.utf8))
        }
    }

    /// Around the limits of Lua: LUAI_MAXCCALLS, MAXVARS, MAXUPVAL, the registers of a function.
    @Test func `both have the same limits of depth, locals, upvalues and registers`() async throws {
        let compiler = try Compiler()
        for script in limits {
            try await compiler.agree(on: Array(script.utf8))
        }
    }

    @Test(arguments: 1...8)
    func `randomly changed scripts`(seed: UInt64) async throws {
        let compiler = try Compiler()
        var mutator = Mutator(random: Seeded(state: seed))
        try #require(bundledScripts.count > 5)
        var taken = 0
        for number in 0..<600 {
            let script = mutator.mutated(bundledScripts[number % bundledScripts.count])
            if try await compiler.agree(on: script) { taken += 1 }
        }
        // Both verdicts must be common, or the test shows little.
        #expect((100...500).contains(taken))
    }

    @Test(arguments: 1...4)
    func `randomly generated scripts`(seed: UInt64) async throws {
        let compiler = try Compiler()
        var maker = ScriptMaker(random: Seeded(state: seed))
        var taken = 0
        for _ in 0..<500 {
            if try await compiler.agree(on: Array(maker.script().utf8)) { taken += 1 }
        }
        #expect((50...450).contains(taken))
    }

    @Test func `long scripts are parsed without a deep stack`() {
        for script in [
            "return 1" + String(repeating: " + 1", count: 100_000), "return a" + String(repeating: ".b[1]:c 'x'", count: 30_000),
            "if a then" + String(repeating: " elseif b then", count: 30_000) + " end", String(repeating: "x = {}; ", count: 30_000),
            "return {" + String(repeating: "1, ", count: 100_000) + "}", String(repeating: "-- x\n", count: 50_000),
        ] {
            #expect(diagnosis(of: Array(script.utf8)) == nil)
        }
    }

    @Test func `nesting that is too deep for the stack is an error`() {
        for piece in ["(", "{", "f(", "x[", "not ", "function() return ", "do ", "if x then ", "repeat ", "while x do "] {
            let script =
                (["(", "{", "x[", "not ", "function() return "].contains(piece) ? "return " : "") + String(repeating: piece, count: 200_000)
            #expect(diagnosis(of: Array(script.utf8))?.contains("nested too deeply") == true, "\(piece)")
        }
    }
}

private let limits: [String] = {
    var scripts: [String] = []
    func names(_ count: Int, _ separator: String = ",") -> String { (0..<count).map { "a\($0)" }.joined(separator: separator) }
    for count in 195...202 {
        func nest(_ open: String, _ inner: String = "", _ close: String = "") -> String {
            String(repeating: open, count: count) + inner + String(repeating: close, count: count)
        }
        scripts += [
            "return " + nest("(", "1", ")"), "return " + nest("{", "", "}"), "return " + nest("not ", "1"), nest("do ", "", "end "),
            "local x = " + nest("function() return ", "1", " end"), nest("if x then ", "", "end "), nest("f(", "", ")"),
            "x = a" + nest("[a", "", "]"), "x = " + nest("1 .. ", "1"), "x = " + nest("2 ^ ", "1"), "x = " + nest("1 + ", "1"),
            (0..<count).map { "::l\($0)::" }.joined(separator: ";"), names(count) + " = 1", names(count) + " = (1)",
            "local " + names(count), names(count, " ").replacing("a", with: "local a"),
            "local function f(" + names(count) + ") end", "local " + names(count - 4) + " for i = 1, 2 do end",
            "local " + names(count - 5) + " for k, v in x do end", "local " + names(count - 1) + " local function f() end",
            (0..<count).map { "local a\($0) <const> = 1" }.joined(separator: " "), "function t:m(" + names(count) + ") end",
        ]
    }
    for count in 247...258 {
        let list = Array(repeating: "x", count: count).joined(separator: ",")
        scripts += [
            "f(\(list))", "o:m(\(list))", "return \(list)", "local a = \(list)", "a = \(list)", "t[k] = \(list)", "return {\(list)}",
            "local t, k t[k] = \(list)", "return x + f(\(list))", "return 1 + f(\(list))", "return x .. f(\(list))",
            "return x and f(\(list))", "return nil == f(\(list))", "local z return z + f(\(list))", "return { x, f(\(list)) }",
            "return { [k] = f(\(list)) }", "return t[f(\(list))]", "for i = 1, f(\(list)) do end", "for i in f(\(list)) do end",
        ]
        var upvalues = (0..<150).map { "local a\($0)\n" }.joined() + "local function g()\n"
        upvalues += (150..<count).map { "local a\($0)\n" }.joined()
        scripts.append(upvalues + "return function() return \(names(count, "+")) end end")
        scripts.append(upvalues + "return function() return print, \(names(count, "+")) end end")
    }
    return scripts
}()
