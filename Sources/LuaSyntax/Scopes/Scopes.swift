/// Resolves the names of a script to variables and globals.
package struct Scopes: Sendable {
    package struct Variable: Sendable {
        package enum Role: Sendable { case local, parameter, loop, function, receiver }

        package let name: String
        package let declaration: Range<Int>
        package let role: Role
        let attribute: LocalName.Attribute?
        /// The value is known to the compiler, so the variable occupies no register.
        let isCompileTimeConstant: Bool
        /// Nesting level of the declaring function; 0 is the script itself.
        let level: Int
        /// Number of assignments after the declaration.
        package fileprivate(set) var assignments = 0
    }

    package enum Reference: Sendable, Equatable {
        /// A local variable, as an index into `variables`.
        case variable(Int)
        case global
        /// A field of a local variable named `_ENV`.
        case environment
    }

    package fileprivate(set) var variables: [Variable] = []
    /// Assignments to globals, in source order.
    package fileprivate(set) var assignedGlobals: [Name] = []
    private var references: [Int: Reference] = [:]

    /// Throws an error that Lua's grammar allows but its compiler reports: invalid jumps, assigned constants, exceeded limits.
    init(of block: Block) throws(SyntaxError) {
        var walk = ScopeWalk(Scopes())
        try walk.script(block)
        self = walk.scopes
    }

    private init() {}

    /// The meaning of the name that begins at `offset`; also for the name of a declaration.
    package func reference(at offset: Int) -> Reference? { references[offset] }

    mutating func declare(_ variable: Variable) -> Int {
        variables.append(variable)
        // The parameter `self` of a method does not appear in the source.
        if variable.role != .receiver { references[variable.declaration.lowerBound] = .variable(variables.count - 1) }
        return variables.count - 1
    }

    mutating func note(_ reference: Reference, at name: Name) { references[name.range.lowerBound] = reference }

    mutating func noteAssignment(to name: Name) {
        switch references[name.range.lowerBound] {
        case .variable(let index)?: variables[index].assignments += 1
        case .global?: assignedGlobals.append(name)
        case .environment?, nil: break
        }
    }
}
