/// Resolves the names of a script: declares its variables, and tracks functions, blocks and labels as Lua's compiler does.
struct NameResolver {
    private(set) var scopes: Scopes
    private var functions: [FunctionState] = []
    /// Variables in scope by name, innermost last.
    private var visible: [String: [Int]] = [:]

    init(_ scopes: Scopes) {
        self.scopes = scopes
    }

    // MARK: - Functions

    /// Enters the script itself.
    mutating func enterScript() {
        functions.append(FunctionState(isVariadic: true))
        functions[0].upvalues = [Self.environment]
        functions[0].enterBlock(isLoop: false)
    }

    mutating func enterFunction(isVariadic: Bool) { functions.append(FunctionState(isVariadic: isVariadic)) }

    mutating func leaveFunction() { functions.removeLast() }

    /// Whether the innermost function has a `...` parameter.
    var isVariadic: Bool { functions[functions.count - 1].isVariadic }

    // MARK: - Variables

    private static let environment = -1

    var registers: Int { functions[functions.count - 1].registers }

    private mutating func change(_ body: (inout FunctionState) -> Void) { body(&functions[functions.count - 1]) }

    mutating func declare(
        _ name: Name, _ role: Scopes.Variable.Role, attribute: LocalName.Attribute? = nil, isCompileTimeConstant: Bool = false
    ) {
        let index = scopes.declare(
            Scopes.Variable(
                name: name.text, declaration: name.range, role: role, attribute: attribute,
                isCompileTimeConstant: isCompileTimeConstant, level: functions.count - 1))
        visible[name.text, default: []].append(index)
        change { function in
            function.locals.append(index)
            if !isCompileTimeConstant { function.registers += 1 }
        }
    }

    /// Declares the control variables of a loop, which the script cannot name.
    mutating func declareHidden(_ count: Int) {
        change { function in
            function.locals += Array(repeating: nil, count: count)
            function.registers += count
        }
    }

    mutating func requireCapacity(forLocals count: Int, at range: Range<Int>) throws(SyntaxError) {
        guard functions[functions.count - 1].locals.count + count > FunctionState.maximumLocals else { return }
        throw SyntaxError(
            "a function can have \(FunctionState.maximumLocals) locals at a time", hint: "put some of them into a table, or into do … end",
            at: range)
    }

    mutating func resolve(_ name: Name) throws(SyntaxError) {
        guard let index = visible[name.text]?.last else {
            let environment = visible["_ENV"]?.last
            scopes.note(environment == nil ? .global : .environment, at: name)
            return try use(environment, at: name)
        }
        scopes.note(.variable(index), at: name)
        try use(index, at: name)
    }

    /// Records the use of a variable; nil is the table of globals.
    private mutating func use(_ index: Int?, at name: Name) throws(SyntaxError) {
        let variable = index.map { scopes.variables[$0] }
        if variable?.isCompileTimeConstant == true { return }
        let key = index ?? Self.environment
        for level in stride(from: functions.count - 1, to: variable?.level ?? -1, by: -1) {
            guard functions[level].upvalues.insert(key).inserted else { return }
            guard functions[level].upvalues.count <= FunctionState.maximumUpvalues else {
                throw SyntaxError(
                    "a function can use \(FunctionState.maximumUpvalues) locals of the functions around it",
                    hint: "put some of them into a table",
                    at: name.range)
            }
        }
    }

    /// Records an assignment. Throws if the variable is a constant.
    mutating func assign(to name: Name) throws(SyntaxError) {
        try resolve(name)
        if case .variable(let index)? = scopes.reference(at: name.range.lowerBound),
            let attribute = scopes.variables[index].attribute
        {
            throw SyntaxError(
                "\"\(name.text)\" is <\(attribute.rawValue)>: nothing else can be assigned to it",
                hint: "declare it without <\(attribute.rawValue)>, or use another name", at: name.range)
        }
        scopes.noteAssignment(to: name)
    }

    /// Whether the compiler knows the value (`luaK_exp2const`). Constant folding covers only the common cases.
    func isConstant(_ value: Expression) -> Bool {
        switch value.kind {
        case .nil, .true, .false, .integer, .number, .string: return true
        case .parenthesized(let inner): return isConstant(inner)
        case .unary(.minus, let inner), .unary(.complement, let inner): return isNumeral(inner)
        case .name:
            guard case .variable(let index)? = scopes.reference(at: value.range.lowerBound) else { return false }
            return scopes.variables[index].isCompileTimeConstant
        default: return false
        }
    }

    private func isNumeral(_ value: Expression) -> Bool {
        switch value.kind {
        case .integer, .number: true
        case .parenthesized(let inner): isNumeral(inner)
        default: false
        }
    }

    func isLocal(_ value: Expression) -> Bool {
        guard case .name = value.kind, case .variable(let index)? = scopes.reference(at: value.range.lowerBound) else { return false }
        return scopes.variables[index].level == functions.count - 1
    }

    // MARK: - Blocks and labels

    mutating func enterBlock(isLoop: Bool = false) { change { $0.enterBlock(isLoop: isLoop) } }

    mutating func leaveBlock() throws(SyntaxError) {
        let last = functions.count - 1
        let first = functions[last].blocks.last?.locals ?? 0
        for case let index? in functions[last].locals[first...] {
            visible[scopes.variables[index].name]?.removeLast()
        }
        guard let jump = functions[last].leaveBlock() else { return }
        guard let name = jump.name else {
            throw SyntaxError("this \"break\" is not in a loop", hint: "to return from a function, write return", at: jump.range)
        }
        throw SyntaxError(
            "there is no label \"\(name)\" for this \"goto\"",
            hint: name == "continue"
                ? "put ::continue:: as the last line of the loop"
                : "put the label ::\(name):: into the same block or an enclosing one of the same function", at: jump.range)
    }

    mutating func jump(to name: String?, at range: Range<Int>) {
        change { function in
            if let name, function.label(named: name) != nil { return }
            let jump = FunctionState.Jump(name: name, range: range, locals: function.locals.count)
            function.blocks[function.blocks.count - 1].jumps.append(jump)
        }
    }

    /// Declares a label. `isLast`: only labels and semicolons follow in the block, so its locals count as out of scope.
    mutating func label(_ name: Name, isLast: Bool) throws(SyntaxError) {
        let last = functions.count - 1
        let index = functions[last].blocks.count - 1
        if let other = functions[last].label(named: name.text) {
            throw SyntaxError(
                "the label \"\(name.text)\" already exists", hint: "give one of them another name", at: max(name.range, other.range))
        }
        let locals = isLast ? functions[last].blocks[index].locals : functions[last].locals.count
        let jumps = functions[last].blocks[index].jumps.filter { $0.name == name.text }
        functions[last].blocks[index].labels[name.text] = FunctionState.Label(range: name.range, locals: locals)
        functions[last].blocks[index].jumps.removeAll { $0.name == name.text }
        guard let jump = jumps.first(where: { $0.locals < locals }) else { return }
        let entered = functions[last].locals[jump.locals].map { scopes.variables[$0].name } ?? "(loop)"
        throw SyntaxError(
            "this \"goto\" jumps into the scope of the local \"\(entered)\"",
            hint: "declare the local before the goto, or put what is between into do … end", at: jump.range)
    }
}

/// The range that begins later.
private func max(_ left: Range<Int>, _ right: Range<Int>) -> Range<Int> {
    left.lowerBound >= right.lowerBound ? left : right
}
