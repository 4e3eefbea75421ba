// Counts the registers of an expression as Lua's code generator does (lcode.c), which rejects functions that need too many.

extension ScopeWalk {
    mutating func visit(_ values: [Expression], at base: Int) throws(SyntaxError) {
        for (place, value) in values.enumerated() { try visit(value, at: base + place) }
    }

    /// Visits an expression whose value is stored in register `base`.
    mutating func visit(_ value: Expression, at base: Int) throws(SyntaxError) {
        switch value.kind {
        case .nil, .true, .false, .integer, .number, .string: break
        case .varargs:
            guard functions[functions.count - 1].isVariadic else {
                throw SyntaxError(
                    "this function has no ... parameter", hint: "add ... to its parameters", at: value.range)
            }
        case .name(let name): try resolve(name)
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
            var held = isLocal(first) ? 0 : 1
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
                try visit(field.value, at: next + (isLocal(key) || isConstant(key) ? 0 : 1))
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
            default: return !isLocal(left)
            }
        }
    }

    /// Number of registers that an indexed target occupies until it is assigned to.
    func heldRegisters(of target: Expression) -> Int {
        guard case .suffixed(let first, let suffixes) = target.kind else { return 0 }
        let table = suffixes.count == 1 && isLocal(first) ? 0 : 1
        guard case .index(let key)? = suffixes.last?.kind else { return table }
        return table + (isLocal(key) || isConstant(key) ? 0 : 1)
    }

    func demand(_ registers: Int, at range: Range<Int>) throws(SyntaxError) {
        guard registers > FunctionState.maximumRegisters else { return }
        throw SyntaxError(
            "this needs more than the \(FunctionState.maximumRegisters) registers of a function",
            hint: "build long lists in a table, piece by piece", at: range)
    }
}
