/// Parses a script by recursive descent in the same order as lparser.c of Lua 5.4, so that both accept the same scripts.
struct Parser {
    let text: SourceText
    private var lexer: Lexer
    private(set) var token: Token
    private var ahead: Token?
    /// The previous token.
    private(set) var last: Token
    /// Openers that are not yet closed, innermost last.
    var open: [Opener] = []
    /// The first `end` that is not indented like the block that it closes.
    private(set) var doubt: MisplacedEnd?
    /// The first `end` that is indented further than the block that it closes. It may be one too many.
    private(set) var surplus: (closed: Opener, end: Range<Int>)?
    /// The last `//`, which may have been meant as a comment.
    var floorDivision: Range<Int>?
    private var levels = 0

    /// Maximum nesting depth of statements and expressions: LUAI_MAXCCALLS minus the two levels used by the compiling call.
    static let maximumLevels = 198

    /// A token that needs a closing word or sign.
    struct Opener {
        enum Kind: String {
            case function, `if`, `do`, `while`, `for`, `repeat`
            case parenthesis = "("
            /// The opening parenthesis of a call.
            case arguments
            case brace = "{"
            case bracket = "["
        }

        let kind: Kind
        let range: Range<Int>
        /// For an `if`: the range of the `else if` in it.
        var elseIf: Range<Int>?
    }

    /// An `end` that closes one block but is indented like another.
    struct MisplacedEnd {
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

    /// Returns the token after the present one without consuming it.
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

    /// The range from `start` to the end of the last token.
    func range(from start: Int) -> Range<Int> { start..<max(start, last.range.upperBound) }

    func misplacedQuote(_ place: Int) -> SyntaxError { lexer.misplacedQuote(place) }

    // MARK: - Levels

    mutating func enter(_ count: Int = 1) throws(SyntaxError) {
        levels += count
        guard levels <= Self.maximumLevels else {
            throw SyntaxError(
                "this is nested too deeply: the limit is \(Self.maximumLevels) levels", hint: "assign part of it to a local variable",
                at: token.range)
        }
    }

    mutating func leave(_ count: Int = 1) { levels -= count }

    // MARK: - Openers

    /// Records the present token as an opener.
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

    /// Clears the suspicious `end`s. Called between top-level statements, which do not affect each other.
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
        if let meant { doubt = MisplacedEnd(closed: closed, end: token.range, meant: meant) }
    }
}
