/// Finds the error for a token that fits nowhere. Most errors explain habits from other languages.
struct MisplacedTokenDiagnosis {
    let tokens: TokenStream
    let nesting: Nesting

    private var closing: ClosingDiagnosis { ClosingDiagnosis(tokens: tokens, nesting: nesting) }

    // MARK: - Values

    /// The error for a token that begins no value where a value is required.
    func valueExpected() -> SyntaxError {
        if let error = textAfterString() ?? doubledOperator() ?? foreignComment() { return error }
        switch tokens.current.kind {
        case .end:
            if let opener = nesting.open.last { return unclosedAtEnd(opener) }
            return SyntaxError("a value is missing at the end of the file", at: tokens.previous.range.upperBound)
        case .symbol(.rightParenthesis) where tokens.previous.is(.comma):
            return SyntaxError(
                "there is a comma before )", hint: "remove the comma: only tables may end with one", at: tokens.previous.range)
        case .keyword(let word) where ![.and, .or, .in, .then].contains(word):
            if let opener = nesting.open.last { return unclosedAtEnd(opener) }
        default: break
        }
        return SyntaxError("a value is missing before \(tokens.phrase)", at: tokens.current.range)
    }

    private func unclosedAtEnd(_ opener: Opener) -> SyntaxError {
        switch opener.kind {
        case .parenthesis, .arguments: closing.unclosed(.rightParenthesis)
        case .brace: closing.unclosed(.rightBrace)
        case .bracket: closing.unclosed(.rightBracket)
        default: SyntaxError("a value is missing before \(tokens.phrase)", at: tokens.previous.range.upperBound)
        }
    }

    /// The error for a quote that ended a string too early. The sign: letters or digits follow the string without a blank.
    func textAfterString() -> SyntaxError? {
        guard case .string = tokens.previous.kind, tokens.text.bytes[tokens.previous.range.lowerBound] != UInt8(ascii: "["),
            tokens.previous.range.upperBound == tokens.current.range.lowerBound
        else { return nil }
        switch tokens.current.kind {
        case .name, .keyword, .integer, .number, .string: return tokens.misplacedQuote(tokens.previous.range.upperBound - 1)
        default: return nil
        }
    }

    /// The error for two adjacent symbols that form one operator in other languages, such as `++` and `!=`.
    private func doubledOperator() -> SyntaxError? {
        guard tokens.previous.range.upperBound == tokens.current.range.lowerBound, case .symbol(let first) = tokens.previous.kind,
            case .symbol(let second) = tokens.current.kind
        else { return nil }
        let both = tokens.previous.range.lowerBound..<tokens.current.range.upperBound
        let hint: String
        switch (first, second) {
        case (.plus, .plus): hint = "write x = x + 1"
        case (.equal, .assign), (.assign, .equal): hint = "write =="
        case (.notEqual, .assign), (.less, .greater): hint = "\"not equal\" is ~="
        case (.assign, .less): hint = "write <="
        case (.assign, .greater): hint = "in a table write =, to compare write >="
        case (.minus, .greater): hint = "a field follows a dot, a method a colon"
        case (.star, .star): hint = "a power is x ^ 2"
        case (.slash, .star): hint = "a comment begins with --, a long one is --[[ … ]]"
        case (_, .assign) where Self.compound.contains(first): hint = "write x = x \(first.rawValue) 1"
        default: return nil
        }
        return SyntaxError("Lua has no \(tokens.text[both])", hint: hint, at: both)
    }

    private static let compound: Set<Symbol> = [
        .plus, .minus, .star, .slash, .doubleSlash, .percent, .caret, .concatenate, .pipe, .ampersand, .shiftLeft, .shiftRight,
    ]

    private func foreignComment() -> SyntaxError? {
        guard tokens.current.is(.doubleSlash) || (tokens.current.is(.hash) && tokens.text.isFirstInLine(tokens.current.range.lowerBound))
        else { return nil }
        return SyntaxError("a comment does not begin with \(tokens.phrase)", hint: "comments begin with --", at: tokens.current.range)
    }

