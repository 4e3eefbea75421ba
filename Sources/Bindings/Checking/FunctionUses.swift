import LuaSyntax

/// Records how a script uses its functions, to separate code that runs on every target from code that runs only where devices are
/// simulated.
struct FunctionUses: Sendable {
    private let chunk: Chunk
    var code = UnconditionalCode()
    /// Bodies of local functions whose variable is never reassigned.
    private var bodies: [Int: FunctionBody] = [:]

    init(_ chunk: Chunk) { self.chunk = chunk }

    /// Records the function of a variable; nil if the variable is reassigned.
    mutating func note(_ body: FunctionBody?, of variable: Int) { bodies[variable] = body }

    /// Records the use of functions passed to a call: they run here, or where the called function uses the parameter.
    mutating func noteUses(in arguments: CallArguments, to callee: Expression? = nil) {
        var parameters: [Name] = []
        if case .name(let name)? = callee?.kind, let variable = chunk.variable(at: name) { parameters = bodies[variable]?.parameters ?? [] }
        for (index, value) in arguments.values.enumerated() {
            let parameter = index < parameters.count ? chunk.variable(at: parameters[index]) : nil
            noteUse(parameter.map { .by(.variable($0)) } ?? .here, of: value)
        }
    }

    /// Records how the functions in a value are used.
    mutating func noteUse(_ use: UnconditionalCode.Use, of value: Expression) {
        switch value.kind {
        case .function: code.note(use, ofFunctionAt: value.range.lowerBound)
        case .parenthesized(let inner): noteUse(use, of: inner)
        case .operations(let first, let operations):
            noteUse(use, of: first)
            for operation in operations { noteUse(use, of: operation.operand) }
        case .table(let fields):
            for field in fields {
                if use != .here, case .name(let name) = field.key {
                    noteUse(.by(.field(name.text)), of: field.value)
                } else {
                    noteUse(use, of: field.value)
                }
            }
        default: break
        }
    }

    /// Records a function that is assigned to a name.
    mutating func noteUse(as name: Name, of value: Expression) {
        guard let variable = chunk.variable(at: name) else { return noteUse(.by(.global(name.text)), of: value) }
        noteUse(.by(.variable(variable)), of: value)
        if case .function(let body) = value.kind, chunk.scopes.variables[variable].assignments == 0 { note(body, of: variable) }
    }

    mutating func noteUse(asTarget target: Expression, of value: Expression) {
        switch target.kind {
        case .name(let name): noteUse(as: name, of: value)
        case .suffixed(_, let suffixes):
            switch suffixes.last?.kind {
            case .field(let name)?: noteUse(.by(.field(name.text)), of: value)
            case .index(let key)?: noteUse(key.text.map { .by(.field($0)) } ?? .nowhere, of: value)
            default: break
            }
        default: break
        }
    }

    /// Whether the value is a function, a name or a table of them. A module that returns such a value does not call its functions.
    func isReturnedUncalled(_ value: Expression) -> Bool {
        switch value.kind {
        case .name, .function: true
        case .table(let fields): fields.allSatisfy { isReturnedUncalled($0.value) }
        default: false
        }
    }
}

extension Chunk {
    /// The variable that a name refers to; nil for a global.
    func variable(at name: Name) -> Int? {
        if case .variable(let index)? = scopes.reference(at: name.range.lowerBound) { index } else { nil }
    }
}

extension Block {
    /// Whether control never continues after the block's statement.
    var isLeft: Bool {
        switch statements.last?.kind {
        case .return, .goto, .break: true
        default: false
        }
    }
}
