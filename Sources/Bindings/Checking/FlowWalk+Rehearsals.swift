import LuaSyntax

// What is done on every target, and what only where phones are simulated.
extension FlowWalk {
    /// Notes a call that the target cannot do; whether it counts shows when the whole script has been read.
    mutating func noteAbsence(of binding: Binding, at range: Range<Int>) {
        guard let remark = Remark(absenceOf: binding, on: target, at: range) else { return }
        absences.append((code.current, remark))
    }

    mutating func reportAbsences() {
        guard !absences.isEmpty else { return }
        let ordinary = code.ordinary
        for (part, remark) in absences where ordinary.contains(part) { report(remark) }
    }

    /// Whether what a binding is given runs where phones are simulated alone; tests run there always. What a call is given
    /// that the target cannot do needs no finding of its own.
    func isApart(_ binding: Binding?) -> Bool {
        guard let binding else { return false }
        return binding.name == Binding.rehearse.name || binding.name.hasPrefix("push.test.")
            || binding.needs != nil && !target.isSimulated
    }

    /// Functions that a call is given run there, or where the function that is called names its parameter.
    mutating func noteUses(in arguments: CallArguments, to callee: Expression? = nil) {
        var parameters: [Name] = []
        if case .name(let name)? = callee?.kind, let variable = variable(at: name) { parameters = bodies[variable]?.parameters ?? [] }
        for (place, value) in arguments.values.enumerated() {
            let parameter = place < parameters.count ? variable(at: parameters[place]) : nil
            noteUse(parameter.map { .by(.variable($0)) } ?? .here, of: value)
        }
    }

    /// Says of the functions in a value how they are used.
    mutating func noteUse(_ use: OrdinaryCode.Use, of value: Expression) {
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

    /// A function that gets a name.
    mutating func noteUse(as name: Name, of value: Expression) {
        guard let variable = variable(at: name) else { return noteUse(.by(.global(name.text)), of: value) }
        noteUse(.by(.variable(variable)), of: value)
        if case .function(let body) = value.kind, chunk.scopes.variables[variable].assignments == 0 { bodies[variable] = body }
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

    /// A module that hands its functions on does not call them.
    func isHandedOn(_ value: Expression) -> Bool {
        switch value.kind {
        case .name, .function: true
        case .table(let fields): fields.allSatisfy { isHandedOn($0.value) }
        default: false
        }
    }
}

extension Block {
    /// Nothing behind the statement that it belongs to is reached.
    var isLeft: Bool {
        switch statements.last?.kind {
        case .return, .goto, .break: true
        default: false
        }
    }
}
