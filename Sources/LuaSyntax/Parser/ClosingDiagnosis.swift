/// Finds the error for blocks and brackets that are not closed, and for closing words that close nothing.
struct ClosingDiagnosis {
    let tokens: TokenStream
    let nesting: Nesting

    private var misplaced: MisplacedTokenDiagnosis { MisplacedTokenDiagnosis(tokens: tokens, nesting: nesting) }

    // MARK: - Blocks

    /// The error for an innermost block that ends without its closing word.
    func missingEnd() -> SyntaxError {
        guard let block = nesting.open.last else { return stray() }
        if let range = block.elseIf {
            return SyntaxError(
                "this \"else if\" opens an \"if\" within the \"if\" of line \(line(block.range)), and one \"end\" is missing",
                hint: "write elseif, as one word", at: range)
        }
        if let doubt = nesting.doubt {
            let word = doubt.closed.kind.rawValue
            return SyntaxError(
                "the \"\(word)\" of line \(line(doubt.closed.range)) has no \"end\"",
                hint:
                    "the \"end\" in line \(line(doubt.end)) is indented like the \"\(doubt.meant.word)\" of line \(line(doubt.meant.range)), but closes this \"\(word)\"",
                at: doubt.closed.range)
        }
        let closer = block.kind == .repeat ? "until" : "end"
        let message = "the \"\(block.word)\" of line \(line(block.range)) has no \"\(closer)\""
        if case .keyword(let word) = tokens.current.kind, word == .else || word == .elseif, block.kind != .if {
            return SyntaxError(
                message, hint: "the \"\(word.rawValue)\" of line \(line(tokens.current.range)) belongs to an \"if\"",
                at: block.range)
        }
        let place =
            tokens.current.kind == .end
            ? "after its last line" : "before \(tokens.phrase) in line \(line(tokens.current.range))"
        return SyntaxError(message, hint: "put \"\(closer)\" \(place)", at: block.range)
    }

    /// The error for a closing word, or another token, that has no matching opener.
    func stray() -> SyntaxError {
        switch tokens.current.kind {
        case .keyword(.end):
            let closed = nesting.surplus.map {
                "the \"\($0.closed.word)\" of line \(line($0.closed.range)) is closed in line \(line($0.end)) already"
            }
            return SyntaxError(
                "this \"end\" closes nothing", hint: "\(closed ?? "every block above is closed already"): one \"end\" is too many",
                at: tokens.current.range)
        case .keyword(.until): return SyntaxError("this \"until\" has no \"repeat\"", at: tokens.current.range)
        case .keyword(let word):
            return SyntaxError(
                "this \"\(word.rawValue)\" has no \"if\"",
                hint: "an \"end\" before it has closed the \"if\" already, or \"then\" is missing",
                at: tokens.current.range)
        default: return SyntaxError("\(tokens.phrase) is not allowed here", at: tokens.current.range)
        }
    }

    func afterReturn() -> SyntaxError {
        if let error = misplaced.textAfterString() { return error }
        if let block = nesting.open.last, isOutside(block) { return missingEnd() }
        return SyntaxError(
            "\"return\" must be the last statement of its block", hint: "remove what follows it, or write do return … end",
            at: tokens.current.range)
    }

    // MARK: - Brackets

    /// The error for a bracket whose closing sign is missing at the present token.
    func unclosed(_ closer: Symbol) -> SyntaxError {
        guard let opener = nesting.open.last else { return stray() }
        if let error = misplaced.textAfterString() { return error }
        if tokens.current.is(.end), let surplus = nesting.surplus, surplus.end.lowerBound > opener.range.lowerBound { return stray() }
        let isTable = opener.kind == .brace
        if isTable, tokens.current.is(.assign) || tokens.current.is(.colon) {
            let key = tokens.previous.spelling(in: tokens.text)
            if case .string = tokens.previous.kind {
                return SyntaxError("a key that is a string must be in brackets", hint: "write [\(key)] = value", at: tokens.previous.range)
            }
            return SyntaxError(
                "a key that is not a plain name must be in brackets", hint: "write [\"…\"] = value", at: tokens.current.range)
        }
        if opener.kind == .arguments, tokens.current.is(.assign), case .name = tokens.previous.kind {
            return SyntaxError(
                "a call cannot have named arguments",
                hint: "pass a table: { \(tokens.previous.spelling(in: tokens.text)) = … }, with braces instead of parentheses",
                at: tokens.current.range)
        }
        if tokens.current.is(.assign) { return singleEquals() }
        if tokens.current.beginsValue, !isOutside(opener) {
            switch opener.kind {
            case .brace:
                return SyntaxError(
                    "a comma is missing between two fields of the table", hint: "put , before \(tokens.phrase)",
                    at: tokens.previous.range.upperBound)
            case .arguments:
                return SyntaxError(
                    "a comma or ) is missing before \(tokens.phrase)", hint: "separate arguments with commas; join strings with ..",
                    at: tokens.previous.range.upperBound)
            default:
                return SyntaxError(
                    "an operator or \(closer.rawValue) is missing before \(tokens.phrase)", hint: "join strings with ..",
                    at: tokens.previous.range.upperBound)
            }
        }
        let place =
            tokens.current.kind == .end
            ? "close it with \(closer.rawValue)"
            : "put \(closer.rawValue) before \(tokens.phrase) in line \(line(tokens.current.range))"
        let isBlock = isTable && tokens.current.beginsStatement
        return SyntaxError(
            "this \(opener.word) is not closed",
            hint: isBlock ? "\(place); blocks have no braces: write them between then, do or function(…) and end" : place, at: opener.range)
    }

    // MARK: - Words

    /// The error for a `then` or `do` that is missing after the head of a statement.
    func missing(_ word: Keyword, after owner: String) -> SyntaxError {
        if let error = misplaced.textAfterString() { return error }
        if tokens.current.is(.assign) { return singleEquals() }
        let other = word == .then ? Keyword.do : .then
        if tokens.current.is(other) {
            return SyntaxError(
                "\"\(owner)\" needs \"\(word.rawValue)\", not \"\(other.rawValue)\"", hint: "write \(word.rawValue)",
                at: tokens.current.range)
        }
        let hint =
            tokens.previous.is(.rightBrace)
            ? "blocks have no braces: write them between \"\(word.rawValue)\" and \"end\""
            : owner == "for" ? "write \"do\" after its last value" : "write \"\(word.rawValue)\" after the condition"
        return SyntaxError("\"\(word.rawValue)\" is missing after \"\(owner)\"", hint: hint, at: tokens.previous.range.upperBound)
    }

    /// The error for one `=` where `==` is meant.
    func singleEquals() -> SyntaxError {
        SyntaxError("= assigns and is only allowed in statements", hint: "to compare write ==", at: tokens.current.range)
    }

    private func line(_ range: Range<Int>) -> Int { tokens.text.line(of: range) }

    /// Whether the present token begins a line that is indented no more than the opener's line.
    private func isOutside(_ opener: Opener) -> Bool {
        tokens.text.isFirstInLine(tokens.current.range.lowerBound)
            && line(tokens.current.range) != line(opener.range)
            && tokens.text.indentation(at: tokens.current.range.lowerBound) <= tokens.text.indentation(at: opener.range.lowerBound)
    }
}

extension Token {
    fileprivate var beginsStatement: Bool {
        guard case .keyword(let word) = kind else { return false }
        return [.if, .while, .for, .local, .return, .repeat, .do, .break, .goto].contains(word)
    }
}
