// Error messages for tokens that fit nowhere. Most of them explain habits from other languages.

extension Parser {
    // MARK: - Values

    /// The error for a token that begins no value where a value is required.
    func valueExpected() -> SyntaxError {
        if let error = textAfterString() ?? doubledOperator() ?? foreignComment() { return error }
        switch token.kind {
        case .end:
            if let opener = open.last { return unclosedAtEnd(opener) }
            return SyntaxError("a value is missing at the end of the file", at: last.range.upperBound)
        case .symbol(.rightParenthesis) where last.is(.comma):
            return SyntaxError("there is a comma before )", hint: "remove the comma: only tables may end with one", at: last.range)
        case .keyword(let word) where ![.and, .or, .in, .then].contains(word):
            if let opener = open.last { return unclosedAtEnd(opener) }
        default: break
        }
        return SyntaxError("a value is missing before \(phrase)", at: token.range)
    }

    private func unclosedAtEnd(_ opener: Opener) -> SyntaxError {
        switch opener.kind {
        case .parenthesis, .arguments: unclosed(.rightParenthesis)
        case .brace: unclosed(.rightBrace)
        case .bracket: unclosed(.rightBracket)
        default: SyntaxError("a value is missing before \(phrase)", at: last.range.upperBound)
        }
    }

    /// The error for a quote that ended a string too early. The sign: letters or digits follow the string without a blank.
    func textAfterString() -> SyntaxError? {
        guard case .string = last.kind, text.bytes[last.range.lowerBound] != UInt8(ascii: "["),
            last.range.upperBound == token.range.lowerBound
        else { return nil }
        switch token.kind {
        case .name, .keyword, .integer, .number, .string: return misplacedQuote(last.range.upperBound - 1)
        default: return nil
        }
    }

    /// The error for two adjacent symbols that form one operator in other languages, such as `++` and `!=`.
    private func doubledOperator() -> SyntaxError? {
        guard last.range.upperBound == token.range.lowerBound, case .symbol(let first) = last.kind, case .symbol(let second) = token.kind
        else { return nil }
        let both = last.range.lowerBound..<token.range.upperBound
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
        return SyntaxError("Lua has no \(text[both])", hint: hint, at: both)
    }

    private static let compound: Set<Symbol> = [
        .plus, .minus, .star, .slash, .doubleSlash, .percent, .caret, .concatenate, .pipe, .ampersand, .shiftLeft, .shiftRight,
    ]

    private func foreignComment() -> SyntaxError? {
        guard token.is(.doubleSlash) || (token.is(.hash) && text.isFirstInLine(token.range.lowerBound)) else { return nil }
        return SyntaxError("a comment does not begin with \(phrase)", hint: "comments begin with --", at: token.range)
    }

    // MARK: - Statements

    /// The error for a token that cannot begin a statement.
    func invalidStatement() -> SyntaxError {
        if let error = textAfterString() ?? doubledOperator() ?? foreignComment() { return error }
        switch token.kind {
        case .symbol(.leftBrace):
            return SyntaxError("a block has no braces", hint: "write it between then, do or function(…) and end", at: token.range)
        case .symbol(.hash): return SyntaxError("# cannot begin a statement", hint: "comments begin with --", at: token.range)
        case .symbol(.slash):
            return SyntaxError("/ cannot begin a statement", hint: "comments begin with --, or are --[[ … ]]", at: token.range)
        case .symbol(let sign) where [.rightParenthesis, .rightBrace, .rightBracket].contains(sign):
            if let block = open.last, text.indentation(at: token.range.lowerBound) <= text.indentation(at: block.range.lowerBound) {
                return missingEnd()
            }
            if open.last != nil, last.is(.end) { return missingEnd() }
            return SyntaxError("this \(sign.rawValue) closes nothing", hint: "remove it, or add the opening one", at: token.range)
        case .symbol(.assign):
            let next = text.byte(token.range.upperBound)
            if next == UInt8(ascii: ">"), last.is(.rightParenthesis) {
                return SyntaxError(
                    "Lua's functions have no =>", hint: "write function(x) return … end",
                    at: token.range.lowerBound..<(token.range.upperBound + 1))
            }
            if next == UInt8(ascii: ">") || next == UInt8(ascii: "<") {
                let sign = next == UInt8(ascii: ">") ? ">=" : "<="
                return SyntaxError(
                    "Lua has no \(String(sign.reversed()))", hint: "to compare write \(sign)",
                    at: token.range.lowerBound..<(token.range.upperBound + 1))
            }
            return SyntaxError(
                "a statement cannot begin with =", hint: "to compare write ==; write x = y = 1 as two statements", at: token.range)
        case .symbol(.plus), .symbol(.minus):
            return SyntaxError("\(phrase) cannot begin a statement", hint: "to add one write x = x + 1", at: token.range)
        case .string, .integer, .number, .keyword(.nil), .keyword(.true), .keyword(.false):
            return SyntaxError("a value alone is not a statement", hint: "assign it to a name, or pass it to a function", at: token.range)
        case .keyword(.then): return SyntaxError("this \"then\" has no \"if\"", at: token.range)
        case .name, .symbol, .keyword, .end: return SyntaxError("a statement cannot begin with \(phrase)", at: token.range)
        }
    }

