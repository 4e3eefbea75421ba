import LuaSyntax

/// Visits the statements of a script, or of one of its functions, once and in execution order.
struct FlowWalk {
    private let script: ScriptKnowledge
    /// Return values read so far; nil outside functions.
    private var results: [Knowledge]?

    private var expressions: ExpressionEvaluator { ExpressionEvaluator(script: script) }
    private var chunk: Chunk { script.chunk }

    /// Visits a whole script.
    static func visit(_ script: ScriptKnowledge) {
        for comment in script.chunk.comments { script.scan(script.text.bytes[comment], at: comment) }
        var walk = FlowWalk(script: script)
        walk.block(script.chunk.block)
        script.reportUnsupportedCalls()
    }

    /// Visits a function. Returns what is known of its result.
    static func result(of body: FunctionBody, used use: UnconditionalCode.Use, in script: ScriptKnowledge) -> Knowledge {
        let around = script.uses.code.current
        script.uses.code.enter(use)
        var walk = FlowWalk(script: script, results: [])
        walk.conditionally { $0.block(body.block) }
        script.uses.code.leave(to: around)
        return Knowledge.merged(walk.results ?? [])
    }

    // MARK: - Statements

    private mutating func block(_ block: Block) {
        let around = script.uses.code.current
        for statement in block.statements { visit(statement) }
        script.uses.code.leave(to: around)
    }

    /// Visits code that may run never, or more than once.
    private mutating func conditionally(_ body: (inout FlowWalk) -> Void) {
        let before = script.isUnconditional
        script.isUnconditional = false
        body(&self)
        script.isUnconditional = before
    }

    private mutating func visit(_ statement: Statement) {
        switch statement.kind {
        case .empty, .label, .goto, .break: break
        case .local(let names, let values): local(names.map(\.name), values)
        case .assignment(let targets, let values): assignment(targets, values)
        case .call(let call):
            if case .instance("push.Expectation") = expressions.value(of: call) {
                script.report(
                    SourceFinding(
                        "expect.failed", "push.expect has no matcher", hint: "add a matcher such as .to.equal(…)",
                        at: call.range))
            }
        case .do(let inner): block(inner)
        case .while(let condition, let inner):
            _ = expressions.value(of: condition, isTested: true)
            conditionally { $0.block(inner) }
        case .repeat(let inner, let condition):
            conditionally { walk in
                walk.block(inner)
                _ = walk.expressions.value(of: condition, isTested: true)
            }
        case .if(let branches, let otherwise): conditional(branches, otherwise)
        case .numericFor(_, let values, let inner):
            for value in values { _ = expressions.value(of: value) }
            conditionally { $0.block(inner) }
        case .genericFor(let names, let values, let inner): loop(names, values, inner)
        case .function(let name, let body): function(name, body)
        case .localFunction(let name, let body):
            let variable = chunk.variable(at: name)
            if let variable { script.uses.note(chunk.scopes.variables[variable].assignments == 0 ? body : nil, of: variable) }
            let result = FlowWalk.result(of: body, used: variable.map { .by(.variable($0)) } ?? .here, in: script)
            script.learn(.function(results: result), of: name)
        case .return(let values):
            let around = script.uses.code.current
            if results == nil, values.allSatisfy(script.uses.isReturnedUncalled) { script.uses.code.enter(.nowhere) }
            let first = expressions.list(values).first ?? .value(SourceValue(.nil, at: statement.range))
            script.uses.code.leave(to: around)
            results?.append(first)
        }
    }

    private mutating func conditional(_ branches: [Branch], _ otherwise: Block?) {
        let around = script.uses.code.current
        var isPrepared = false
        for (index, branch) in branches.enumerated() {
            script.readsTarget = false
            if index == 0 {
                _ = expressions.value(of: branch.condition, isTested: true)
            } else {
                conditionally { _ = $0.expressions.value(of: branch.condition, isTested: true) }
            }
            if script.readsTarget, !isPrepared {
                isPrepared = true
                script.uses.code.enter(.nowhere)
            }
            conditionally { $0.block(branch.block) }
        }
        if let otherwise { conditionally { $0.block(otherwise) } }
        // If a branch leaves the block, the code after it depends on the condition too.
        if !isPrepared || !branches.contains(where: \.block.isLeft) { script.uses.code.leave(to: around) }
    }

    private func local(_ names: [Name], _ values: [Expression]) {
        script.readsTarget = false
        for (name, value) in zip(names, values) { script.uses.noteUse(as: name, of: value) }
        let given = expressions.list(values)
        if script.readsTarget { script.targetDependentLocals.formUnion(names.compactMap { chunk.variable(at: $0) }) }
        for (index, name) in names.enumerated() {
            if index < values.count { script.scan(values[index], named: name.text) }
            if index < given.count {
                script.learn(given[index], of: name)
            } else if values.last?.isMultiple != true, let variable = chunk.variable(at: name) {
                script.empty.insert(variable)
                script.learn(.value(SourceValue(.nil, at: name.range)), of: name)
            }
        }
    }

    private func assignment(_ targets: [Expression], _ values: [Expression]) {
        for target in targets { expressions.assign(to: target) }
        for (target, value) in zip(targets, values) { script.uses.noteUse(asTarget: target, of: value) }
        let given = expressions.list(values)
        for (target, (knowledge, value)) in zip(targets, zip(given, values)) {
            if let name = target.lastName { script.scan(value, named: name) }
            // A local whose only assignment is here holds this value, or nil, wherever it is used.
            guard case .name(let name) = target.kind, let variable = chunk.variable(at: name), script.empty.contains(variable),
                chunk.scopes.variables[variable].assignments == 1
            else { continue }
            script.known[variable] = knowledge
        }
    }

    private mutating func loop(_ names: [Name], _ values: [Expression], _ inner: Block) {
        let iterated = expressions.list(values)
        switch iterated.first {
        case .iterated(.list(let element))? where names.count > 1, .iterated(.dictionary(let element))? where names.count > 1:
            script.learn(element, of: names[1])
        case .function(let results)?: script.learn(results, of: names[0])
        case let knowledge?: expressions.require(.iteration, knowledge, values[0])
        case nil: break
        }
        conditionally { $0.block(inner) }
    }

    private func function(_ name: FunctionName, _ body: FunctionBody) {
        expressions.assign(to: name)
        let own = chunk.variable(at: name.first).map { UnconditionalCode.Name.variable($0) } ?? .global(name.first.text)
        _ = FlowWalk.result(of: body, used: .by(name.fields.last.map { .field($0.text) } ?? own), in: script)
    }
}

extension Expression {
    /// The last name of a target: `password` in `account.password` and in `account["password"]`.
    fileprivate var lastName: String? {
        switch kind {
        case .name(let name): return name.text
        case .suffixed(_, let suffixes):
            switch suffixes.last?.kind {
            case .field(let name)?: return name.text
            case .index(let key)?: return key.text
            default: return nil
            }
        default: return nil
        }
    }
}
