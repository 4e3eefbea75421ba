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

    /// How error messages name it.
    var word: String {
        switch kind {
        case .arguments: "("
        default: kind.rawValue
        }
    }
}

/// An `end` that closes one block but is indented like another.
struct MisplacedEnd {
    let closed: Opener
    let end: Range<Int>
    let meant: Opener
}
