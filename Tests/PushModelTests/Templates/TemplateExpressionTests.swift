import PushModel
import Testing

@Suite struct TemplateExpressionTests {
    private static let properties = TemplateProperties(
        [
            "Name": "Alice", "long": "The quick brown fox", "n": "42", "empty": "", "family": "👨‍👩‍👧👨‍👩‍👧x",
            "accent": "e\u{301}e\u{301}",
            "url": "a b/ü?&~-._",
        ], fallback: ["locale": "en", "name": "never"])

    @Test(arguments: [
        ("$(name)", "Alice"), ("$(NAME)", "Alice"), ("$( name )", "Alice"), ("$(absent)", ""), ("$(locale)", "en"),
        ("$(name, 3)", "Ali"), ("$(name,0)", ""), ("$(name, 99)", "Alice"), ("$(name , 5 )", "Alice"),
        ("$(family, 1)", "👨‍👩‍👧"), ("$(accent, 1)", "e\u{301}"), ("$(accent, 2)", "e\u{301}e\u{301}"),
        (".(long, 12)", "The quick..."), (".(long, 19)", "The quick brown fox"), (".(long, 18)", "The quick brown..."),
        (".(long, 3)", "..."), (".(long, 2)", ".."), (".(long, 0)", ""), (".(absent, 5)", ""), (".(family, 3)", "👨‍👩‍👧👨‍👩‍👧x"),
        ("%(url)", "a%20b%2F%C3%BC%3F%26~-._"), ("#(n)", "42"), ("#(name)", "Alice"),
        ("{'#000000'}", "#000000"), ("{$(name)}", "Alice"), ("{ 'Hi ' + $(name) + \"!\" }", "Hi Alice!"),
        ("{'it''s ' + \"\"\"q\"\"\"}", "it's \"q\""), ("{'a + } b'}", "a + } b"), ("{'''' + ' '}", "' "),
        ("{$(name,1)+.(long,6)+%(url)}", "AThe...a%20b%2F%C3%BC%3F%26~-._"),
        ("$(absent:{none})", "none"), ("$(name:{none})", "Alice"), ("$(empty:{none})", ""), ("$(absent:{})", ""),
        ("$(absent:{a\\}b\\c})", "a}b\\c"), ("$(absent:{a, b) 'c' $(name)})", "a, b) 'c' $(name)"),
        ("$(absent:{long default}, 4)", "long"), (".(absent:{long default}, 7)", "long..."),
        ("%(absent:{a b})", "a%20b"),
        ("#(absent:{7})", "7"), ("{#(n)}", "42"), ("{ #(n) }", "42"), ("{#(absent:{7})}", "7"), ("{'<' + $(absent:{x}) + '>'}", "<x>"),
        ("$(body)", ""),
        ("plain", "plain"), ("", ""), ("Hello $(name)", "Hello $(name)"), (" $(name)", " $(name)"),
        ("'quoted'", "'quoted'"), ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
    ])
    func `Every form of expression gives its result`(_ text: String, _ result: String) throws {
        #expect(try TemplateExpression(parsing: text).evaluate(TemplateExpressionTests.properties) == result)
    }

