// Error messages for blocks and brackets that are not closed, and for closing words that close nothing.

extension Parser {
    // MARK: - Blocks

    /// The error for an innermost block that ends without its closing word.
    func missingEnd() -> SyntaxError {
        guard let block = open.last else { return stray() }
        if let range = block.elseIf {
            return SyntaxError(
                "this \"else if\" opens an \"if\" within the \"if\" of line \(text.line(at: block.range.lowerBound)), and one \"end\" is missing",
                hint: "write elseif, as one word", at: range)
        }
        if let doubt {
            let word = doubt.closed.kind.rawValue
            return SyntaxError(
                "the \"\(word)\" of line \(line(doubt.closed.range)) has no \"end\"",
                hint:
                    "the \"end\" in line \(line(doubt.end)) is indented like the \"\(doubt.meant.word)\" of line \(line(doubt.meant.range)), but closes this \"\(word)\"",
                at: doubt.closed.range)
        }
        let closer = block.kind == .repeat ? "until" : "end"
        let message = "the \"\(block.word)\" of line \(line(block.range)) has no \"\(closer)\""
        if case .keyword(let word) = token.kind, word == .else || word == .elseif, block.kind != .if {
            return SyntaxError(message, hint: "the \"\(word.rawValue)\" of line \(line(token.range)) belongs to an \"if\"", at: block.range)
        }
        let place = token.kind == .end ? "after its last line" : "before \(phrase) in line \(line(token.range))"
        return SyntaxError(message, hint: "put \"\(closer)\" \(place)", at: block.range)
    }

    /// The error for a closing word, or another token, that has no matching opener.
    func stray() -> SyntaxError {
        switch token.kind {
        case .keyword(.end):
            let closed = surplus.map {
                "the \"\($0.closed.word)\" of line \(line($0.closed.range)) is closed in line \(line($0.end)) already"
            }
            return SyntaxError(
                "this \"end\" closes nothing", hint: "\(closed ?? "every block above is closed already"): one \"end\" is too many",
                at: token.range)
        case .keyword(.until): return SyntaxError("this \"until\" has no \"repeat\"", at: token.range)
        case .keyword(let word):
            return SyntaxError(
                "this \"\(word.rawValue)\" has no \"if\"",
                hint: "an \"end\" before it has closed the \"if\" already, or \"then\" is missing",
                at: token.range)
        default: return SyntaxError("\(phrase) is not allowed here", at: token.range)
        }
    }

    func afterReturn() -> SyntaxError {
        if let error = textAfterString() { return error }
        if let block = open.last, isOutside(block) { return missingEnd() }
        return SyntaxError(
            "\"return\" must be the last statement of its block", hint: "remove what follows it, or write do return … end", at: token.range)
    }

    // MARK: - Brackets

    /// The error for a bracket whose closing sign is missing at the present token.
    func unclosed(_ closer: Symbol) -> SyntaxError {
        guard let opener = open.last else { return stray() }
        if let error = textAfterString() { return error }
        if token.is(.end), let surplus, surplus.end.lowerBound > opener.range.lowerBound { return stray() }
        let isTable = opener.kind == .brace
        if isTable, token.is(.assign) || token.is(.colon) {
            let key = last.spelling(in: text)
            if case .string = last.kind {
                return SyntaxError("a key that is a string must be in brackets", hint: "write [\(key)] = value", at: last.range)
            }
            return SyntaxError("a key that is not a plain name must be in brackets", hint: "write [\"…\"] = value", at: token.range)
        }
        if opener.kind == .arguments, token.is(.assign), case .name = last.kind {
            return SyntaxError(
                "a call cannot have named arguments",
                hint: "pass a table: { \(last.spelling(in: text)) = … }, with braces instead of parentheses",
                at: token.range)
        }
        if token.is(.assign) { return singleEquals() }
        if token.beginsValue, !isOutside(opener) {
            switch opener.kind {
            case .brace:
                return SyntaxError(
                    "a comma is missing between two fields of the table", hint: "put , before \(phrase)", at: last.range.upperBound)
            case .arguments:
                return SyntaxError(
                    "a comma or ) is missing before \(phrase)", hint: "separate arguments with commas; join strings with ..",
                    at: last.range.upperBound)
            default:
                return SyntaxError(
                    "an operator or \(closer.rawValue) is missing before \(phrase)", hint: "join strings with ..",
                    at: last.range.upperBound)
            }
        }
        let place =
            token.kind == .end ? "close it with \(closer.rawValue)" : "put \(closer.rawValue) before \(phrase) in line \(line(token.range))"
        let isBlock = isTable && token.beginsStatement
        return SyntaxError(
            "this \(opener.word) is not closed",
            hint: isBlock ? "\(place); blocks have no braces: write them between then, do or function(…) and end" : place, at: opener.range)
    }

    // MARK: - Words

    /// Reads the `then` or `do` that must follow the head of a statement.
    mutating func expect(_ word: Keyword, after owner: String) throws(SyntaxError) {
        if token.is(word) { return try advance() }
        if let error = textAfterString() { throw error }
        if token.is(.assign) { throw singleEquals() }
        let other = word == .then ? Keyword.do : .then
        if token.is(other) {
            throw SyntaxError(
                "\"\(owner)\" needs \"\(word.rawValue)\", not \"\(other.rawValue)\"", hint: "write \(word.rawValue)", at: token.range)
        }
        let hint =
            last.is(.rightBrace)
            ? "blocks have no braces: write them between \"\(word.rawValue)\" and \"end\""
            : owner == "for" ? "write \"do\" after its last value" : "write \"\(word.rawValue)\" after the condition"
        throw SyntaxError("\"\(word.rawValue)\" is missing after \"\(owner)\"", hint: hint, at: last.range.upperBound)
    }

    /// The error for one `=` where `==` is meant.
    func singleEquals() -> SyntaxError {
        SyntaxError("= assigns and is only allowed in statements", hint: "to compare write ==", at: token.range)
    }

    /// Whether the present token begins a line that is indented no more than the opener's line.
    private func isOutside(_ opener: Opener) -> Bool {
        text.isFirstInLine(token.range.lowerBound) && line(token.range) != line(opener.range)
            && text.indentation(at: token.range.lowerBound) <= text.indentation(at: opener.range.lowerBound)
    }

    func line(_ range: Range<Int>) -> Int { text.line(at: range.lowerBound) }

    /// The present token, worded for use in an error message.
    var phrase: String {
        switch token.kind {
        case .end: "the end of the file"
        case .string: "this string"
        case .name, .keyword: "\"\(token.spelling(in: text))\""
        case .symbol(let sign) where [.dot, .comma, .colon, .semicolon, .concatenate, .ellipsis].contains(sign): "\"\(sign.rawValue)\""
        case .symbol, .integer, .number: token.spelling(in: text)
        }
    }
}

extension Parser.Opener {
    var word: String {
        switch kind {
        case .arguments: "("
        default: kind.rawValue
        }
    }
}

extension Token {
    func spelling(in text: SourceText) -> String { text[range] }

    fileprivate var beginsStatement: Bool {
        guard case .keyword(let word) = kind else { return false }
        return [.if, .while, .for, .local, .return, .repeat, .do, .break, .goto].contains(word)
    }
}