    /// The error for a value that stands where a statement is required and is not a call.
    func valueAlone(_ value: Expression) -> SyntaxError {
        if let error = textAfterString() { return error }
        if let error = changeInPlace(value) { return error }
        if let division = floorDivision, text.line(at: division.lowerBound) == text.line(at: value.range.lowerBound) {
            return SyntaxError("a comment does not begin with //", hint: "comments begin with --", at: division)
        }
        let isSameLine = text.line(at: value.range.upperBound) == line(token.range)
        if case .name(let name) = value.kind {
            let word = name.text
            let before = text.bytes[..<value.range.lowerBound]
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
        if token.is(.equal) { return SyntaxError("== compares and is not a statement", hint: "to assign write =", at: token.range) }
        if isSameLine, token.beginsValue {
            return SyntaxError(
                "something is missing between \(shown(value)) and \(phrase)",
                hint: "a call has parentheses: \(shown(value))(\(token.spelling(in: text))); an assignment has =",
                at: value.range.upperBound)
        }
        if BinaryOperator(token) != nil {
            return SyntaxError(
                "an expression alone is not a statement", hint: "assign its result: x = \(shown(value)) \(phrase) …", at: value.range)
        }
        return SyntaxError(
            "a value alone is not a statement", hint: "call it, \(shown(value))(), or assign something to it", at: value.range)
    }

    /// The error for `x += 1`, `x++` and `x--`.
    private func changeInPlace(_ value: Expression) -> SyntaxError? {
        let end = value.range.upperBound
        if text.byte(end) == UInt8(ascii: "-"), text.byte(end + 1) == UInt8(ascii: "-") {
            return SyntaxError("-- begins a comment", hint: "write \(shown(value)) = \(shown(value)) - 1", at: end..<(end + 2))
        }
        guard case .symbol(let sign) = token.kind, Self.compound.contains(sign) else { return nil }
        let next = text.byte(token.range.upperBound)
        let both = token.range.lowerBound..<(token.range.upperBound + 1)
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
        let spelling = text[value.range]
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
        switch token.kind {
        case .keyword(let word):
            SyntaxError("\"\(word.rawValue)\" is a keyword and cannot be a name", hint: "choose another name", at: token.range)
        case .integer, .number:
            SyntaxError(
                "\(what) is missing before \(phrase)", hint: "write list[1] for an element of a list", at: token.range)
        default: SyntaxError("\(what) is missing before \(phrase)", at: token.range)
        }
    }

    func missingParameters() -> SyntaxError {
        if case .name = token.kind, last.is(.function) {
            return SyntaxError(
                "a function that is a value has no name",
                hint: "write function(…), or begin the line with local function \(token.spelling(in: text))(…)",
                at: token.range)
        }
        return SyntaxError(
            "( is missing after \"function\"", hint: "write parentheses around the parameters, even if there are none",
            at: last.range.upperBound)
    }

    /// The error for a token that cannot follow the names of a local declaration.
    func missingAssign() -> SyntaxError? {
        switch token.kind {
        case .symbol(.equal): SyntaxError("== compares", hint: "to assign write =", at: token.range)
        case .symbol(.colon): SyntaxError("Lua has no types in declarations", hint: "remove \":\" and the type", at: token.range)
        case .string, .integer, .number, .symbol(.leftBrace):
            SyntaxError("= is missing before \(phrase)", hint: "write local name = value", at: last.range.upperBound)
        default: nil
        }
    }

    func noMethod(_ first: Expression, colon: Range<Int>) -> SyntaxError {
        if open.last?.kind == .brace, case .name(let key) = first.kind { return colonInTable(key.text, at: colon) }
        return SyntaxError("a method's name is missing after the colon", at: colon)
    }

    func noArguments(_ first: Expression, method: Name) -> SyntaxError {
        if open.last?.kind == .brace, case .name(let key) = first.kind, token.is(.comma) || token.is(.rightBrace) {
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
    mutating func wrongKey() throws(SyntaxError) -> SyntaxError? {
        let next: Token
        switch token.kind {
        case .keyword, .string: next = try peek()
        default: return nil
        }
        switch token.kind {
        case .keyword(let word) where next.is(.assign):
            return SyntaxError(
                "\"\(word.rawValue)\" is a keyword and cannot be a plain key", hint: "write [\"\(word.rawValue)\"] = …",
                at: token.range)
        case .string where next.is(.assign) || next.is(.colon):
            return SyntaxError(
                "a key that is a string must be in brackets", hint: "write [\(token.spelling(in: text))] = …", at: token.range)
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
