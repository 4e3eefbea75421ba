/// The tokens of a script, one after the other. The parsers of a script share one stream.
final class TokenStream {
    let text: SourceText
    private var lexer: Lexer
    private(set) var current: Token
    private var ahead: Token?
    private(set) var previous: Token
    /// The last `//`, which may have been meant as a comment.
    var floorDivision: Range<Int>?

    init(_ text: SourceText) throws(SyntaxError) {
        self.text = text
        var lexer = Lexer(text)
        current = try lexer.next()
        self.lexer = lexer
        previous = Token(kind: .end, range: text.start..<text.start)
    }

    var comments: [Range<Int>] { lexer.comments }

    func advance() throws(SyntaxError) {
        previous = current
        current = try peek()
        ahead = nil
    }

    /// Returns the token after the present one without consuming it.
    func peek() throws(SyntaxError) -> Token {
        if let ahead { return ahead }
        let next = try lexer.next()
        ahead = next
        return next
    }

    func skip(_ symbol: Symbol) throws(SyntaxError) -> Bool {
        guard current.is(symbol) else { return false }
        try advance()
        return true
    }

    func skip(_ keyword: Keyword) throws(SyntaxError) -> Bool {
        guard current.is(keyword) else { return false }
        try advance()
        return true
    }

    /// The range from `start` to the end of the previous token.
    func range(from start: Int) -> Range<Int> { start..<max(start, previous.range.upperBound) }

    func misplacedQuote(_ position: Int) -> SyntaxError { lexer.misplacedQuote(position) }

    /// The present token, worded for use in an error message.
    var phrase: String {
        switch current.kind {
        case .end: "the end of the file"
        case .string: "this string"
        case .name, .keyword: "\"\(current.spelling(in: text))\""
        case .symbol(let sign) where [.dot, .comma, .colon, .semicolon, .concatenate, .ellipsis].contains(sign): "\"\(sign.rawValue)\""
        case .symbol, .integer, .number: current.spelling(in: text)
        }
    }
}

extension Token {
    func spelling(in text: SourceText) -> String { text[range] }
}
