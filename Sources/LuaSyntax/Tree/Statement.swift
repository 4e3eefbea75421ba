/// Statements in a scope of their own.
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

/// `a.b.c:d` after `function`.
package struct FunctionName: Sendable {
    package let first: Name
    package let fields: [Name]
    /// The last of the fields follows a colon.
    package let isMethod: Bool
}
