/// A sequence of statements with its own scope.
package struct Block: Sendable {
    package let statements: [Statement]
    package let range: Range<Int>
}

package struct Statement: Sendable {
    package indirect enum Kind: Sendable {
        /// `;`
        case empty
        case local([LocalName], [Expression])
        case assignment([Expression], [Expression])
        case call(Expression)
        case `do`(Block)
        case `while`(Expression, Block)
        case `repeat`(Block, until: Expression)
        case `if`([Branch], else: Block?)
        case numericFor(Name, [Expression], Block)
        case genericFor([Name], [Expression], Block)
        case function(FunctionName, FunctionBody)
        case localFunction(Name, FunctionBody)
        case label(Name)
        case goto(Name)
        case `break`
        case `return`([Expression])
    }

    package let kind: Kind
    package let range: Range<Int>
}

package struct LocalName: Sendable {
    package enum Attribute: String, CaseIterable, Sendable { case const, close }

    package let name: Name
    package let attribute: Attribute?
}

package struct Branch: Sendable {
    package let condition: Expression
    package let block: Block
}

/// The name in a function statement: `a.b.c:d`.
package struct FunctionName: Sendable {
    package let first: Name
    package let fields: [Name]
    /// Whether the last field follows a colon.
    package let isMethod: Bool
}
