import LuaSyntax

/// Determines what is known of the values of expressions, and reports operations that fail on them.
struct ExpressionEvaluator {
    let script: ScriptKnowledge

    private var members: MemberCheck { MemberCheck(script: script) }
    private var calls: CallCheck { CallCheck(script: script) }
    private var globals: GlobalCheck { GlobalCheck(script: script) }

    /// Evaluates an expression. `isTested`: the script handles nil here.
    func value(of expression: Expression, isTested: Bool = false) -> Knowledge {
        func literal(_ content: ArgumentContent<SourceValue>) -> Knowledge { .value(SourceValue(content, at: expression.range)) }
        switch expression.kind {
        case .nil: return literal(.nil)
        case .true: return literal(.boolean(true))
        case .false: return literal(.boolean(false))
        case .integer(let value): return literal(.integer(value))
        case .number(let value): return literal(.number(value))
        case .varargs: return .unknown
        case .string(let bytes):
            script.scan(bytes, at: expression.range)
            var value = SourceValue(expression.text.map { .string($0) } ?? .bytes(bytes), at: expression.range)
            value.literal = expression.range
            return .value(value)
        case .name(let name): return value(of: name, isTested: isTested)
        case .function(let body):
            let use = script.uses.code.use(ofFunctionAt: expression.range.lowerBound)
            return .function(results: FlowWalk.result(of: body, used: use, in: script))
        case .parenthesized(let inner): return value(of: inner, isTested: isTested)
        case .table(let fields): return .value(table(fields, at: expression.range))
        case .unary(let sign, let operand): return value(of: sign, operand, at: expression.range)
        case .operations(let first, let operations): return value(of: first, operations)
        case .suffixed(let first, let suffixes): return value(of: first, suffixes)
        }
    }

    /// Evaluates a list of expressions. The last one may produce more values.
    func list(_ values: [Expression]) -> [Knowledge] { values.map { value(of: $0) } }

    /// Evaluates a name. `isUsed`: it is called, or one of its fields is read.
    func value(of name: Name, isTested: Bool = false, isUsed: Bool = false) -> Knowledge {
        switch script.chunk.scopes.reference(at: name.range.lowerBound) {
        case .variable(let local)?:
            script.uses.code.note(.variable(local))
            if script.targetDependentLocals.contains(local) { script.readsTarget = true }
            let knowledge = script.known[local] ?? .unknown
            // The script may have checked for nil before, so a nil value is uncertain here.
            return knowledge.isNil && !script.isUnconditional ? .unknown : knowledge
        case .global?:
            script.uses.code.note(.global(name.text))
            return globals.value(of: name, isTested: isTested, isUsed: isUsed)
        case .environment?, nil: return .unknown
        }
    }

    /// Evaluates a value with suffixes. `isUsed`: a field of the result is read or assigned.
    private func value(of first: Expression, _ suffixes: [Suffix], isUsed: Bool = false) -> Knowledge {
        if suffixes.first?.isCall == true { script.uses.noteUse(.here, of: first) }
        // A name before a dot is always used, even if the whole expression is only tested.
        var current: Knowledge
        if case .name(let name) = first.kind {
            current = value(of: name, isUsed: isUsed || !suffixes.isEmpty)
        } else {
            current = value(of: first)
        }
        var end = first.range.upperBound
        for (index, suffix) in suffixes.enumerated() {
            let start = first.range.lowerBound
            defer { end = suffix.range.upperBound }
            let isUsed = isUsed || index + 1 < suffixes.count
            if suffix.reads { members.requireFields(of: current, at: start..<end) }
            switch suffix.kind {
            case .field(let name):
                script.uses.code.note(.field(name.text))
                current = members.value(of: name, of: current, isUsed: isUsed)
            case .index(let key):
                _ = value(of: key)
                if let text = key.text {
                    script.uses.code.note(.field(text))
                    current = members.value(of: Name(text: text, range: key.range), of: current, isUsed: isUsed)
                } else if case .list(let element) = current {
                    current = element
                } else if case .dictionary(let element) = current {
                    current = element
                } else {
                    current = .unknown
                }
            case .call(let arguments):
                script.uses.noteUses(in: arguments, to: index == 0 ? first : nil)
                let known = known(arguments, to: start..<end, of: current.binding)
                current = calls.result(of: current, known)
            case .method(let name, let arguments):
                script.uses.code.note(.field(name.text))
                script.uses.noteUses(in: arguments)
                let method = script.vocabulary.method(name.text, of: current)
                let known = known(arguments, to: start..<name.range.upperBound, of: method)
                current = calls.result(of: name, method, of: current, known)
            }
        }
        return current
    }

    /// Evaluates the arguments of a call. `binding` is the called binding, if it is one.
    private func known(_ arguments: CallArguments, to callee: Range<Int>, of binding: Binding?) -> KnownArguments {
        let around = script.uses.code.current
        if script.runsOnlySimulated(binding) { script.uses.code.enter(.nowhere) }
        defer { script.uses.code.leave(to: around) }
        var known = KnownArguments(knowledge: list(arguments.values), values: [], isComplete: true, callee: callee)
        if let last = arguments.values.last, last.isMultiple, known.knowledge.last?.isUnknown == true {
            known.knowledge.removeLast()
            known.isComplete = false
        } else if let last = arguments.values.last, last.isCall, known.knowledge.last?.isNil == true {
            // A call that returns nothing adds no argument.
            known.knowledge.removeLast()
        }
        known.values = zip(known.knowledge, arguments.values).map { $0.argument(at: $1.range, script.vocabulary) }
        return known
    }

