import Lua
import LuaSyntax
import PushCore

extension FlowWalk {
    /// What a call is given, as far as it is certain.
    struct Given {
        var knowledge: [Knowledge]
        var values: [SourceValue]
        /// Nothing else can follow.
        var isWhole: Bool
        /// What is called: a function with all that stands before it.
        var callee: Range<Int>
    }

    /// Reads the arguments of a call of a binding, or of something else.
    private mutating func given(_ arguments: CallArguments, to callee: Range<Int>, of binding: Binding?) -> Given {
        let around = code.current
        if isApart(binding) { code.enter(.nowhere) }
        defer { code.leave(to: around) }
        var given = Given(knowledge: list(arguments.values), values: [], isWhole: true, callee: callee)
        if let last = arguments.values.last, last.isMultiple, given.knowledge.last?.isUnknown == true {
            given.knowledge.removeLast()
            given.isWhole = false
        } else if let last = arguments.values.last, last.isCall, given.knowledge.last?.isNil == true {
            // It returns nothing, so that nothing is given.
            given.knowledge.removeLast()
        }
        given.values = zip(given.knowledge, arguments.values).map { $0.argument(at: $1.range, vocabulary) }
        return given
    }

    /// Calls a value. Answers what is returned first.
    mutating func call(_ callee: Knowledge, _ arguments: CallArguments, at range: Range<Int>) -> Knowledge {
        var given = given(arguments, to: range, of: callee.binding)
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
            case .nil, .boolean, .integer, .number, .string, .bytes: refuse(.call, value.content.typeName, at: range)
            case .unknown, .table, .function, .object: break
            }
            return .unknown
        case .namespace(let path):
            refuse(.call, path, at: range)
            return .unknown
        default: return .unknown
        }
    }

    /// Calls a method.
    mutating func call(_ name: Name, of owner: Knowledge, _ arguments: CallArguments, at range: Range<Int>) -> Knowledge {
        let method = vocabulary.method(name.text, of: owner)
        let given = given(arguments, to: range, of: method)
        if let method { return call(method, given) }
        switch owner {
        case .namespace(let path):
            if let function = vocabulary.binding(named: "\(path).\(name.text)") {
                report(Remark(.functionAsMethod(function), at: name.range))
                return .unknown
            }
            report(Remark(.unknownName(name.text, in: path, known: vocabulary.names(in: path)), at: name.range))
            return .unknown
        case .instance(let type):
            guard let handle = vocabulary.handle(of: type) else { return call(name, ofTable: type) }
            requireMember(name, of: handle)
            return .unknown
        case .value(let value) where value.content.typeName == "string":
            let methods = LuaLibrary.libraries["string"] ?? []
            guard !methods.contains(name.text), !globals.assignedFields.contains(name.text), !globals.areOpen else { return .unknown }
            var error = LuaError.unknownName(name.text, in: "a text", known: Array(methods))
            error.code = "script.error"
            report(Remark(error, at: name.range))
            return .unknown
        default: return .unknown
        }
    }

    /// A colon stands behind a table that a binding returns: push.expect(1).to:equal(1).
    private mutating func call(_ name: Name, ofTable type: String) -> Knowledge {
        if let label = vocabulary.type(named: type)?.label,
            vocabulary.type(named: type)?.fields.contains(where: { $0.name == name.text }) == true
        {
            report(Remark(.functionAsMethod("\(label).\(name.text)", of: label), at: name.range))
            return .unknown
        }
        return member(name, of: .instance(type))
    }

    /// A method called with a dot needs its object as the first argument.
    private mutating func hasReceiver(_ type: String, in given: Given, for binding: Binding) -> Bool {
        guard let first = given.values.first else {
            if given.isWhole { report(Remark(.missingReceiver(binding, type), at: given.callee)) }
            return false
        }
        switch first.content {
        case .object(type): return true
        case .unknown: return false
        default:
            report(Remark(.missingReceiver(binding, type), at: given.callee))
            return false
        }
    }

    private mutating func module(_ given: Given) -> Knowledge {
        guard let first = given.values.first, case .string(let name) = first.content else { return .unknown }
        if name == PushModule.name { return .namespace(name) }
        // As with stock Lua, the libraries are modules too.
        if LuaLibrary.libraries[name] == nil, let refusal = modules.refusal(of: name, beside: [PushModule.name]) {
            report(Remark(refusal.code, refusal.message, hint: refusal.hint, at: first.range))
        }
        return .unknown
    }

    // MARK: - Bindings

    /// `given` are the arguments without the receiver.
    private mutating func call(_ binding: Binding, _ given: Given) -> Knowledge {
        noteOrder(of: binding, at: given.callee)
        noteAbsence(of: binding, at: given.callee)
        let check = ArgumentCheck(given.values, for: binding, isWhole: given.isWhole)
        let table = given.values.first { !$0.keys.isEmpty }
        for mistake in check.mistakes {
            let key = mistake.key.flatMap { table?.keys[$0] }
            // A wrong value is shown itself, a wrong key where it is written.
            report(Remark(mistake.error, at: mistake.culprit?.range ?? key ?? given.callee))
        }
        let faulty = Set(check.mistakes.compactMap(\.key))
        for parameter in binding.parameters where !faulty.contains(parameter.name) {
            guard let value = check.values[parameter.name], parameter.type.fault(in: value) == nil else { continue }
            let count = remarks.count
            examine(value, as: parameter.type, named: parameter.name, of: binding.name)
            if count == remarks.count, let rule = parameter.rule, let known = value.luaValue { hold(known, against: rule, at: value.range) }
        }
        if binding.name == Binding.args.name, let first = given.values.first { return options(first) }
        if target == .azure, check.mistakes.isEmpty {
            holdAgainstAzure(check.values, of: binding, keys: table?.keys ?? [:])
            if let text = tagText(of: binding, check.values) { return .value(SourceValue(.string(text), at: given.callee)) }
        }
        return result(of: binding, given)
    }

    private func result(of binding: Binding, _ given: Given) -> Knowledge {
        guard let returns = binding.returns else { return .value(SourceValue(.nil, at: given.callee)) }
        if let source = returns.resultsOf, let place = binding.parameters.firstIndex(where: { $0.name == source }),
            place < given.knowledge.count
        {
            switch given.knowledge[place] {
            case .function(let results): return results
            case .binding(let inner): return vocabulary.knowledge(of: inner.returns?.type ?? "")
            default: return .unknown
            }
        }
        return vocabulary.knowledge(of: returns.type)
    }

    private mutating func hold(_ value: LuaValue, against rule: Parameter.Rule, at range: Range<Int>) {
        do {
            try rule(value)
        } catch let error as LuaError {
            report(Remark(error, at: range))
        } catch let error as PushError {
            report(Remark(LuaError(error), at: range))
        } catch {
            return
        }
    }

    /// What texts and numbers mean to a parameter.
    private mutating func examine(_ value: SourceValue, as type: ParameterType, named name: String, of function: String) {
        switch (type, value.content) {
        case (.list(let element), .table(let items, _, _)):
            for item in items { examine(item, as: element, named: name, of: function) }
        case (.map(let element), .table(_, let fields, _)):
            for (_, item) in fields.sorted(by: { $0.key < $1.key }) { examine(item, as: element, named: name, of: function) }
        case (.byPlatform(let element), .table(_, let fields, _)):
            for (key, item) in fields.sorted(by: { $0.key < $1.key }) {
                examine(.string(key), as: .platform, named: key, of: function, at: value.keys[key] ?? value.range)
                examine(item, as: element, named: name, of: function)
            }
        case (.template, .table):
            for (key, item) in value.fields where key == "body" { examine(item, as: .template, named: key, of: function) }
        case (.either(let types), _):
            if let fitting = types.first(where: { $0.fault(in: value) == nil }) { examine(value, as: fitting, named: name, of: function) }
        case (.secret, .string(let text)):
            guard !text.isEmpty else { return }
            reportSecret("\"\(name)\" is written into the script", at: value.literal ?? value.range)
        default:
            guard let known = value.luaValue else { return }
            examine(known, as: type, named: name, of: function, at: value.range, literal: value.literal)
        }
    }

    private mutating func examine(
        _ value: LuaValue, as type: ParameterType, named name: String, of function: String, at range: Range<Int>, literal: Range<Int>? = nil
    ) {
        do throws(LuaError) {
            try type.examine(value, named: name, of: function)
            if case (.template, .string(let body)) = (type, value) { warnOfTexts(in: body, at: range, literal: literal) }
        } catch {
            var place = range
            if let literal, case .string(let text) = value, let offset = error.offset(in: text) {
                place = self.place(of: offset, in: text, literal)
            }
            report(Remark(error, at: place))
        }
    }

    /// Expressions that phones would show as they are written.
    private mutating func warnOfTexts(in body: String, at range: Range<Int>, literal: Range<Int>?) {
        guard let template = try? Template(compiling: body) else { return }
        for found in template.expressionsInText {
            report(
                Remark(
                    ExpressionInText.code, found.message, hint: found.hint, severity: .warning,
                    at: literal.map { place(of: found.offset, in: body, $0) } ?? range))
        }
    }

    /// The character of the script that stands for a byte of a text.
    private func place(of offset: Int, in text: String, _ literal: Range<Int>) -> Range<Int> {
        let origin = chunk.text.origins(ofString: literal)[min(offset, text.utf8.count)]
        return origin..<min(origin + 1, literal.upperBound)
    }

    // MARK: - Options

    /// `push.args` comes first, and once. What may not be done at all is not counted.
    private mutating func noteOrder(of binding: Binding, at range: Range<Int>) {
        guard isStraight else { return }
        guard binding.name == Binding.args.name else {
            if case .prelude = binding.body.kind { return }
            hasBegun = true
            return
        }
        if hasBegun || hasDeclaredOptions { report(Remark(.argumentsNotFirst, at: range)) }
        hasDeclaredOptions = true
    }

    /// Reads the table of `push.args` parameter by parameter, leaving out what only a run can tell.
    private mutating func options(_ value: SourceValue) -> Knowledge {
        guard case .table(_, let fields, let isWhole) = value.content else { return .unknown }
        for (name, parameter) in fields.sorted(by: { $0.key < $1.key }) {
            let known: LuaValue
            if case .table(_, let inner, _) = parameter.content {
                let certain = inner.compactMapValues(\.luaValue)
                // Everything else is judged by the type.
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
                report(Remark(error, at: key ?? value.range))
            }
        }
        return isWhole ? .options(Array(fields.keys)) : .unknown
    }
}

extension SourceValue {
    fileprivate var fields: [String: SourceValue] {
        if case .table(_, let fields, _) = content { fields } else { [:] }
    }
}

extension LuaError {
    /// Where in a text an error of a small language is, in bytes: `details.position` counts characters, in `details.line`
    /// where there is one.
    fileprivate func offset(in text: String) -> Int? {
        guard case .table(let table) = details, case .integer(let position)? = table.fields["position"] else { return nil }
        var rest = text[...]
        if case .integer(let line)? = table.fields["line"] {
            for _ in 1..<max(1, line) {
                guard let end = rest.utf8.firstIndex(of: 0x0a) else { break }
                rest = rest[rest.utf8.index(after: end)...]
            }
        }
        let before = rest.prefix(max(0, Int(position) - 1))
        return text.utf8.distance(from: text.startIndex, to: before.endIndex)
    }
}
