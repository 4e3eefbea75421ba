import LuaSyntax
import Testing

/// Messages for beginners: what is wrong, where, and what to write instead.
@Suite struct SyntaxErrorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let source: String
        /// As `LINE:COLUMN`.
        let place: String
        let message: String
        let hint: String

        var testDescription: String { source }

        init(_ source: String, _ place: String, _ message: String, _ hint: String = "") {
            self.source = source
            self.place = place
            self.message = message
            self.hint = hint
        }
    }

    private func check(_ example: Case) throws {
        let error = #expect(throws: SyntaxError.self) { _ = try Chunk(parsing: Array(example.source.utf8)) }
        let found = try #require(error)
        let place = SourceText(Array(example.source.utf8)).position(at: found.range.lowerBound)
        #expect("\(place.line):\(place.column)" == example.place, "\(found.message)")
        #expect(found.message.contains(example.message), "\(found.message)")
        #expect(found.hint?.contains(example.hint) ?? example.hint.isEmpty, "\(found.hint ?? "no hint")")
    }

    @Test(
        arguments: [
            Case("print(\"hello)\nprint(1)", "1:7", "not closed on its line", "close it with \""),
            Case("print('it's here')", "1:10", "the string ends at this '", "\\'"),
            Case("local x = 'it's'", "1:14", "the string ends at this '", "\"…\""),
            Case("t = { to = \"alice, alert = \"x\" }", "1:18", "is missing before this comma", "close the string here"),
            Case("x = [[abc\ny = 1", "1:5", "long string is not closed", "]]"),
            Case("x = 1 --[==[ abc\ny = 1", "1:7", "comment is not closed", "]==]"),
            Case("x = 'é\\d'", "1:7", "\\d is not an escape", "%d+"), Case("x = '\\300'", "1:6", "more than a byte"),
            Case("x = “text”", "1:5", "typographic quote", "\"…\""), Case("x = `a`", "1:5", "backticks", ".."),
        ])
    func `errors in strings`(example: Case) throws { try check(example) }

    @Test(
        arguments: [
            Case(
                "local function f()\n  if x then\n    g()\nend\nprint(1)", "2:3", "the \"if\" of line 2 has no \"end\"", "\"end\" in line 4"
            ),
            Case("step('a', function()\n  for i = 1, 3 do\n    if x then\n      f()\n  end\nend)\nprint(1)", "3:5", "\"if\" of line 3"),
            Case("while x do\n  f()", "1:1", "the \"while\" of line 1 has no \"end\"", "after its last line"),
            Case("f(function()\n  g()\n)", "1:3", "the \"function\" of line 1 has no \"end\"", "before ) in line 3"),
            Case("local function f()\n  return 1\n\nprint(f())", "1:7", "the \"function\" of line 1 has no \"end\""),
            Case("repeat\n  f()", "1:1", "the \"repeat\" of line 1 has no \"until\""),
            Case("while x do\n  f()\nelse\n  g()\nend", "1:1", "has no \"end\"", "\"else\" of line 3 belongs to an \"if\""),
            Case("if a then\n  f()\nelse if b then\n  g()\nend\nprint(1)", "3:1", "opens an \"if\" within the \"if\" of line 1", "elseif"),
            Case(
                "step('a', function()\n  f()\n  end\nend)", "4:1", "\"end\" closes nothing",
                "the \"function\" of line 1 is closed in line 3"),
            Case(
                "function f()\n  if x then\n    g()\n    end\n  end\nend", "6:1", "closes nothing",
                "the \"if\" of line 2 is closed in line 4"),
            Case("if x then f() end end", "1:19", "closes nothing"), Case("else", "1:1", "has no \"if\""),
            Case("return 1\nprint(2)", "2:1", "\"return\" must be the last"), Case("break", "1:1", "is not in a loop"),
        ])
    func `errors in blocks`(example: Case) throws { try check(example) }

    @Test(
        arguments: [
            Case("print('a'\nlocal x = 1", "1:6", "this ( is not closed", "before \"local\" in line 2"),
            Case("print((1 + 2)\nsend { to = 'a' }", "1:6", "this ( is not closed"),
            Case("local t = {\n  a = 1,\n  b = 2\nprint(t)", "1:11", "this { is not closed", "before \"print\" in line 4"),
            Case("x = { 1, 2 )", "1:5", "this { is not closed", "before )"),
            Case("x = t[1", "1:6", "this [ is not closed", "close it with ]"),
            Case("send {\n  to = 'alice'\n  alert = 'x',\n}", "2:15", "comma is missing", "before \"alert\""),
            Case("x = { 1, 2 3 }", "1:11", "comma is missing"), Case("f(a b)", "1:4", "comma or ) is missing before \"b\""),
            Case("f(a, )", "1:4", "comma before )"), Case("send(to = 'a')", "1:9", "cannot have named arguments", "{ to = … }"),
            Case("send { 'to' = 'a' }", "1:8", "in brackets", "['to']"),
            Case("send { to: 'a' }", "1:10", "= between key and value", "to = …"),
            Case("send { to: alice, x = 1 }", "1:12", "= between key and value", "to = …"),
            Case("x = { end = 1 }", "1:7", "is a keyword", "[\"end\"]"),
            Case("x = {\n  a = 1 }}", "2:10", "closes nothing"),
        ])
    func `errors in brackets and tables`(example: Case) throws { try check(example) }

    @Test(
        arguments: [
            Case("if x = 1 then end", "1:6", "= assigns", "=="), Case("while x = 1 do end", "1:9", "= assigns", "=="),
            Case("repeat f() until x = 1", "1:20", "= assigns", "=="), Case("if x != 1 then end", "1:6", "no !=", "~="),
            Case("if !x then end", "1:4", "no !", "not"), Case("x = a && b", "1:7", "no &&", "and"),
            Case("x = a || b", "1:7", "no ||", "or"),
            Case("x += 1", "1:3", "no +=", "x = x + …"), Case("t.count ..= 'x'", "1:9", "no ..=", "t.count = t.count .. …"),
            Case("i++", "1:2", "no ++", "i = i + 1"),
            Case("x = i++", "1:6", "no ++"), Case("i--\nf()", "1:2", "begins a comment", "i = i - 1"),
            Case("if a <> b then end", "1:6", "no <>", "~="),
            Case("if a === b then end", "1:6", "no ===", "=="), Case("x = 2 ** 3", "1:7", "no **", "^"),
            Case("x->y()", "1:2", "no ->", "dot"),
            Case("x = a ? b : c", "1:7", "no ?", "and this or that"), Case("x = y = 1", "1:7", "cannot begin with =", "two statements"),
            Case("x == 1", "1:3", "== compares", "="), Case("local x == 1", "1:9", "== compares"),
        ])
    func `operators of other languages`(example: Case) throws { try check(example) }

    @Test(
        arguments: [
            Case("if x\n  f()\nend", "1:5", "\"then\" is missing", "after the condition"),
            Case("if x do f() end", "1:6", "needs \"then\", not \"do\""),
            Case("while x f() end", "1:8", "\"do\" is missing"), Case("for i = 1, 3 f() end", "1:13", "\"do\" is missing"),
            Case("for i = 1 do end", "1:10", "has no limit", "for i = 1, 10 do"),
            Case("for i in 1..3 do end", "1:10", "not a number", "for i = 1, 10 do"),
            Case("for (i = 0; i < 3) do end", "1:5", "no parentheses"), Case("for k, v pairs(t) do end", "1:9", "\"in\" is missing"),
            Case("function foo() {\n}", "1:16", "no braces", "end"), Case("if (x) { f() }", "1:15", "\"then\" is missing", "no braces"),
            Case("if (x) {\n  return 1;\n}", "1:8", "this { is not closed", "blocks have no braces"),
            Case("function (x) end", "1:10", "has no name"), Case("f = function g() end", "1:14", "has no name", "local function g"),
            Case("function f(a = 1) end", "1:14", "no default values", "a = a or"), Case("local function a.b() end", "1:17", "plain name"),
            Case("local x: number = 1", "1:8", "no types"), Case("local end = 1", "1:7", "is a keyword"),
            Case("t.end = 1", "1:3", "cannot follow a dot", "[\"end\"]"),
            Case("var x = 1", "1:1", "\"var\" is not a keyword", "local"), Case("lcoal x = 1", "1:1", "\"lcoal\"", "local"),
            Case("retrun x", "1:1", "\"retrun\"", "return"),
            Case("for i = 1, 2 do\n  continue\nend", "2:3", "\"continue\"", "goto continue"),
            Case("print x", "1:6", "something is missing", "print(x)"),
            Case("x:y", "1:3", "is not called", ":y()"), Case("// note", "1:1", "does not begin with //", "--"),
            Case("x = 1 // the rest", "1:7", "does not begin with //"),
            Case("x = 1\n# note", "2:1", "does not begin with #"),
            Case("x = 5km", "1:5", "5km is not a number", "cannot begin with a digit"),
            Case("café = 1", "1:4", "é cannot be part of a name"), Case("x\u{a0}= 1", "1:2", "U+00A0", "type a space"),
            Case("x + 1", "1:1", "expression alone"),
        ])
    func `errors in keywords and words`(example: Case) throws { try check(example) }

    @Test(
        arguments: [
            Case("goto foo", "1:6", "no label \"foo\""),
            Case("for i = 1, 2 do goto continue end", "1:22", "no label \"continue\"", "last line of the loop"),
            Case("do goto l; local x; ::l:: f(x) end", "1:9", "scope of the local \"x\""), Case("::a::\n::a::", "2:3", "already exists"),
            Case("local x <const> = 1\nx = 2", "2:1", "\"x\" is <const>"),
            Case("local x <final> = 1", "1:10", "no attribute <final>", "<close>"),
            Case("function f() return ... end", "1:21", "has no ... parameter", "parameters"),
        ])
    func `errors that the grammar allows and Lua refuses`(example: Case) throws { try check(example) }

    @Test func `every error has a message without a full stop, and a position within the script`() {
        for snippet in refused {
            let source = Array(snippet.utf8)
            do throws(SyntaxError) {
                _ = try Chunk(parsing: source)
            } catch {
                #expect(!error.message.isEmpty && (error.message.last != "." || error.message.hasSuffix("...")), "\(snippet)")
                #expect(error.range.lowerBound >= 0 && error.range.upperBound <= source.count, "\(snippet)")
            }
        }
    }
}