    @Test(arguments: [
        ("$", 2, "\"(\" was expected after \"$\", not the end."),
        ("$name", 2, "\"(\" was expected after \"$\", not \"n\"."),
        ("#000000", 2, "\"(\" was expected after \"#\", not \"0\"."),
        ("...", 2, "\"(\" was expected after \".\", not \".\"."),
        ("% (a)", 2, "\"(\" was expected after \"%\", not \" \"."),
        ("$body", 1, "$body, the whole message, is not supported in templates."),
        ("{'a' + $Body}", 8, "$body, the whole message, is not supported in templates."),
        ("$bodyguard", 2, "\"(\" was expected after \"$\", not \"b\"."),
        ("$(", 3, "The name of a property is missing."),
        ("$()", 3, "The name of a property is missing."),
        ("$( )", 4, "The name of a property is missing."),
        ("$(a", 2, "This \"(\" is never closed."),
        ("$(a-b)", 4, "Property names have letters, digits and \"_\" only, not \"-\"."),
        ("$(é)", 3, "Property names have letters, digits and \"_\" only, not \"é\"."),
        ("$(a b)", 5, "Property names have letters, digits and \"_\" only, not \"b\"."),
        ("$(\(String(repeating: "a", count: 121)))", 3, "The name has 121 characters; 120 are allowed."),
        ("$(a, -1)", 6, "The length cannot be negative."),
        ("$(a,)", 5, "A length was expected after \",\", not \")\"."),
        ("$(a, x)", 6, "A length was expected after \",\", not \"x\"."),
        ("$(a, 1234567890)", 6, "The length is too large."),
        ("$(a, 1 2)", 8, "\")\" was expected, not \"2\"."),
        ("$(a, 1:{x})", 7, "\")\" was expected, not \":\"."),
        (".(a)", 1, "\".(…)\" needs a length."),
        ("%(a, 1)", 4, "\"%(…)\" takes no length."),
        ("#(a, 1)", 4, "\"#(…)\" takes no length."),
        ("$(a:b)", 5, "\"{\" was expected after \":\", not \"b\"."),
        ("$(a:{b)", 5, "The \"{\" of the default is never closed."),
        ("$(a:{b\\})", 5, "The \"{\" of the default is never closed."),
        ("$(a) ", 5, "Text follows the expression."),
        ("$(a)$(b)", 5, "Text follows the expression."),
        ("{", 2, "An expression is missing at the end."),
        ("{ }", 3, "There is nothing between the braces."),
        ("{$(a)", 1, "This \"{\" is never closed."),
        ("{$(a) $(b)}", 7, "\"+\" or \"}\" was expected, not \"$\"."),
        ("{$(a) + }", 9, "An expression is missing before \"}\"."),
        ("{+ $(a)}", 2, "An expression is missing before \"+\"."),
        ("{$(a) +", 8, "An expression is missing at the end."),
        ("{{$(a)}}", 2, "Braces do not nest."),
        ("{$(a)}x", 7, "Text follows the closing brace."),
        ("{text}", 2, "An expression was expected, not \"t\"."),
        ("{'a}", 2, "This quote is never closed."),
        ("{''}", 2, "The text between the quotes is empty."),
        ("{#(n) + 'a'}", 2, "A number #(…) cannot be joined with others."), ("{#(n)}x", 7, "Text follows the closing brace."),
        ("{#(n)", 1, "This \"{\" is never closed."), ("{#(n, 2)}", 5, "\"#(…)\" takes no length."),
        ("{'a' + #(n)}", 8, "A number #(…) cannot be joined with others."),
        ("{'a' + $x}", 9, "\"(\" was expected after \"$\", not \"x\"."),
        ("$(a\0)", 4, "Property names have letters, digits and \"_\" only, not U+0000."),
    ])
    func `An error gives the problem and its column`(_ text: String, _ column: Int, _ message: String) throws {
        let error = try #require(throws: TemplateError.self) { try TemplateExpression(parsing: text) }
        #expect(error.message == message)
        #expect(error.column == column)
        #expect(error.code == "template.syntax")
        #expect(error.expression == text)
    }

    @Test(arguments: [
        ("Hello $(name)!", "Hello Alice!"), ("$(name) and $(name, 2)", "Alice and Al"), ("$(name)", "Alice"),
        ("#000000", "#000000"), ("#(n)", "42"), ("...", "..."), ("%d", "%d"), ("$5 for $(name)", "$5 for Alice"),
        ("$", "$"),
        ("100% $(absent:{off})", "100% off"), ("{'a'}", "a"), (".(long, 6)", "The..."),
        ("a .(long, 6)", "a .(long, 6)"),
        ("", ""), ("plain", "plain"),
    ])
    func `A lenient reader replaces inside text`(_ text: String, _ result: String) throws {
        let expression = try TemplateExpression(parsing: text, options: TemplateOptions(lenient: true))
        #expect(expression.evaluate(TemplateExpressionTests.properties) == result)
    }

    @Test(arguments: [("Hi $(", 6), ("Hi $(a", 5), ("$body", 1), ("{x}", 2), (".(a)", 1), ("#(a) x", 5)])
    func `A lenient reader still rejects a broken expression`(_ text: String, _ column: Int) throws {
        let error = try #require(throws: TemplateError.self) {
            try TemplateExpression(parsing: text, options: TemplateOptions(lenient: true))
        }
        #expect(error.column == column)
    }

    @Test func `An expression without properties is literal`() throws {
        #expect(try TemplateExpression(parsing: "0").isLiteral)
        #expect(try TemplateExpression(parsing: "{'a' + 'b'}").isLiteral)
        #expect(try !TemplateExpression(parsing: "{'a' + $(B) + $(b) + $(c)}").isLiteral)
        #expect(try TemplateExpression(parsing: "{'a' + $(B) + $(b) + $(c)}").variables == ["b", "c"])
    }

    @Test func `If names differ only in case one wins, and another device's fallback leaves the message unchanged`() {
        let properties = TemplateProperties(["A": "1", "a": "2"], fallback: ["B": "3"])
        #expect(properties["A"] == "2")
        #expect(properties["b"] == "3")
        #expect(properties.with(fallback: ["b": "4", "A": "5"])["b"] == "4")
        #expect(properties.with(fallback: ["b": "4", "A": "5"])["a"] == "2")
    }

    @Test(arguments: ["{", "$(", "{'", "{'a'+", "$(a:{", "\\", "#", "{$(a)+"])
    func `A megabyte of invalid input is read or rejected quickly`(_ piece: String) {
        let text = String(repeating: piece, count: 1_000_000 / piece.utf8.count)
        _ = try? TemplateExpression(parsing: text)
        _ = try? TemplateExpression(parsing: text, options: TemplateOptions(lenient: true))
    }
}
