/// What the names of a script stand for.
package struct Scopes: Sendable {
    package struct Variable: Sendable {
        package enum Role: Sendable { case local, parameter, loop, function, receiver }

        package let name: String
        package let declaration: Range<Int>
        package let role: Role
        let attribute: LocalName.Attribute?
        /// Its value is known to the compiler, so that it takes no register.
        let isCompileTimeConstant: Bool
        /// Of the functions around it, counted from the script itself.
        let level: Int
        /// How often it is assigned to after its declaration.
        package fileprivate(set) var assignments = 0
    }

    package enum Reference: Sendable, Equatable {
        /// An index into `variables`.
        case variable(Int)
        case global
        /// A field of a local named `_ENV`.
        case environment
    }

    package fileprivate(set) var variables: [Variable] = []
    /// Where globals are assigned to, in the order of the script.
    package fileprivate(set) var assignedGlobals: [Name] = []
    private var references: [Int: Reference] = [:]

    /// Throws what Lua refuses although its grammar allows it: jumps, constants, limits.
    init(of block: Block) throws(SyntaxError) {
        var walk = ScopeWalk(Scopes())
        try walk.script(block)
        self = walk.scopes
    }

    private init() {}

    /// What the name that begins at an offset stands for, or declares.
    package func reference(at offset: Int) -> Reference? { references[offset] }

    mutating func declare(_ variable: Variable) -> Int {
        variables.append(variable)
        // A receiver is written nowhere.
        if variable.role != .receiver { references[variable.declaration.lowerBound] = .variable(variables.count - 1) }
        return variables.count - 1
    }

    mutating func note(_ reference: Reference, at name: Name) { references[name.range.lowerBound] = reference }

    mutating func noteAssignment(to name: Name) {
        switch references[name.range.lowerBound] {
        case .variable(let place)?: variables[place].assignments += 1
        case .global?: assignedGlobals.append(name)
        case .environment?, nil: break
        }
    }
}
