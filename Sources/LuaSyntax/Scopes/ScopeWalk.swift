/// Visits a script in the order of Lua's compiler.
///
/// It counts the registers of expressions as Lua's code generator does (lcode.c), which rejects functions that need too many.
struct ScopeWalk {
    private var names: NameResolver

    init(_ scopes: Scopes) {
        names = NameResolver(scopes)
    }

    var scopes: Scopes { names.scopes }

    mutating func script(_ block: Block) throws(SyntaxError) {
        names.enterScript()
        try statements(block)
        try names.leaveBlock()
    }

    // MARK: - Statements

    mutating func statements(_ block: Block, isRepeated: Bool = false) throws(SyntaxError) {
        for (index, statement) in block.statements.enumerated() {
            switch statement.kind {
            case .label(let name):
                // The condition of a `repeat` still sees the locals of its block.
                let isLast = !isRepeated && block.statements[(index + 1)...].allSatisfy(\.isIdle)
                try names.label(name, isLast: isLast)
            default: try visit(statement)
            }
        }
    }

    mutating func block(_ block: Block, isLoop: Bool = false) throws(SyntaxError) {
        names.enterBlock(isLoop: isLoop)
        try statements(block)
        try names.leaveBlock()
    }

    private mutating func visit(_ statement: Statement) throws(SyntaxError) {
        switch statement.kind {
        case .empty, .label: break
        case .local(let names, let values): try local(names, values)
        case .assignment(let targets, let values): try assignment(targets, values)
        case .call(let call): try visit(call, at: names.registers)
        case .do(let block): try self.block(block)
        case .while(let condition, let block):
            try visit(condition, at: names.registers)
            try self.block(block, isLoop: true)
        case .repeat(let block, let condition):
            names.enterBlock(isLoop: true)
            names.enterBlock()
            try statements(block, isRepeated: true)
            try visit(condition, at: names.registers)
            try names.leaveBlock()
            try names.leaveBlock()
        case .if(let branches, let otherwise):
            for branch in branches {
                try visit(branch.condition, at: names.registers)
                try block(branch.block)
            }
            if let otherwise { try block(otherwise) }
        case .numericFor(let name, let values, let block): try loop([name], values, hidden: 3, block, at: statement.range)
        case .genericFor(let names, let values, let block): try loop(names, values, hidden: 4, block, at: statement.range)
        case .function(let name, let body):
            if name.fields.isEmpty { try names.assign(to: name.first) } else { try names.resolve(name.first) }
            try function(body)
        case .localFunction(let name, let body):
            try names.requireCapacity(forLocals: 1, at: name.range)
            names.declare(name, .function)
            try demand(names.registers, at: name.range)
            try function(body)
        case .goto(let name): names.jump(to: name.text, at: name.range)
        case .break: names.jump(to: nil, at: statement.range)
        case .return(let values): try visit(values, at: names.registers)
        }
    }

    private mutating func local(_ locals: [LocalName], _ values: [Expression]) throws(SyntaxError) {
        guard let last = locals.last else { return }
        try names.requireCapacity(forLocals: locals.count, at: last.name.range)
        let base = names.registers
        try visit(values, at: base)
        let isConstant = locals.count == values.count && last.attribute == .const && values.last.map { names.isConstant($0) } == true
        try demand(base + locals.count - (isConstant ? 1 : 0), at: last.name.range)
        for (index, name) in locals.enumerated() {
            names.declare(
                name.name, .local, attribute: name.attribute,
                isCompileTimeConstant: isConstant && index == locals.count - 1)
        }
    }

    private mutating func assignment(_ targets: [Expression], _ values: [Expression]) throws(SyntaxError) {
        var base = names.registers
        for target in targets {
            if case .name(let name) = target.kind {
                try names.assign(to: name)
            } else {
                try visit(target, at: base)
                base += heldRegisters(of: target)
            }
        }
        try visit(values, at: base)
    }

    private mutating func loop(
        _ variables: [Name], _ values: [Expression], hidden: Int, _ block: Block, at range: Range<Int>
    ) throws(SyntaxError) {
        try names.requireCapacity(forLocals: hidden + variables.count, at: variables.last?.range ?? range)
        let base = names.registers
        try visit(values, at: base)
        names.enterBlock(isLoop: true)
        names.declareHidden(hidden)
        names.enterBlock()
        for name in variables { names.declare(name, .loop) }
        try demand(names.registers, at: range)
        try self.block(block)
        try names.leaveBlock()
        try names.leaveBlock()
    }

