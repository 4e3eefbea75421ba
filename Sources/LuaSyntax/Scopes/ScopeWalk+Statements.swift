extension ScopeWalk {
    mutating func statements(_ block: Block, isRepeated: Bool = false) throws(SyntaxError) {
        for (place, statement) in block.statements.enumerated() {
            switch statement.kind {
            case .label(let name):
                // The condition of a `repeat` still sees the locals of its block.
                let isLast = !isRepeated && block.statements[(place + 1)...].allSatisfy(\.isIdle)
                try label(name, isLast: isLast)
            default: try visit(statement)
            }
        }
    }

    mutating func block(_ block: Block, isLoop: Bool = false) throws(SyntaxError) {
        enterBlock(isLoop: isLoop)
        try statements(block)
        try leaveBlock()
    }

    private mutating func visit(_ statement: Statement) throws(SyntaxError) {
        switch statement.kind {
        case .empty, .label: break
        case .local(let names, let values): try local(names, values)
        case .assignment(let targets, let values): try assignment(targets, values)
        case .call(let call): try visit(call, at: registers)
        case .do(let block): try self.block(block)
        case .while(let condition, let block):
            try visit(condition, at: registers)
            try self.block(block, isLoop: true)
        case .repeat(let block, let condition):
            enterBlock(isLoop: true)
            enterBlock()
            try statements(block, isRepeated: true)
            try visit(condition, at: registers)
            try leaveBlock()
            try leaveBlock()
        case .if(let branches, let otherwise):
            for branch in branches {
                try visit(branch.condition, at: registers)
                try block(branch.block)
            }
            if let otherwise { try block(otherwise) }
        case .numericFor(let name, let values, let block): try loop([name], values, hidden: 3, block, at: statement.range)
        case .genericFor(let names, let values, let block): try loop(names, values, hidden: 4, block, at: statement.range)
        case .function(let name, let body):
            if name.fields.isEmpty { try assign(to: name.first) } else { try resolve(name.first) }
            try function(body)
        case .localFunction(let name, let body):
            try requireCapacity(forLocals: 1, at: name.range)
            declare(name, .function)
            try demand(registers, at: name.range)
            try function(body)
        case .goto(let name): jump(to: name.text, at: name.range)
        case .break: jump(to: nil, at: statement.range)
        case .return(let values): try visit(values, at: registers)
        }
    }

    private mutating func local(_ names: [LocalName], _ values: [Expression]) throws(SyntaxError) {
        guard let last = names.last else { return }
        try requireCapacity(forLocals: names.count, at: last.name.range)
        let base = registers
        try visit(values, at: base)
        let isConstant = names.count == values.count && last.attribute == .const && values.last.map { self.isConstant($0) } == true
        try demand(base + names.count - (isConstant ? 1 : 0), at: last.name.range)
        for (place, name) in names.enumerated() {
            declare(
                name.name, .local, attribute: name.attribute,
                isCompileTimeConstant: isConstant && place == names.count - 1)
        }
    }

    private mutating func assignment(_ targets: [Expression], _ values: [Expression]) throws(SyntaxError) {
        var base = registers
        for target in targets {
            if case .name(let name) = target.kind {
                try assign(to: name)
            } else {
                try visit(target, at: base)
                base += heldRegisters(of: target)
            }
        }
        try visit(values, at: base)
    }

    private mutating func loop(
        _ names: [Name], _ values: [Expression], hidden: Int, _ block: Block, at range: Range<Int>
    ) throws(SyntaxError) {
        try requireCapacity(forLocals: hidden + names.count, at: names.last?.range ?? range)
        let base = registers
        try visit(values, at: base)
        enterBlock(isLoop: true)
        declareHidden(hidden)
        enterBlock()
        for name in names { declare(name, .loop) }
        try demand(registers, at: range)
        try self.block(block)
        try leaveBlock()
        try leaveBlock()
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
