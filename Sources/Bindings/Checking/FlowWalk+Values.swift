import Lua
import LuaSyntax

extension FlowWalk {
    /// Evaluates an expression. `isTested`: the script handles nil here.
    mutating func value(of expression: Expression, isTested: Bool = false) -> Knowledge {
        func literal(_ content: ArgumentContent<SourceValue>) -> Knowledge { .value(SourceValue(content, at: expression.range)) }
        switch expression.kind {
        case .nil: return literal(.nil)
        case .true: return literal(.boolean(true))
        case .false: return literal(.boolean(false))
        case .integer(let value): return literal(.integer(value))
        case .number(let value): return literal(.number(value))
        case .varargs: return .unknown
        case .string(let bytes):
            scan(bytes, at: expression.range)
            var value = SourceValue(expression.text.map { .string($0) } ?? .bytes(bytes), at: expression.range)
            value.literal = expression.range
            return .value(value)
        case .name(let name): return value(of: name, isTested: isTested)
        case .function(let body):
            return .function(results: function(body, used: uses.code.use(ofFunctionAt: expression.range.lowerBound)))
        case .parenthesized(let inner): return value(of: inner, isTested: isTested)
        case .table(let fields): return .value(table(fields, at: expression.range))
        case .unary(let sign, let operand): return value(of: sign, operand, at: expression.range)
        case .operations(let first, let operations): return value(of: first, operations)
        case .suffixed(let first, let suffixes): return value(of: first, suffixes)
        }
    }

    /// Evaluates a name. `isUsed`: it is called, or one of its fields is read.
    mutating func value(of name: Name, isTested: Bool = false, isUsed: Bool = false) -> Knowledge {
        switch chunk.scopes.reference(at: name.range.lowerBound) {
        case .variable(let local)?:
            uses.code.note(.variable(local))
            if targetDependentLocals.contains(local) { readsTarget = true }
            let knowledge = known[local] ?? .unknown
            // The script may have checked for nil before, so a nil value is uncertain here.
            return knowledge.isNil && !isUnconditional ? .unknown : knowledge
        case .global?:
            uses.code.note(.global(name.text))
            return global(name, isTested: isTested, isUsed: isUsed)
        case .environment?, nil: return .unknown
        }
    }

