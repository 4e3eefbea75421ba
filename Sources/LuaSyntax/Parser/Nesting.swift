/// The blocks and brackets that are open at one point of a script. The parsers of a script share one nesting.
final class Nesting {
    private let text: SourceText
    /// Openers that are not yet closed, innermost last.
    var open: [Opener] = []
    /// The first `end` that is not indented like the block that it closes.
    private(set) var doubt: MisplacedEnd?
    /// The first `end` that is indented further than the block that it closes. It may be one too many.
    private(set) var surplus: (closed: Opener, end: Range<Int>)?
    private var levels = 0

    /// Maximum nesting depth of statements and expressions: LUAI_MAXCCALLS minus the two levels used by the compiling call.
    static let maximumLevels = 198

    init(_ text: SourceText) {
        self.text = text
    }

    func enter(_ count: Int = 1, at token: Token) throws(SyntaxError) {
        levels += count
        guard levels <= Self.maximumLevels else {
            throw SyntaxError(
                "this is nested too deeply: the limit is \(Self.maximumLevels) levels", hint: "assign part of it to a local variable",
                at: token.range)
        }
    }

    func leave(_ count: Int = 1) { levels -= count }

    /// Records a token as an opener.
    func push(_ kind: Opener.Kind, at token: Token) { open.append(Opener(kind: kind, range: token.range)) }

    /// Closes the innermost opener.
    func pop() { open.removeLast() }

    /// Closes the innermost block with its `end`.
    func popBlock(at end: Token) {
        noteDoubt(end)
        open.removeLast()
    }

    /// Clears the suspicious `end`s. Called between top-level statements, which do not affect each other.
    func forgetDoubts() {
        doubt = nil
        surplus = nil
    }

    private func noteDoubt(_ token: Token) {
        guard let closed = open.last, text.isFirstInLine(token.range.lowerBound) else { return }
        let indentation = text.indentation(at: token.range.lowerBound)
        let usual = text.indentation(at: closed.range.lowerBound)
        if indentation > usual, surplus == nil, text.line(of: token.range) != text.line(of: closed.range) {
            surplus = (closed, token.range)
        }
        guard doubt == nil, indentation < usual else { return }
        let meant = open.dropLast().last { text.indentation(at: $0.range.lowerBound) == indentation }
        if let meant { doubt = MisplacedEnd(closed: closed, end: token.range, meant: meant) }
    }
}