    // MARK: - Statements

    /// The error for a token that cannot begin a statement.
    func invalidStatement() -> SyntaxError {
        if let error = textAfterString() ?? doubledOperator() ?? foreignComment() { return error }
        switch tokens.current.kind {
        case .symbol(.leftBrace):
            return SyntaxError("a block has no braces", hint: "write it between then, do or function(…) and end", at: tokens.current.range)
        case .symbol(.hash): return SyntaxError("# cannot begin a statement", hint: "comments begin with --", at: tokens.current.range)
        case .symbol(.slash):
            return SyntaxError("/ cannot begin a statement", hint: "comments begin with --, or are --[[ … ]]", at: tokens.current.range)
        case .symbol(let sign) where [.rightParenthesis, .rightBrace, .rightBracket].contains(sign):
            if let block = nesting.open.last,
                tokens.text.indentation(at: tokens.current.range.lowerBound) <= tokens.text.indentation(at: block.range.lowerBound)
            {
                return closing.missingEnd()
            }
            if nesting.open.last != nil, tokens.previous.is(.end) { return closing.missingEnd() }
            return SyntaxError("this \(sign.rawValue) closes nothing", hint: "remove it, or add the opening one", at: tokens.current.range)
        case .symbol(.assign):
            let next = tokens.text.byte(tokens.current.range.upperBound)
            if next == UInt8(ascii: ">"), tokens.previous.is(.rightParenthesis) {
                return SyntaxError(
                    "Lua's functions have no =>", hint: "write function(x) return … end",
                    at: tokens.current.range.lowerBound..<(tokens.current.range.upperBound + 1))
            }
            if next == UInt8(ascii: ">") || next == UInt8(ascii: "<") {
                let sign = next == UInt8(ascii: ">") ? ">=" : "<="
                return SyntaxError(
                    "Lua has no \(String(sign.reversed()))", hint: "to compare write \(sign)",
                    at: tokens.current.range.lowerBound..<(tokens.current.range.upperBound + 1))
            }
            return SyntaxError(
                "a statement cannot begin with =", hint: "to compare write ==; write x = y = 1 as two statements", at: tokens.current.range)
        case .symbol(.plus), .symbol(.minus):
            return SyntaxError("\(tokens.phrase) cannot begin a statement", hint: "to add one write x = x + 1", at: tokens.current.range)
        case .string, .integer, .number, .keyword(.nil), .keyword(.true), .keyword(.false):
            return SyntaxError(
                "a value alone is not a statement", hint: "assign it to a name, or pass it to a function", at: tokens.current.range)
        case .keyword(.then): return SyntaxError("this \"then\" has no \"if\"", at: tokens.current.range)
        case .name, .symbol, .keyword, .end: return SyntaxError("a statement cannot begin with \(tokens.phrase)", at: tokens.current.range)
        }
    }

