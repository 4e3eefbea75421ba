import Lua
import Testing

@testable import Bindings

@Suite struct InteractiveChunkTests {
    @Test(
        arguments: [
            ("local x = 1", "x = 1"), ("local x", "x = nil;"), ("local a, b = f()", "a, b = f()"), ("local a, b", "a, b = nil;"),
            ("local x <const> = 5", "x = 5"), ("local a <const>, b = 1", "a , b = 1"), ("local function f() end", "function f() end"),
            ("local x; local y = 2", "x = nil;; y = 2"), ("local x print(x)", "x = nil; print(x)"),
            ("x = 1; local y = x -- local z", "x = 1; y = x -- local z"),
            // Locals that stay local.
            ("do local x = 1 end", "do local x = 1 end"), ("function f() local x end", "function f() local x end"),
            ("for i = 1, 2 do local x end local y", "for i = 1, 2 do local x end y = nil;"),
            (
                "if a then local x elseif b then local y else local z end local w",
                "if a then local x elseif b then local y else local z end w = nil;"
            ),
            ("repeat local x until x local y", "repeat local x until x y = nil;"),
            ("while true do local x end", "while true do local x end"),
            ("f(function() local x end) local y", "f(function() local x end) y = nil;"),
            ("local x <close> = g()", "local x <close> = g()"),
            ("local a, b <close> = 1, g()", "local a, b <close> = 1, g()"),
            // Not a local statement, or an incomplete one.
            ("s = 'local x' t = [[local y]]", "s = 'local x' t = [[local y]]"), ("localx = 1", "localx = 1"), ("local a,", "local a,"),
            ("local x <", "local x <"), ("local 5", "local 5"), ("local", "local"),
        ])
    func `a top-level local becomes an assignment`(line: String, result: String) {
        let text = InteractiveChunk(text: line, firstLine: 1).statements
        #expect(text.split(separator: " ").joined(separator: " ") == result)
        #expect(text.split(separator: "\n").count == 1)
    }

    @Test func `line numbers are unchanged, also with texts and comments over several lines`() {
        let lines = [
            "s = [[", "local x", "]] local y", "--[==[ local", "local z ]==] local e, w -- é", "t = \"a\\", "local v\" local u = 1",
        ]
        let result = InteractiveChunk(text: lines.joined(separator: "\n"), firstLine: 1).statements.split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(result.count == lines.count)
        #expect(Array(result[..<2]) == ["s = [[", "local x"])
        #expect(result[2].hasSuffix("y = nil;"))
        #expect(result[3] == "--[==[ local")
        #expect(result[6] == "local v\"       u = 1")
    }

    @Test(
        arguments: [
            ("1 + * 2", 5), ("x = = 1", 5), ("f(1, 2", 2), ("local 5", 7), ("x = 'abc", 5), ("for for", 5), ("{ 1, 2", 1), ("x y", 3),
            ("end", 1),
        ])
    func `of two readings the later syntax error is reported, at its position in the text`(text: String, column: Int64) throws {
        let lua = LuaError(kind: .syntax, code: "script.syntax", message: "unexpected symbol near <eof>")
        let error = try #require(InteractiveChunk(text: text, firstLine: 7).syntaxError(insteadOf: lua))
        #expect(error.code == "script.syntax")
        #expect(error.location == Lua.SourceLocation(chunk: "repl", line: 7))
        guard case .table(let details) = error.details else { throw error }
        #expect(details["column"] == .integer(column), "\(error)")
        let later = try #require(InteractiveChunk(text: "f(\n\(text)", firstLine: 7).syntaxError(insteadOf: lua))
        #expect(try #require(later.location?.line) >= 7)
    }
}
