import Lua
import LuaSyntax
import PushModel

/// The arguments of a call, as far as they are certain.
struct KnownArguments {
    var knowledge: [Knowledge]
    var values: [SourceValue]
    /// Whether these are all the arguments.
    var isComplete: Bool
    /// The range of the called function, including what precedes its name.
    var callee: Range<Int>
}

/// Checks calls of values and bindings with their arguments, and determines what is known of their results.
struct CallCheck {
    let script: ScriptKnowledge

    private var vocabulary: Vocabulary { script.vocabulary }
    private var members: MemberCheck { MemberCheck(script: script) }

    /// Checks a call of a value. Returns what is known of its first result.
    func result(of callee: Knowledge, _ given: KnownArguments) -> Knowledge {
        var given = given
        switch callee {
        case .binding(let binding):
            if let type = binding.receiver {
                guard hasReceiver(type, in: given, for: binding) else { return .unknown }
                if !given.knowledge.isEmpty {
                    given.knowledge.removeFirst()
                    given.values.removeFirst()
                }
            }
            return call(binding, given)
        case .function(let results): return results
        case .require: return module(given)
        case .iteration: return given.knowledge.first.map(Knowledge.iterated) ?? .unknown
        case .value(let value):
            switch value.content {
            case .nil, .boolean, .integer, .number, .string, .bytes: script.refuse(.call, value.content.typeName, at: given.callee)
            case .unknown, .table, .function, .object: break
            }
            return .unknown
        case .namespace(let path):
            script.refuse(.call, path, at: given.callee)
            return .unknown
        default: return .unknown
        }
    }

    /// Checks a call of a method by its name. `method` is the binding, if the owner has it.
    func result(of name: Name, _ method: Binding?, of owner: Knowledge, _ given: KnownArguments) -> Knowledge {
        if let method { return call(method, given) }
        switch owner {
        case .namespace(let path):
            if let function = vocabulary.binding(named: "\(path).\(name.text)") {
                script.report(SourceFinding(.functionAsMethod(function), at: name.range))
                return .unknown
            }
            members.reportUnknown(name, inNamespace: path)
            return .unknown
        case .instance(let type):
            guard let handle = vocabulary.handle(of: type) else { return call(name, ofTable: type) }
            members.requireMember(name, of: handle)
            return .unknown
        case .value(let value) where value.content.typeName == "string":
            let methods = LuaLibrary.libraries["string"] ?? []
            guard !methods.contains(name.text), !script.globals.assignedFields.contains(name.text), !script.globals.areOpen else {
                return .unknown
            }
            var error = LuaError.unknownName(name.text, in: "a string", known: Array(methods))
            error.code = "script.error"
            script.report(SourceFinding(error, at: name.range))
            return .unknown
        default: return .unknown
        }
    }

    /// Handles a colon call on a table that a binding returns: `push.expect(1).to:equal(1)`.
    private func call(_ name: Name, ofTable type: String) -> Knowledge {
        if let label = vocabulary.type(named: type)?.label,
            vocabulary.type(named: type)?.fields.contains(where: { $0.name == name.text }) == true
        {
            script.report(SourceFinding(.functionAsMethod("\(label).\(name.text)", of: label), at: name.range))
            return .unknown
        }
        return members.value(of: name, of: .instance(type))
    }

    /// Whether the object is passed as first argument when a method is called with a dot.
    private func hasReceiver(_ type: String, in given: KnownArguments, for binding: Binding) -> Bool {
        guard let first = given.values.first else {
            if given.isComplete { script.report(SourceFinding(.missingReceiver(binding, type), at: given.callee)) }
            return false
        }
        switch first.content {
        case .object(type): return true
        case .unknown: return false
        default:
            script.report(SourceFinding(.missingReceiver(binding, type), at: given.callee))
            return false
        }
    }

    private func module(_ given: KnownArguments) -> Knowledge {
        guard let first = given.values.first, case .string(let name) = first.content else { return .unknown }
        if name == PushModule.name { return .namespace(name) }
        // As in stock Lua, the standard libraries can be required too.
        if LuaLibrary.libraries[name] == nil, let refusal = script.modules.refusal(of: name, beside: [PushModule.name]) {
            script.report(SourceFinding(refusal.code, refusal.message, hint: refusal.hint, at: first.range))
        }
        return .unknown
    }

    // MARK: - Bindings

