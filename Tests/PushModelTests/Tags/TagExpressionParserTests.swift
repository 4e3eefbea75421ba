import PushModel
import Testing

@Suite struct TagExpressionParserTests {
    @Test(arguments: [
        ("a", "a"), (" a\t", "a"), ("a||b", "a || b"), ("a && b || c", "a && b || c"),
        ("a && (b || c)", "a && (b || c)"),
        ("(a && b) || (c)", "a && b || c"), ("((a))", "a"), ("!a", "!a"), ("! ! a", "!!a"), ("!(a||b)", "!(a || b)"),
        ("!(a)&&b", "!a && b"), ("(a && b) && c", "a && b && c"), ("a || (b || c)", "a || b || c"),
        ("$InstallationId:{x=1}||$UserId:{u}", "$InstallationId:{x=1} || $UserId:{u}"),
        ("and && or", "and && or"), ("a-b.c:d#e@f", "a-b.c:d#e@f"), ("日本\u{3000}|| 東京", "日本 || 東京"),
    ])
    func `Canonical text has as few parentheses as possible`(_ text: String, _ canonical: String) throws {
        let expression = try TagExpression(parsing: text)
        #expect(expression.description == canonical)
        #expect(try TagExpression(parsing: canonical) == expression)
    }

    @Test(
        arguments: [
            ("", 1, "The tag expression is empty.", "To reach every device, send without an expression."),
            ("  ", 1, "The tag expression is empty.", "To reach every device, send without an expression."),
            ("a & b", 3, "A single \"&\" is not an operator.", "Did you mean \"&&\"?"),
            ("a |b", 3, "A single \"|\" is not an operator.", "Did you mean \"||\"?"),
            ("a &&& b", 5, "A single \"&\" is not an operator.", "Did you mean \"&&\"?"),
            ("a and b", 3, "\"and\" is not an operator.", "Did you mean \"&&\"?"),
            ("a OR b", 3, "\"OR\" is not an operator.", "Did you mean \"||\"?"),
            ("a not b", 3, "\"not\" is not an operator.", "Did you mean \"&& !\"?"),
            ("not b", 1, "\"not\" is not an operator.", "Did you mean \"!b\"?"),
            ("a && not b", 6, "\"not\" is not an operator.", "Did you mean \"!b\"?"),
            ("a !b", 3, "An operator is missing between \"a\" and \"!\".", "Did you mean \"&& !\"?"),
            (
                "red blue", 5, "An operator is missing between \"red\" and \"blue\".",
                "Put \"&&\" (both) or \"||\" (either) between them."
            ),
            (
                "(a)(b)", 4, "An operator is missing between \")\" and \"(\".",
                "Put \"&&\" (both) or \"||\" (either) between them."
            ),
            ("a, b", 2, "\",\" is not part of a tag expression.", "Did you mean \"||\"?"),
            ("'a'", 1, "Quotes are not part of a tag expression.", "Write tags without quotes."),
            ("a &&", 5, "A tag is missing after \"&&\".", nil),
            ("!", 2, "A tag is missing after \"!\".", nil),
            ("&& a", 1, "A tag is missing before \"&&\".", nil),
            (")", 1, "A tag is missing before \")\".", nil),
            ("a && || b", 6, "A tag is missing between \"&&\" and \"||\".", nil),
            ("(a &&)", 6, "A tag is missing between \"&&\" and \")\".", nil),
            ("a && ()", 7, "There is nothing between the parentheses.", nil),
            ("a && (b", 6, "This \"(\" is never closed.", nil),
            (
                "a (", 3, "An operator is missing between \"a\" and \"(\".",
                "Put \"&&\" (both) or \"||\" (either) between them."
            ),
            ("(", 1, "This \"(\" is never closed.", nil),
            ("a)", 2, "This \")\" closes nothing.", nil),
            (
                "é %b", 3, "\"%\" cannot be part of a tag.",
                "A tag has only letters, digits and the characters _ - @ # . :"
            ),
            ("a || $UserId:{", 15, "The closing \"}\" is missing.", "Write $UserId:{…}."),
            (
                "a || " + String(repeating: "x", count: 121), 6, "The tag has 121 characters; 120 are allowed.", nil
            ),
        ] as [(String, Int, String, String?)])
    func `An error gives the problem, its position and the likely intention`(
        _ text: String, _ position: Int, _ message: String, _ hint: String?
    ) throws {
        let error = try #require(throws: TagExpressionError.self) { try TagExpression(parsing: text) }
        #expect(error.message == message)
        #expect(error.position == position)
        #expect(error.hint == hint)
        #expect(error.text == text)
    }

    @Test func `Nesting depth is limited for parentheses and for negation`() throws {
        let nested = { (sign: String, end: String, count: Int) in
            String(repeating: sign, count: count) + "a" + String(repeating: end, count: count)
        }
        _ = try TagExpression(parsing: nested("(", ")", 64))
        _ = try TagExpression(parsing: nested("!", "", 64))
        for text in [nested("(", ")", 65), nested("!", "", 65), nested("!(", ")", 33)] {
            let error = try #require(throws: TagExpressionError.self) { try TagExpression(parsing: text) }
            #expect(error.message == "The expression is nested deeper than 64 levels.")
        }
    }

    @Test(arguments: ["(", "!", ")", "a ", "&", "\0", "$", "a||", "{", "\u{301}"])
    func `Long invalid input is rejected quickly`(_ piece: String) {
        let text = String(repeating: piece, count: (piece == "(" ? 1_000_000 : 100_000) / piece.utf8.count)
        #expect(throws: TagExpressionError.self) { try TagExpression(parsing: text) }
    }

    @Test func `A long list of tags is read`() throws {
        let text = (0..<20_000).map { "t\($0)" }.joined(separator: "||")
        #expect(try TagExpression(parsing: text).tags.count == 20_000)
    }
}