    // MARK: - Functions

    mutating func function(_ body: FunctionBody) throws(SyntaxError) {
        names.enterFunction(isVariadic: body.isVariadic)
        names.enterBlock()
        if body.isMethod {
            names.declare(Name(text: "self", range: body.range.lowerBound..<body.range.lowerBound), .receiver)
        }
        try names.requireCapacity(forLocals: body.parameters.count, at: body.parameters.last?.range ?? body.range)
        for parameter in body.parameters { names.declare(parameter, .parameter) }
        try statements(body.block)
        try names.leaveBlock()
        names.leaveFunction()
    }

    // MARK: - Expressions

    mutating func visit(_ values: [Expression], at base: Int) throws(SyntaxError) {
        for (index, value) in values.enumerated() { try visit(value, at: base + index) }
    }

    /// Visits an expression whose value is stored in register `base`.
    mutating func visit(_ value: Expression, at base: Int) throws(SyntaxError) {
        switch value.kind {
        case .nil, .true, .false, .integer, .number, .string: break
        case .varargs:
            guard names.isVariadic else {
                throw SyntaxError(
                    "this function has no ... parameter", hint: "add ... to its parameters", at: value.range)
            }
        case .name(let name): try names.resolve(name)
        case .function(let body): try function(body)
        case .parenthesized(let inner), .unary(_, let inner): try visit(inner, at: base)
        case .table(let fields): try visit(fields, at: base)
        case .operations(let first, let operations):
            try visit(first, at: base)
            var left: Expression? = first
            for operation in operations {
                try visit(operation.operand, at: base + (holds(left, operation.operator) ? 1 : 0))
                left = nil
            }
        case .suffixed(let first, let suffixes):
            try visit(first, at: base)
            var held = names.isLocal(first) ? 0 : 1
            for suffix in suffixes {
                switch suffix.kind {
                case .field: break
                case .index(let key): try visit(key, at: base + held)
                case .call(let arguments):
                    try visit(arguments.values, at: base + 1)
                    try demand(base + 1 + arguments.values.count, at: suffix.range)
                case .method(_, let arguments):
                    try visit(arguments.values, at: base + 2)
                    try demand(base + 2 + arguments.values.count, at: suffix.range)
                }
                held = 1
            }
        }
        try demand(base + 1, at: value.range)
    }

    private mutating func visit(_ fields: [TableField], at base: Int) throws(SyntaxError) {
        // List values wait in registers until they are stored, at most fifty at a time.
        var waiting = 0
        for field in fields {
            let next = base + 1 + waiting
            switch field.key {
            case .name: try visit(field.value, at: next)
            case .computed(let key):
                try visit(key, at: next)
                try visit(field.value, at: next + (names.isLocal(key) || names.isConstant(key) ? 0 : 1))
            case .position:
                if waiting == 50 { waiting = 0 }
                try visit(field.value, at: base + 1 + waiting)
                waiting += 1
            }
        }
    }

    /// Whether the left operand occupies a register while the right one is computed. Nil is the result of an earlier operation.
    private func holds(_ left: Expression?, _ operation: BinaryOperator) -> Bool {
        switch operation {
        case .and, .or: return false
        case .concatenate: return true
        default:
            guard let left else { return true }
            switch left.kind {
            case .integer, .number: return false
            case .nil, .true, .false, .string: return operation != .equal && operation != .notEqual
            default: return !names.isLocal(left)
            }
        }
    }

    /// Number of registers that an indexed target occupies until it is assigned to.
    func heldRegisters(of target: Expression) -> Int {
        guard case .suffixed(let first, let suffixes) = target.kind else { return 0 }
        let table = suffixes.count == 1 && names.isLocal(first) ? 0 : 1
        guard case .index(let key)? = suffixes.last?.kind else { return table }
        return table + (names.isLocal(key) || names.isConstant(key) ? 0 : 1)
    }

    func demand(_ registers: Int, at range: Range<Int>) throws(SyntaxError) {
        guard registers > FunctionState.maximumRegisters else { return }
        throw SyntaxError(
            "this needs more than the \(FunctionState.maximumRegisters) registers of a function",
            hint: "build long lists in a table, piece by piece", at: range)
    }
}

extension Statement {
    /// Whether the statement generates no code.
    fileprivate var isIdle: Bool {
        switch kind {
        case .empty, .label: true
        default: false
        }
    }
}