    /// Checks a call of a binding. `given` are the arguments without the receiver.
    private func call(_ binding: Binding, _ given: KnownArguments) -> Knowledge {
        noteOrder(of: binding, at: given.callee)
        script.recordUnsupportedCall(of: binding, at: given.callee)
        let check = ArgumentCheck(given.values, for: binding, isComplete: given.isComplete)
        let table = given.values.first { !$0.keys.isEmpty }
        for mistake in check.mistakes {
            let key = mistake.key.flatMap { table?.keys[$0] }
            // A wrong value is reported at the value, a wrong key at the key.
            script.report(SourceFinding(mistake.error, at: mistake.culprit?.range ?? key ?? given.callee))
        }
        let faulty = Set(check.mistakes.compactMap(\.key))
        for parameter in binding.parameters where !faulty.contains(parameter.name) {
            guard let value = check.values[parameter.name], parameter.type.fault(in: value) == nil else { continue }
            let count = script.remarks.count
            examine(value, as: parameter.type, named: parameter.name, of: binding.name)
            if count == script.remarks.count, let rule = parameter.rule, let known = value.luaValue {
                hold(known, against: rule, at: value.range)
            }
        }
        if binding.name == FlowBindings.args.name, let first = given.values.first { return options(first) }
        if script.target == .azure, check.mistakes.isEmpty {
            for finding in AzureLimits.findings(in: check.values, of: binding, keys: table?.keys ?? [:]) { script.report(finding) }
            if let text = AzureLimits.tagText(of: binding, check.values) { return .value(SourceValue(.string(text), at: given.callee)) }
        }
        return result(of: binding, given)
    }

    private func result(of binding: Binding, _ given: KnownArguments) -> Knowledge {
        guard let returns = binding.returns else { return .value(SourceValue(.nil, at: given.callee)) }
        if let source = returns.resultsOf, let index = binding.parameters.firstIndex(where: { $0.name == source }),
            index < given.knowledge.count
        {
            switch given.knowledge[index] {
            case .function(let results): return results
            case .binding(let inner): return vocabulary.knowledge(of: inner.returns?.type ?? "")
            default: return .unknown
            }
        }
        return vocabulary.knowledge(of: returns.type)
    }

    private func hold(_ value: LuaValue, against rule: Parameter.Rule, at range: Range<Int>) {
        do {
            try rule(value)
        } catch let error as LuaError {
            script.report(SourceFinding(error, at: range))
        } catch let error as PushError {
            script.report(SourceFinding(LuaError(error), at: range))
        } catch {
            return
        }
    }

    /// Checks the content of texts and numbers for a parameter.
    private func examine(_ value: SourceValue, as type: ParameterType, named name: String, of function: String) {
        var check = ContentCheck(text: script.text, function: function)
        check.examine(value, as: type, named: name)
        for problem in check.problems {
            switch problem {
            case .finding(let finding): script.report(finding)
            case .secret(let name, let range): script.reportSecret("\"\(name)\" is written into the script", at: range)
            }
        }
    }

    // MARK: - Options

    /// Checks that `push.args` is called first and only once. Only code that certainly runs is considered.
    private func noteOrder(of binding: Binding, at range: Range<Int>) {
        guard script.isUnconditional else { return }
        guard binding.name == FlowBindings.args.name else {
            if case .prelude = binding.body.kind { return }
            script.hasStarted = true
            return
        }
        if script.hasStarted || script.hasDeclaredOptions { script.report(SourceFinding(.argumentsNotFirst, at: range)) }
        script.hasDeclaredOptions = true
    }

    /// Checks the table of `push.args` parameter by parameter. Skips values that are only known at run time.
    private func options(_ value: SourceValue) -> Knowledge {
        guard case .table(_, let fields, let isComplete) = value.content else { return .unknown }
        for (name, parameter) in fields.sorted(by: { $0.key < $1.key }) {
            let known: LuaValue
            if case .table(_, let inner, _) = parameter.content {
                let certain = inner.compactMapValues(\.luaValue)
                // The other keys depend on the type.
                guard inner["type"] == nil || certain["type"] != nil else { continue }
                known = .table(LuaTable(fields: certain))
            } else if let scalar = parameter.luaValue {
                known = scalar
            } else {
                continue
            }
            do throws(LuaError) {
                _ = try FlowDeclaration(LuaTable(fields: [name: known]))
            } catch {
                let key = error.key.flatMap { parameter.keys[$0] } ?? value.keys[name]
                script.report(SourceFinding(error, at: key ?? value.range))
            }
        }
        return isComplete ? .options(Array(fields.keys)) : .unknown
    }
}
