/// A token of Lua.
package struct Token: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case name(String)
        case keyword(Keyword)
        case symbol(Symbol)
        /// The value of a string literal, with escapes replaced.
        case string([UInt8])
        case integer(Int64)
        case number(Double)
        case end
    }

    package let kind: Kind
    package let range: Range<Int>

    func `is`(_ keyword: Keyword) -> Bool { kind == .keyword(keyword) }
    func `is`(_ symbol: Symbol) -> Bool { kind == .symbol(symbol) }

    /// Whether the token begins a value and cannot continue the previous one. After a value it means that a comma is missing.
    var beginsValue: Bool {
        switch kind {
        case .name, .string, .integer, .number, .symbol(.leftBrace), .symbol(.leftBracket), .symbol(.ellipsis): true
        case .keyword(let word): [.function, .nil, .true, .false, .not].contains(word)
        default: false
        }
    }
}

package enum Keyword: String, CaseIterable, Sendable {
    case and, `break`, `do`, `else`, elseif, end, `false`, `for`, function, goto, `if`, `in`, local, `nil`, not, or, `repeat`
    case `return`, then, `true`, until, `while`

    static func named(_ word: String) -> Keyword? { byName[word] }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
}

package enum Symbol: String, CaseIterable, Sendable {
    case plus = "+"
    case minus = "-"
    case star = "*"
    case slash = "/"
    case doubleSlash = "//"
    case percent = "%"
    case caret = "^"
    case hash = "#"
    case ampersand = "&"
    case tilde = "~"
    case pipe = "|"
    case shiftLeft = "<<"
    case shiftRight = ">>"
    case equal = "=="
    case notEqual = "~="
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case less = "<"
    case greater = ">"
    case assign = "="
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case leftBrace = "{"
    case rightBrace = "}"
    case leftBracket = "["
    case rightBracket = "]"
    case label = "::"
    case semicolon = ";"
    case colon = ":"
    case comma = ","
    case dot = "."
    case concatenate = ".."
    case ellipsis = "..."

    static func spelled(_ bytes: ArraySlice<UInt8>) -> Symbol? { bySpelling[packed(bytes)] }

    private static let bySpelling = Dictionary(uniqueKeysWithValues: allCases.map { (packed($0.rawValue.utf8), $0) })

    private static func packed(_ bytes: some Sequence<UInt8>) -> UInt32 { bytes.reduce(1) { $0 << 8 | UInt32($1) } }
}
