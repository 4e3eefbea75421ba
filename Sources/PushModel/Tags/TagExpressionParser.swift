/// A recursive descent parser over the scalars of a text. Every level of parentheses or `!` counts towards the maximum depth.
struct TagExpressionParser {
    private enum Token: Equatable {
        case tag(Tag), not, and, or, open, close, end

        var text: String {
            switch self {
            case .tag(let tag): tag.text
            case .not: "!"
            case .and: "&&"
            case .or: "||"
            case .open: "("
            case .close: ")"
            case .end: ""
            }
        }
    }

    private let text: String
    private let scalars: [Unicode.Scalar]
    private var at = 0
    private var token = Token.end
    private var tokenStart = 0
    /// The previous token and its position, for messages.
    private var previous: (token: Token, start: Int)?

    private init(_ text: String) {
        self.text = text
        scalars = Array(text.unicodeScalars)
    }

    static func parse(_ text: String) throws(TagExpressionError) -> TagExpression {
        var parser = TagExpressionParser(text)
        try parser.advance()
        if parser.token == .end {
            throw parser.error(
                at: 0, "The tag expression is empty.", hint: "To reach every device, send without an expression.")
        }
        let expression = try parser.alternatives(depth: 0)
        if parser.token == .close { throw parser.error(at: parser.tokenStart, "This \")\" closes nothing.") }
        return expression
    }

    // MARK: Grammar

    private mutating func alternatives(depth: Int) throws(TagExpressionError) -> TagExpression {
        var terms: [TagExpression] = []
        repeat {
            if !terms.isEmpty { try advance() }
            let term = try conjunction(depth: depth)
            if case .or(let inner) = term { terms += inner } else { terms.append(term) }
        } while token == .or
        switch token {
        case .tag, .not, .open: throw missingOperator()
        default: return terms.count == 1 ? terms[0] : .or(terms)
        }
    }

    private mutating func conjunction(depth: Int) throws(TagExpressionError) -> TagExpression {
        var terms: [TagExpression] = []
        repeat {
            if !terms.isEmpty { try advance() }
            let term = try operand(depth: depth)
            if case .and(let inner) = term { terms += inner } else { terms.append(term) }
        } while token == .and
        return terms.count == 1 ? terms[0] : .and(terms)
    }

    private mutating func operand(depth: Int) throws(TagExpressionError) -> TagExpression {
        guard depth <= TagExpression.maximumDepth else {
            throw error(
                at: tokenStart, "The expression is nested deeper than \(TagExpression.maximumDepth) levels.")
        }
        switch token {
        case .tag(let tag):
            try advance()
            return .tag(tag)
        case .not:
            try advance()
            return .not(try operand(depth: depth + 1))
        case .open:
            let start = tokenStart
            try advance()
            let inner = try alternatives(depth: depth + 1)
            guard token == .close else { throw error(at: start, "This \"(\" is never closed.") }
            try advance()
            return inner
        case .and, .or, .close, .end:
            throw missingOperand()
        }
    }

    // MARK: Tokens

    private mutating func advance() throws(TagExpressionError) {
        if token != .end { previous = (token, tokenStart) }
        while at < scalars.count, TagGrammar.isBlank(scalars[at]) { at += 1 }
        tokenStart = at
        guard at < scalars.count else {
            token = .end
            return
        }
        switch scalars[at] {
        case "!": take(.not)
        case "(": take(.open)
        case ")": take(.close)
        case "&": try takeDouble("&", .and)
        case "|": try takeDouble("|", .or)
        case ",", ";":
            throw error(
                at: at, "\"\(scalars[at])\" is not part of a tag expression.", hint: "Did you mean \"||\"?")
        case "'", "\"":
            throw error(at: at, "Quotes are not part of a tag expression.", hint: "Write tags without quotes.")
        default: try takeTag()
        }
    }

    private mutating func take(_ token: Token) {
        self.token = token
        at += 1
    }

    private mutating func takeDouble(_ sign: Unicode.Scalar, _ token: Token) throws(TagExpressionError) {
        guard at + 1 < scalars.count, scalars[at + 1] == sign else {
            throw error(at: at, "A single \"\(sign)\" is not an operator.", hint: "Did you mean \"\(sign)\(sign)\"?")
        }
        self.token = token
        at += 2
    }

    private mutating func takeTag() throws(TagExpressionError) {
        do throws(TagGrammar.Flaw) {
            at = try TagGrammar.endOfTag(in: scalars, from: at)
        } catch {
            throw self.error(at: error.index, error.message, hint: error.hint)
        }
        do throws(TagError) {
            token = .tag(try Tag(TagGrammar.string(scalars[tokenStart..<at])))
        } catch {
            throw self.error(at: tokenStart, error.message, hint: error.hint)
        }
    }

    // MARK: Messages

    private func error(at index: Int, _ message: String, hint: String? = nil) -> TagExpressionError {
        let position = TagGrammar.characters(in: scalars[..<index]) + 1
        return TagExpressionError(text: text, position: position, message: message, hint: hint)
    }

    private func missingOperand() -> TagExpressionError {
        guard let previous else { return error(at: tokenStart, "A tag is missing before \"\(token.text)\".") }
        switch (previous.token, token) {
        case (.open, .end): return error(at: previous.start, "This \"(\" is never closed.")
        case (.open, .close): return error(at: tokenStart, "There is nothing between the parentheses.")
        case (let before, .end): return error(at: tokenStart, "A tag is missing after \"\(before.text)\".")
        case (let before, let after):
            return error(at: tokenStart, "A tag is missing between \"\(before.text)\" and \"\(after.text)\".")
        }
    }

    private func missingOperator() -> TagExpressionError {
        let words = ["and": "&&", "or": "||", "not": "&& !"]
        if case .tag(let tag) = token, let sign = words[tag.text.lowercased()] {
            return error(at: tokenStart, "\"\(tag)\" is not an operator.", hint: "Did you mean \"\(sign)\"?")
        }
        guard let previous else { return error(at: tokenStart, "An operator is missing.") }
        if case .tag(let tag) = previous.token, tag.text.lowercased() == "not" {
            let meant = token == .not ? "!" : "!\(token.text)"
            return error(at: previous.start, "\"\(tag)\" is not an operator.", hint: "Did you mean \"\(meant)\"?")
        }
        let hint = token == .not ? "Did you mean \"&& !\"?" : "Put \"&&\" (both) or \"||\" (either) between them."
        return error(
            at: tokenStart, "An operator is missing between \"\(previous.token.text)\" and \"\(token.text)\".",
            hint: hint)
    }
}