    /// The error for a value that stands where a statement is required and is not a call.
    func valueAlone(_ value: Expression) -> SyntaxError {
        if let error = textAfterString() { return error }
        if let error = changeInPlace(value) { return error }
        if let division = tokens.floorDivision, tokens.text.line(at: division.lowerBound) == tokens.text.line(at: value.range.lowerBound) {
            return SyntaxError("a comment does not begin with //", hint: "comments begin with --", at: division)
        }
        let isSameLine = tokens.text.line(at: value.range.upperBound) == tokens.text.line(of: tokens.current.range)
        if case .name(let name) = value.kind {
            let word = name.text
            let before = tokens.text.bytes[..<value.range.lowerBound]
            let blanks = before.reversed().prefix { $0.isBlank }.count
            if blanks > 0, before.dropLast(blanks).suffix(7).elementsEqual("require".utf8) {
                return SyntaxError("the name after require must be in quotes", hint: "write require \"\(word)\"", at: value.range)
            }
            if let hint = Self.foreignKeywords[word] {
                return SyntaxError("\"\(word)\" is not a keyword of Lua", hint: hint, at: value.range)
            }
            let meant = Keyword.allCases.first { $0.isStatementWord && word.isMistyped($0.rawValue) }
            if let meant {
                return SyntaxError("\"\(word)\" is not a keyword of Lua", hint: "did you mean \"\(meant.rawValue)\"?", at: value.range)
            }
        }
        if tokens.current.is(.equal) {
            return SyntaxError("== compares and is not a statement", hint: "to assign write =", at: tokens.current.range)
        }
        if isSameLine, tokens.current.beginsValue {
            return SyntaxError(
                "something is missing between \(shown(value)) and \(tokens.phrase)",
                hint: "a call has parentheses: \(shown(value))(\(tokens.current.spelling(in: tokens.text))); an assignment has =",
                at: value.range.upperBound)
        }
        if BinaryOperator(tokens.current) != nil {
            return SyntaxError(
                "an expression alone is not a statement", hint: "assign its result: x = \(shown(value)) \(tokens.phrase) …", at: value.range
            )
        }
        return SyntaxError(
            "a value alone is not a statement", hint: "call it, \(shown(value))(), or assign something to it", at: value.range)
    }

    /// The error for `x += 1`, `x++` and `x--`.
    private func changeInPlace(_ value: Expression) -> SyntaxError? {
        let end = value.range.upperBound
        if tokens.text.byte(end) == UInt8(ascii: "-"), tokens.text.byte(end + 1) == UInt8(ascii: "-") {
            return SyntaxError("-- begins a comment", hint: "write \(shown(value)) = \(shown(value)) - 1", at: end..<(end + 2))
        }
        guard case .symbol(let sign) = tokens.current.kind, Self.compound.contains(sign) else { return nil }
        let next = tokens.text.byte(tokens.current.range.upperBound)
        let both = tokens.current.range.lowerBound..<(tokens.current.range.upperBound + 1)
        if next == UInt8(ascii: "=") {
            return SyntaxError("Lua has no \(sign.rawValue)=", hint: "write \(shown(value)) = \(shown(value)) \(sign.rawValue) …", at: both)
        }
        if sign == .minus, next == UInt8(ascii: ">") {
            return SyntaxError("Lua has no ->", hint: "a field follows a dot, a method a colon", at: both)
        }
        guard sign == .plus, next == UInt8(ascii: "+") else { return nil }
        return SyntaxError("Lua has no ++", hint: "write \(shown(value)) = \(shown(value)) + 1", at: both)
    }

    /// The source of a value if it is short, otherwise "x".
    private func shown(_ value: Expression) -> String {
        let spelling = tokens.text[value.range]
        return spelling.count <= 30 && !spelling.contains { $0.isNewline } ? spelling : "x"
    }

    private static let foreignKeywords: [String: String] = {
        let meanings: [([String], String)] = [
            (["var", "let", "const"], "write local"), (["func", "fn", "fun", "def", "sub", "proc"], "write function"),
            (["elif", "elsif", "elsef", "elseIf", "ElseIf"], "write elseif"), (["foreach"], "write for _, value in ipairs(list) do"),
            (["endif", "endfor", "endwhile", "fi", "done"], "write end"),
            (["continue", "next"], "write goto continue, and ::continue:: as the last line of the loop"),
            (["switch", "case", "match"], "write if … then … elseif … then … end"),
            (["try", "catch", "throw", "raise"], "use pcall and error"),
            (["import", "include", "using"], "write local push = require \"push\""),
        ]
        return Dictionary(uniqueKeysWithValues: meanings.flatMap { words, hint in words.map { ($0, hint) } })
    }()

    // MARK: - Names

    func nameExpected(_ what: String) -> SyntaxError {
        switch tokens.current.kind {
        case .keyword(let word):
            SyntaxError("\"\(word.rawValue)\" is a keyword and cannot be a name", hint: "choose another name", at: tokens.current.range)
        case .integer, .number:
            SyntaxError(
                "\(what) is missing before \(tokens.phrase)", hint: "write list[1] for an element of a list", at: tokens.current.range)
        default: SyntaxError("\(what) is missing before \(tokens.phrase)", at: tokens.current.range)
        }
    }

