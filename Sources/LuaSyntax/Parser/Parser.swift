/// Reads a script by recursive descent, in the order of Lua's own parser (lparser.c of Lua 5.4), so that both accept the same.
struct Parser {
    let text: SourceText
    private var lexer: Lexer
    private(set) var token: Token
    private var ahead: Token?
    /// The token before.
    private(set) var last: Token
    /// What is open here, innermost last.
    var open: [Opener] = []
    /// The first `end` that does not stand under what it closes.
    private(set) var doubt: Doubt?
    /// The first `end` that stands further in than what it closes: it may be one too many.
    private(set) var surplus: (closed: Opener, end: Range<Int>)?
    /// The last `//`: it may have been meant for a comment.
    var floorDivision: Range<Int>?
    private var levels = 0

    /// Statements and expressions that may be open at a time: LUAI_MAXCCALLS less the two of the call that compiles.
    static let maximumLevels = 198

    /// Something that needs a closing word or sign.
    struct Opener {
        enum Kind: String {
            case function, `if`, `do`, `while`, `for`, `repeat`
            case parenthesis = "("
            /// The parenthesis of a call.
            case arguments
            case brace = "{"
            case bracket = "["
        }

        let kind: Kind
        let range: Range<Int>
        /// Of an `if`: the `else if` in it.
        var elseIf: Range<Int>?
    }

    /// An `end` that closes one block and stands under another.
    struct Doubt {
        let closed: Opener
        let end: Range<Int>
        let meant: Opener
    }

    init(_ text: SourceText) throws(SyntaxError) {
        self.text = text
        lexer = Lexer(text)
        token = try lexer.next()
        last = Token(kind: .end, range: text.start..<text.start)
    }

    var comments: [Range<Int>] { lexer.comments }

    mutating func chunk() throws(SyntaxError) -> Block {
        let block = try block()
        guard token.kind == .end else { throw stray() }
        return block
    }

    // MARK: - Tokens

    mutating func advance() throws(SyntaxError) {
        last = token
        token = try peek()
        ahead = nil
    }

    /// The token behind the present one.
    mutating func peek() throws(SyntaxError) -> Token {
        if let ahead { return ahead }
        let next = try lexer.next()
        ahead = next
        return next
    }

    mutating func skip(_ symbol: Symbol) throws(SyntaxError) -> Bool {
        guard token.is(symbol) else { return false }
        try advance()
        return true
    }

    mutating func skip(_ keyword: Keyword) throws(SyntaxError) -> Bool {
        guard token.is(keyword) else { return false }
        try advance()
        return true
    }

    /// From an offset to the end of the last token.
    func range(from start: Int) -> Range<Int> { start..<max(start, last.range.upperBound) }

    func quoteWithin(_ place: Int) -> SyntaxError { lexer.quoteWithin(place) }

    // MARK: - Levels

    mutating func enter(_ count: Int = 1) throws(SyntaxError) {
        levels += count
        guard levels <= Self.maximumLevels else {
            throw SyntaxError(
                "this is nested too deeply: Lua takes \(Self.maximumLevels) levels", hint: "give a part of it a name of its own",
                at: token.range)
        }
    }

    mutating func leave(_ count: Int = 1) { levels -= count }

    // MARK: - Openers

    /// The present token opens something.
    mutating func push(_ kind: Opener.Kind) { open.append(Opener(kind: kind, range: token.range)) }

    /// Reads the sign that closes the innermost opener.
    mutating func close(_ symbol: Symbol) throws(SyntaxError) {
        guard token.is(symbol) else { throw unclosed(symbol) }
        open.removeLast()
        try advance()
    }

    /// Reads the `end` of the innermost block.
    mutating func closeBlock() throws(SyntaxError) {
        guard token.is(.end) else { throw missingEnd() }
        noteDoubt()
        open.removeLast()
        try advance()
    }

    /// What stood out in a statement of the script's outermost level says nothing about the next.
    mutating func forgetDoubts() {
        doubt = nil
        surplus = nil
    }

    private mutating func noteDoubt() {
        guard let closed = open.last, text.isFirstInLine(token.range.lowerBound) else { return }
        let indentation = text.indentation(at: token.range.lowerBound)
        let usual = text.indentation(at: closed.range.lowerBound)
        if indentation > usual, surplus == nil, line(token.range) != line(closed.range) { surplus = (closed, token.range) }
        guard doubt == nil, indentation < usual else { return }
        let meant = open.dropLast().last { text.indentation(at: $0.range.lowerBound) == indentation }
        if let meant { doubt = Doubt(closed: closed, end: token.range, meant: meant) }
    }
}
