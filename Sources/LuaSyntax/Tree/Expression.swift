/// A name and its position in the source.
package struct Name: Sendable, Equatable {
    package let text: String
    package let range: Range<Int>

    package init(text: String, range: Range<Int>) {
        self.text = text
        self.range = range
    }
}

/// An expression.
///
/// Chains such as `a.b.c` and `1 + 2 + 3` are stored as lists, so the tree is never deeper than the nesting of the script.
package struct Expression: Sendable {
    package indirect enum Kind: Sendable {
        case `nil`
        case `true`
        case `false`
        case varargs
        case integer(Int64)
        case number(Double)
        case string([UInt8])
        case name(Name)
        case function(FunctionBody)
        case table([TableField])
        case parenthesized(Expression)
        case unary(UnaryOperator, Expression)
        /// A chain of binary operations, evaluated from left to right: `((first op a) op b) op c`.
        case operations(Expression, [Operation])
        /// A value followed by fields, indices and calls.
        case suffixed(Expression, [Suffix])
    }

    package let kind: Kind
    package let range: Range<Int>
}

extension Expression {
    /// Whether the expression is a call of a function or method.
    package var isCall: Bool {
        guard case .suffixed(_, let suffixes) = kind else { return false }
        return suffixes.last?.isCall == true
    }

    /// Whether the expression can produce any number of values at the end of a list.
    package var isMultiple: Bool {
        if case .varargs = kind { true } else { isCall }
    }

    /// Whether the expression can be the target of an assignment.
    var isAssignable: Bool {
        switch kind {
        case .name: true
        case .suffixed(_, let suffixes): suffixes.last?.isCall == false
        default: false
        }
    }
}

package struct Operation: Sendable {
    package let `operator`: BinaryOperator
    package let operand: Expression
}

package struct Suffix: Sendable {
    package enum Kind: Sendable {
        case field(Name)
        case index(Expression)
        case call(CallArguments)
        case method(Name, CallArguments)
    }

    package let kind: Kind
    /// The range from the dot, colon or bracket on.
    package let range: Range<Int>

    package var isCall: Bool {
        switch kind {
        case .call, .method: true
        case .field, .index: false
        }
    }
}

package struct CallArguments: Sendable {
    package let values: [Expression]
    /// The range of the arguments: the parentheses, or the single table or string.
    package let range: Range<Int>
}

package struct TableField: Sendable {
    package enum Key: Sendable {
        /// No key: the next index of the list.
        case position
        case name(Name)
        case computed(Expression)
    }

    package let key: Key
    package let value: Expression
    package let range: Range<Int>
}

package struct FunctionBody: Sendable {
    package let parameters: [Name]
    package let isVariadic: Bool
    /// Whether the function is written with a colon, which adds a parameter `self`.
    package let isMethod: Bool
    package let block: Block
    /// The range from the opening parenthesis to `end`.
    package let range: Range<Int>
}

package enum UnaryOperator: String, Sendable {
    case not
    case minus = "-"
    case complement = "~"
    case length = "#"
}

package enum BinaryOperator: String, CaseIterable, Sendable {
    case or, and
    case less = "<"
    case greater = ">"
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case notEqual = "~="
    case equal = "=="
    case bitOr = "|"
    case bitXor = "~"
    case bitAnd = "&"
    case shiftLeft = "<<"
    case shiftRight = ">>"
    case concatenate = ".."
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case floorDivide = "//"
    case modulo = "%"
    case power = "^"

    /// Left and right binding strength (`priority` in lparser.c).
    var strength: (left: Int, right: Int) {
        switch self {
        case .or: (1, 1)
        case .and: (2, 2)
        case .less, .greater, .lessOrEqual, .greaterOrEqual, .notEqual, .equal: (3, 3)
        case .bitOr: (4, 4)
        case .bitXor: (5, 5)
        case .bitAnd: (6, 6)
        case .shiftLeft, .shiftRight: (7, 7)
        case .concatenate: (9, 8)
        case .add, .subtract: (10, 10)
        case .multiply, .divide, .floorDivide, .modulo: (11, 11)
        case .power: (14, 13)
        }
    }

    static let unaryStrength = 12

    init?(_ token: Token) {
        switch token.kind {
        case .symbol(let symbol):
            guard let found = Self.bySymbol[symbol] else { return nil }
            self = found
        case .keyword(.and): self = .and
        case .keyword(.or): self = .or
        default: return nil
        }
    }

    private static let bySymbol = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { found in Symbol(rawValue: found.rawValue).map { ($0, found) } })
}