    private func table(_ fields: [TableField], at range: Range<Int>) -> SourceValue {
        var array: [SourceValue] = []
        var named: [String: SourceValue] = [:]
        var keys: [String: Range<Int>] = [:]
        var isComplete = true
        for (index, field) in fields.enumerated() {
            if case .name(let name) = field.key { script.uses.noteUse(.by(.field(name.text)), of: field.value) }
            let knowledge = value(of: field.value)
            let item = knowledge.argument(at: field.value.range, script.vocabulary)
            let name: Name
            switch field.key {
            case .position:
                // A call at the end of a list can produce any number of values.
                if index == fields.count - 1, field.value.isMultiple, knowledge.isUnknown {
                    isComplete = false
                } else {
                    array.append(item)
                }
                continue
            case .name(let key): name = key
            case .computed(let key):
                _ = value(of: key)
                guard let text = key.text else {
                    isComplete = false
                    continue
                }
                name = Name(text: text, range: key.range)
            }
            script.scan(field.value, named: name.text)
            if let first = keys[name.text] {
                let line = script.text.line(at: first.lowerBound)
                script.report(
                    SourceFinding(
                        "check.duplicate_key", "the key \"\(name.text)\" occurs twice in this table; only the last value is used",
                        hint: "the first is in line \(line); remove one of them", severity: .warning,
                        at: name.range))
            }
            named[name.text] = item.content.isNil ? nil : item
            keys[name.text] = name.range
        }
        var value = SourceValue(.table(array: array, fields: named, isComplete: isComplete), at: range)
        value.keys = keys
        return value
    }

    // MARK: - Operations

    /// Evaluates binary operations from left to right.
    private func value(of first: Expression, _ operations: [Operation]) -> Knowledge {
        let tests: Set<BinaryOperator> = [.and, .or, .equal, .notEqual]
        let (around, hadAsked) = (script.uses.code.current, script.readsTarget)
        script.readsTarget = false
        defer {
            script.uses.code.leave(to: around)
            script.readsTarget = script.readsTarget || hadAsked
        }
        var left = Operand(value(of: first, isTested: operations.first.map { tests.contains($0.operator) } ?? false), of: first)
        for operation in operations {
            let before = script.isUnconditional
            if operation.operator == .and || operation.operator == .or {
                script.isUnconditional = false
                if script.readsTarget, script.uses.code.current == around { script.uses.code.enter(.nowhere) }
            }
            let right = value(of: operation.operand, isTested: tests.contains(operation.operator))
            script.isUnconditional = before
            let range = left.range.lowerBound..<operation.operand.range.upperBound
            let (knowledge, finding) = script.operationCheck.result(
                of: operation.operator, left, Operand(right, of: operation.operand), at: range)
            if let finding { script.report(finding) }
            left = Operand(knowledge, at: range)
        }
        return left.knowledge
    }

    /// Evaluates a unary operation.
    private func value(of sign: UnaryOperator, _ operand: Expression, at range: Range<Int>) -> Knowledge {
        let value = value(of: operand, isTested: sign == .not)
        switch sign {
        case .not: return .unknown
        case .length: require(.length, value, operand)
        case .minus: require(.arithmetic, value, operand)
        case .complement: require(.bitwise, value, operand)
        }
        return sign == .minus ? value.negated(at: range) : .unknown
    }

    /// Reports a value that does not support the operation.
    func require(_ operation: InvalidOperation, _ knowledge: Knowledge, _ expression: Expression) {
        if let finding = script.operationCheck.finding(operation, Operand(knowledge, of: expression)) { script.report(finding) }
    }

    // MARK: - Assignments

    /// Checks the target of an assignment.
    func assign(to target: Expression) {
        switch target.kind {
        case .name(let name): globals.assign(to: name)
        case .suffixed(let first, let suffixes):
            guard let last = suffixes.last else { return }
            let owner = value(of: first, suffixes.dropLast(), isUsed: true)
            members.requireFields(of: owner, at: first.range.lowerBound..<last.range.lowerBound)
            switch last.kind {
            case .field(let name): members.assign(name, of: owner)
            case .index(let key):
                _ = value(of: key)
                if let text = key.text { members.assign(Name(text: text, range: key.range), of: owner) }
            case .call, .method: break
            }
        default: break
        }
    }

    /// Checks the name in a function statement.
    func assign(to name: FunctionName) {
        guard let last = name.fields.last else { return globals.assign(to: name.first) }
        var owner = value(of: name.first)
        for field in name.fields.dropLast() { owner = members.value(of: field, of: owner) }
        members.assign(last, of: owner)
    }
}

extension Knowledge {
    fileprivate func negated(at range: Range<Int>) -> Knowledge {
        guard case .value(let value) = self else { return .unknown }
        switch value.content {
        case .integer(let number): return .value(SourceValue(.integer(0 &- number), at: range))
        case .number(let number): return .value(SourceValue(.number(-number), at: range))
        default: return .unknown
        }
    }
}

extension Suffix {
    /// Whether the suffix reads a field or method of the value before it.
    fileprivate var reads: Bool {
        if case .call = kind { false } else { true }
    }
}

extension Expression {
    /// The text of a string literal.
    var text: String? {
        guard case .string(let bytes) = kind else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