    func missingParameters() -> SyntaxError {
        if case .name = tokens.current.kind, tokens.previous.is(.function) {
            return SyntaxError(
                "a function that is a value has no name",
                hint: "write function(…), or begin the line with local function \(tokens.current.spelling(in: tokens.text))(…)",
                at: tokens.current.range)
        }
        return SyntaxError(
            "( is missing after \"function\"", hint: "write parentheses around the parameters, even if there are none",
            at: tokens.previous.range.upperBound)
    }

    /// The error for a token that cannot follow the names of a local declaration.
    func missingAssign() -> SyntaxError? {
        switch tokens.current.kind {
        case .symbol(.equal): SyntaxError("== compares", hint: "to assign write =", at: tokens.current.range)
        case .symbol(.colon): SyntaxError("Lua has no types in declarations", hint: "remove \":\" and the type", at: tokens.current.range)
        case .string, .integer, .number, .symbol(.leftBrace):
            SyntaxError("= is missing before \(tokens.phrase)", hint: "write local name = value", at: tokens.previous.range.upperBound)
        default: nil
        }
    }

    func noMethod(_ first: Expression, colon: Range<Int>) -> SyntaxError {
        if nesting.open.last?.kind == .brace, case .name(let key) = first.kind { return colonInTable(key.text, at: colon) }
        return SyntaxError("a method's name is missing after the colon", at: colon)
    }

    func noArguments(_ first: Expression, method: Name) -> SyntaxError {
        if nesting.open.last?.kind == .brace, case .name(let key) = first.kind, tokens.current.is(.comma) || tokens.current.is(.rightBrace)
        {
            return colonInTable(key.text, at: method.range)
        }
        return SyntaxError(
            "a colon calls a method, and \"\(method.text)\" is not called", hint: "write :\(method.text)(), or .\(method.text) for a field",
            at: method.range)
    }

    private func colonInTable(_ key: String, at range: Range<Int>) -> SyntaxError {
        SyntaxError("a table has = between key and value", hint: "write \(key) = …", at: range)
    }

    /// The error for a table key that must be written in brackets.
    func wrongKey() throws(SyntaxError) -> SyntaxError? {
        let next: Token
        switch tokens.current.kind {
        case .keyword, .string: next = try tokens.peek()
        default: return nil
        }
        switch tokens.current.kind {
        case .keyword(let word) where next.is(.assign):
            return SyntaxError(
                "\"\(word.rawValue)\" is a keyword and cannot be a plain key", hint: "write [\"\(word.rawValue)\"] = …",
                at: tokens.current.range)
        case .string where next.is(.assign) || next.is(.colon):
            return SyntaxError(
                "a key that is a string must be in brackets", hint: "write [\(tokens.current.spelling(in: tokens.text))] = …",
                at: tokens.current.range)
        default: return nil
        }
    }
}

extension Keyword {
    /// Whether the keyword begins or closes a statement.
    fileprivate var isStatementWord: Bool { ![.and, .or, .in, .nil, .not, .true, .false, .do].contains(self) }
}

extension String {
    /// Whether the word differs by one letter (wrong, missing or extra), or by two swapped neighbours.
    fileprivate func isMistyped(_ word: String) -> Bool {
        let (mine, wanted) = (Array(utf8), Array(word.utf8))
        guard mine.count > 2, abs(mine.count - wanted.count) <= 1 else { return false }
        let head = zip(mine, wanted).prefix { $0 == $1 }.count
        let (left, right) = (mine[head...], wanted[head...])
        return left.dropFirst().elementsEqual(right) || left.elementsEqual(right.dropFirst())
            || left.dropFirst().elementsEqual(right.dropFirst())
            || (left.prefix(2).elementsEqual(right.prefix(2).reversed()) && left.dropFirst(2).elementsEqual(right.dropFirst(2)))
    }
}