    /// Evaluates a value with suffixes. `isUsed`: a field of the result is read or assigned.
    private mutating func value(of first: Expression, _ suffixes: [Suffix], isUsed: Bool = false) -> Knowledge {
        if suffixes.first?.isCall == true { uses.noteUse(.here, of: first) }
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
            if suffix.reads { requireFields(of: current, at: start..<end) }
            switch suffix.kind {
            case .field(let name):
                uses.code.note(.field(name.text))
                current = member(name, of: current, isUsed: isUsed)
            case .index(let key):
                _ = value(of: key)
                if let text = key.text {
                    uses.code.note(.field(text))
                    current = member(Name(text: text, range: key.range), of: current, isUsed: isUsed)
                } else if case .list(let element) = current {
                    current = element
                } else if case .dictionary(let element) = current {
                    current = element
                } else {
                    current = .unknown
                }
            case .call(let arguments):
                uses.noteUses(in: arguments, to: index == 0 ? first : nil)
                current = call(current, arguments, at: start..<end)
            case .method(let name, let arguments):
                uses.code.note(.field(name.text))
                uses.noteUses(in: arguments)
                current = call(name, of: current, arguments, at: start..<name.range.upperBound)
            }
        }
        return current
    }

    /// Reports a value that has no fields.
    private mutating func requireFields(of owner: Knowledge, at range: Range<Int>) {
        switch owner {
        case .value(let value):
            switch value.content {
            case .nil, .boolean, .integer, .number, .function: refuse(.index, value.content.typeName, at: range)
            case .unknown, .string, .bytes, .table, .object: break
            }
        case .binding(let binding) where !vocabulary.isNamespace(binding.name) && vocabulary.type(labelled: binding.name) == nil:
            refuse(.index, "function", at: range)
        case .function, .require, .iteration: refuse(.index, "function", at: range)
        default: break
        }
    }

    private mutating func table(_ fields: [TableField], at range: Range<Int>) -> SourceValue {
        var array: [SourceValue] = []
        var named: [String: SourceValue] = [:]
        var keys: [String: Range<Int>] = [:]
        var isComplete = true
        for (index, field) in fields.enumerated() {
            if case .name(let name) = field.key { uses.noteUse(.by(.field(name.text)), of: field.value) }
            let knowledge = value(of: field.value)
            let item = knowledge.argument(at: field.value.range, vocabulary)
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
            scan(field.value, named: name.text)
            if let first = keys[name.text] {
                report(
                    SourceFinding(
                        "check.duplicate_key", "the key \"\(name.text)\" occurs twice in this table; only the last value is used",
                        hint: "the first is in line \(text.line(at: first.lowerBound)); remove one of them", severity: .warning,
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

    private var operationCheck: OperationCheck { OperationCheck(vocabulary: vocabulary, text: text) }

    /// Evaluates binary operations from left to right.
    mutating func value(of first: Expression, _ operations: [Operation]) -> Knowledge {
        let tests: Set<BinaryOperator> = [.and, .or, .equal, .notEqual]
        let (around, hadAsked) = (uses.code.current, readsTarget)
        readsTarget = false
        defer {
            uses.code.leave(to: around)
            readsTarget = readsTarget || hadAsked
        }
        var left = Operand(value(of: first, isTested: operations.first.map { tests.contains($0.operator) } ?? false), of: first)
        for operation in operations {
            let before = isUnconditional
            if operation.operator == .and || operation.operator == .or {
                isUnconditional = false
                if readsTarget, uses.code.current == around { uses.code.enter(.nowhere) }
            }
            let right = value(of: operation.operand, isTested: tests.contains(operation.operator))
            isUnconditional = before
            let range = left.range.lowerBound..<operation.operand.range.upperBound
            let (knowledge, finding) = operationCheck.result(
                of: operation.operator, left, Operand(right, of: operation.operand), at: range)
            if let finding { report(finding) }
            left = Operand(knowledge, at: range)
        }
        return left.knowledge
    }

    /// Evaluates a unary operation.
    mutating func value(of sign: UnaryOperator, _ operand: Expression, at range: Range<Int>) -> Knowledge {
        let value = value(of: operand, isTested: sign == .not)
        switch sign {
        case .not: return .unknown
        case .length: require(.length, value, operand)
        case .minus: require(.arithmetic, value, operand)
        case .complement: require(.bitwise, value, operand)
        }
        return sign == .minus ? value.negated(at: range) : .unknown
    }

    mutating func require(_ operation: InvalidOperation, _ knowledge: Knowledge, _ expression: Expression) {
        if let finding = operationCheck.finding(operation, Operand(knowledge, of: expression)) { report(finding) }
    }

    mutating func refuse(_ operation: InvalidOperation, _ type: String, at range: Range<Int>) {
        report(operationCheck.refusal(operation, type, at: range))
    }

    // MARK: - Members

    /// Evaluates a field. `isUsed`: it is called, or one of its own fields is read.
    mutating func member(_ name: Name, of owner: Knowledge, isUsed: Bool = false) -> Knowledge {
        switch owner {
        case .namespace(let path): return member(name, inNamespace: path)
        case .binding(let binding):
            if vocabulary.isNamespace(binding.name) { return member(name, inNamespace: binding.name) }
            // A function that is also a table: `push.log`.
            guard let type = vocabulary.type(labelled: binding.name) else { return .unknown }
            return field(name, of: type.name)
        case .instance(let type):
            if type == "push.Target" { readsTarget = true }
            guard let handle = vocabulary.handle(of: type) else { return field(name, of: type) }
            if let method = vocabulary.binding(named: "\(handle):\(name.text)") { return .binding(method) }
            requireMember(name, of: handle)
            return .unknown
        case .dictionary(let element): return element
        case .library(let library): return member(name, inLibrary: library, isUsed: isUsed)
        case .options(let names):
            guard !names.contains(name.text), !globals.assignedFields.contains(name.text) else { return .unknown }
            var error = LuaError.unknownName(name.text, in: "the table of push.args", known: names)
            error.code = "check.unknown_option"
            error.hint = names.isEmpty ? "push.args declares no option" : "push.args declares \(names.sorted().joined(separator: ", "))"
            report(SourceFinding(error, severity: .warning, at: name.range))
            return .unknown
        case .unknown, .value, .list, .function, .require, .iteration, .iterated: return .unknown
        }
    }

    private mutating func member(_ name: Name, inNamespace path: String) -> Knowledge {
        let full = "\(path).\(name.text)"
        if let binding = vocabulary.binding(named: full) {
            return binding.style == .value ? vocabulary.knowledge(of: binding.returns?.type ?? "") : .binding(binding)
        }
        if vocabulary.isNamespace(full) { return .namespace(full) }
        if let method = vocabulary.binding(named: "\(path):\(name.text)") { return .binding(method) }
        report(SourceFinding(.unknownName(name.text, in: path, known: vocabulary.names(in: path)), at: name.range))
        return .unknown
    }

    /// Evaluates a field of a table that a binding returns.
    private mutating func field(_ name: Name, of type: String) -> Knowledge {
        guard let description = vocabulary.type(named: type), !description.fields.isEmpty else { return .unknown }
        if let matcher = description.label.flatMap({ Matchers.named("\($0).\(name.text)") }) { return .binding(matcher) }
        if let field = description.fields.first(where: { $0.name == name.text }) { return vocabulary.knowledge(of: field.type) }
        let known = description.fields.map(\.name)
        if let label = description.label {
            report(SourceFinding(.unknownName(name.text, in: label, known: known), at: name.range))
        } else if !globals.assignedFields.contains(name.text) {
            var error = LuaError.unknownName(name.text, in: "a \(type)", known: known)
            error.code = "check.unknown_field"
            report(SourceFinding(error, severity: .warning, at: name.range))
        }
        return .unknown
    }

    mutating func requireMember(_ name: Name, of handle: String) {
        let members = vocabulary.members(of: handle)
        guard !members.contains(name.text) else { return }
        report(SourceFinding(.unknownMember(name.text, of: handle, names: Array(members)), at: name.range))
    }

    private mutating func member(_ name: Name, inLibrary library: String, isUsed: Bool) -> Knowledge {
        let names = LuaLibrary.libraries[library] ?? []
        guard !names.contains(name.text), !globals.assignedFields.contains(name.text) else { return .unknown }
        if library == "math", LuaLibrary.olderMath.contains(name.text) { return .unknown }
        let full = "\(library).\(name.text)"
        if let hint = HostFunctions.absent[full] ?? HostFunctions.absent[library] {
            checkAbsentName(full, hint: hint, isUsed: isUsed, at: name.range)
        } else if LuaLibrary.strict.contains(library) {
            checkAbsentName(full, hint: "\(library) has \(names.sorted().joined(separator: ", "))", isUsed: isUsed, at: name.range)
        } else {
            report(SourceFinding(.unknownName(name.text, in: library, known: Array(names)), at: name.range))
        }
        return .unknown
    }

    /// Handles a name that the sandbox lacks, which is nil. Testing it is accepted. Using it is reported unless the script tested it
    /// before.
    mutating func checkAbsentName(_ name: String, hint: String, isUsed: Bool, at range: Range<Int>) {
        if !isUsed {
            testedNames.insert(name)
        } else if !testedNames.contains(name) {
            report(SourceFinding(.absent(name, hint: hint), at: range))
        }
    }

    // MARK: - Assignments

    /// Checks the target of an assignment.
    mutating func assign(to target: Expression) {
        switch target.kind {
        case .name(let name): assign(toGlobal: name)
        case .suffixed(let first, let suffixes):
            guard let last = suffixes.last else { return }
            let owner = value(of: first, suffixes.dropLast(), isUsed: true)
            requireFields(of: owner, at: first.range.lowerBound..<last.range.lowerBound)
            switch last.kind {
            case .field(let name): assign(name, of: owner)
            case .index(let key):
                _ = value(of: key)
                if let text = key.text { assign(Name(text: text, range: key.range), of: owner) }
            case .call, .method: break
            }
        default: break
        }
    }

    mutating func assign(_ name: Name, of owner: Knowledge) {
        switch owner {
        case .namespace(let path): report(SourceFinding(.readOnly(name.text, in: path), at: name.range))
        case .instance(let type):
            guard let handle = vocabulary.handle(of: type) else { return }
            report(SourceFinding(.readOnlyHandle(handle), at: name.range))
        default: break
        }
    }
}

extension Knowledge {
    func negated(at range: Range<Int>) -> Knowledge {
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

extension LuaError {
    /// The sandbox's own message for an unavailable name (sandbox.c).
    fileprivate static func absent(_ name: String, hint: String) -> LuaError {
        .misuse("sandbox.absent", "\(name) is not available to scripts", hint: hint)
    }

    /// The runtime's own message for an assignment to a handle (functions.c).
    fileprivate static func readOnlyHandle(_ type: String) -> LuaError {
        .misuse("script.read_only", "a \(type) cannot be changed by assigning to its fields", hint: "keep it in a local variable")
    }
}
