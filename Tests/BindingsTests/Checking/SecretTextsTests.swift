import LuaSyntax
import Testing

@testable import Bindings

@Suite struct SecretTextsTests {
    /// The first line, with every hidden text as ***.
    private func shown(_ script: String) -> String {
        let source = SourceText(Array(script.utf8))
        var line = Array(source.line(1))
        for span in SecretSpans.spans(in: source).reversed() where span.lowerBound.line == 1 {
            let end = span.upperBound.line == 1 ? span.upperBound.column - 1 : line.count
            line.replaceSubrange((span.lowerBound.column - 1)..<end, with: "***")
        }
        return String(line)
    }

    @Test(
        arguments: [
            ("push.login { username = 'é', password = 'hunter2' }", "push.login { username = 'é', password = *** }"),
            ("local api_key, name = 'a', 'b'", "local api_key, name = 'a', 'b'"),
            ("x['api_key'] = 'a' y = 'b'", "x['api_key'] = *** y = 'b'"), ("clientSecret = [[a\nb]]", "clientSecret = ***"),
            ("password = push.secret 'demo_password'", "password = push.secret 'demo_password'"),
            ("if token == 'abc' then end", "if token == 'abc' then end"),
            ("headers = { a = 'Bea" + "rer abcdefGHIJKL0123456789._-' }", "headers = { a = *** }"),
            // Scripts with a beginner's mistake in them.
            ("{ password = 'hunter2 }", "{ password =***"), ("{ password = hunter2', x = 1 }", "{ password =***"),
            ("{ user = 'alice, password = 'hunter2' }", "{ user = 'alice, password = 'hunter2' }"),
            ("{ password = 'a' && 'b' }", "{ password = ******"),
            ("password = 'a' .. 'b' .. c", "password = *** .. *** .. c"), ("password = 'a\nx = 1", "password =***"),
        ])
    func `texts that look like secrets, or are named so, are hidden, also in scripts with syntax errors`(script: String, expected: String) {
        #expect(shown(script) == expected)
    }

    @Test func `the lines after a line that is not Lua are still read`() {
        let source = SourceText(Array("x = 'open\n@ ` $\npassword = 'a'\n\"".utf8))
        #expect(SecretSpans.spans(in: source) == [SourcePosition(line: 3, column: 12)..<SourcePosition(line: 3, column: 15)])
    }
}
