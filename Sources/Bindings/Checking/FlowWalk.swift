import Lua
import LuaSyntax

/// Visits a script once in execution order. Records what is known of each value, and the problems found.
struct FlowWalk {
    let chunk: Chunk
    let vocabulary: Vocabulary
    let modules: LuaSearchPath
    let target: CheckedTarget
    private(set) var remarks: [SourceFinding] = []
    /// Known values, by variable.
    var known: [Int: Knowledge] = [:]
    /// Return values read so far, for each enclosing function.
    private var results: [[Knowledge]] = []
    /// Locals that have no value yet.
    private var empty: Set<Int> = []
    /// Whether the present code runs exactly once and before the code that follows.
    var isUnconditional = true
    /// Whether a binding has certainly been called. `push.args` must come before it.
    var hasStarted = false
    var hasDeclaredOptions = false
    let globals: GlobalNames
    /// Names missing from the sandbox's libraries that the script has tested, so it handles nil.
    var testedNames: Set<String> = []
    /// Globals that have already been reported.
    var reported: Set<String> = []
    private var secrets: Set<Range<Int>> = []
    var uses: FunctionUses
    /// Calls that the target does not support, with the part of the script that contains them.
    var unsupportedCalls: [(part: Int, remark: SourceFinding)] = []
    /// Whether `push.target`, or a value derived from it, has been read.
    var readsTarget = false
    /// Locals that hold values derived from `push.target`.
    var targetDependentLocals: Set<Int> = []

    /// Maximum number of findings.
    static let maximumRemarks = 1000

    init(_ chunk: Chunk, _ vocabulary: Vocabulary, _ modules: LuaSearchPath?, _ target: CheckedTarget) {
        self.modules = modules ?? .none
        self.target = target
        self.chunk = chunk
        self.vocabulary = vocabulary
        globals = GlobalNames(chunk)
        uses = FunctionUses(chunk)
    }

    var text: SourceText { chunk.text }

    mutating func script() {
        for comment in chunk.comments { scan(text.bytes[comment], at: comment) }
        block(chunk.block)
        reportUnsupportedCalls()
    }

    /// Whether the maximum number of findings has been reached. No more are recorded.
    var isFull: Bool { remarks.count > Self.maximumRemarks }

    mutating func report(_ remark: SourceFinding) {
        if remarks.count == Self.maximumRemarks {
            remarks.append(
                SourceFinding(
                    "check.too_many", "there are more than \(Self.maximumRemarks) findings", hint: "fix these first",
                    severity: .warning, at: remark.range))
        }
        // Secrets are always recorded, because no excerpt may show them.
        if !isFull || remark.code == "check.secret" { remarks.append(remark) }
    }

    // MARK: - Targets

    /// Records a call that the target does not support. `reportUnsupportedCalls` decides later whether it is in code that runs there.
    mutating func recordUnsupportedCall(of binding: Binding, at range: Range<Int>) {
        guard let remark = SourceFinding(absenceOf: binding, on: target, at: range) else { return }
        unsupportedCalls.append((uses.code.current, remark))
    }

    mutating func reportUnsupportedCalls() {
        guard !unsupportedCalls.isEmpty else { return }
        let ordinary = uses.code.ordinary
        for (part, remark) in unsupportedCalls where ordinary.contains(part) { report(remark) }
    }

    /// Whether functions passed to a binding run only where devices are simulated. True for tests and rehearsals, and for calls that the
    /// target does not support and that already have a finding of their own.
    func runsOnlySimulated(_ binding: Binding?) -> Bool {
        guard let binding else { return false }
        return binding.name == FlowBindings.rehearse.name || binding.name.hasPrefix("push.test.")
            || binding.conditions.needs != nil && !target.isSimulated
    }

    // MARK: - Credentials

    mutating func scan(_ bytes: some Collection<UInt8>, at range: Range<Int>) {
        guard let kind = CredentialScan.kind(of: bytes) else { return }
        reportSecret("this looks like \(kind)", at: range)
    }

    /// Reports a secret. The message never contains the text itself.
    mutating func reportSecret(_ message: String, at range: Range<Int>) {
        guard secrets.insert(range).inserted else { return }
        report(
            SourceFinding(
                "check.secret", "\(message); anyone who can read the script can use it",
                hint: "write push.secret \"name\", and store the value in secrets.json or PUSHHOST_SECRET_NAME", at: range))
    }

    /// Checks a value assigned to a name: a name that suggests a secret must not have a literal key.
    mutating func scan(_ value: Expression, named name: String) {
        guard case .string(let bytes) = value.kind else { return }
        if CredentialScan.isPassword(bytes, named: name) {
            reportSecret("\"\(name)\" is written into the script", at: value.range)
        } else if CredentialScan.isSecretName(name), CredentialScan.isRandom(bytes) {
            reportSecret("the text of \"\(name)\" looks like a key", at: value.range)
        }
    }

    // MARK: - Statements

    mutating func block(_ block: Block) {
        let around = uses.code.current
        for statement in block.statements { visit(statement) }
        uses.code.leave(to: around)
    }

    /// Visits code that may run never, or more than once.
    private mutating func aside(_ body: (inout FlowWalk) -> Void) {
        let before = isUnconditional
        isUnconditional = false
        body(&self)
        isUnconditional = before
    }

    private mutating func visit(_ statement: Statement) {
        switch statement.kind {
        case .empty, .label, .goto, .break: break
        case .local(let names, let values): local(names.map(\.name), values)
        case .assignment(let targets, let values): assignment(targets, values)
        case .call(let call):
            if case .instance("push.Expectation") = value(of: call) {
                report(
                    SourceFinding(
                        "expect.failed", "push.expect has no matcher", hint: "add a matcher such as .to.equal(…)",
                        at: call.range))
            }
        case .do(let inner): block(inner)
        case .while(let condition, let inner):
            _ = value(of: condition, isTested: true)
            aside { $0.block(inner) }
        case .repeat(let inner, let condition):
            aside { walk in
                walk.block(inner)
                _ = walk.value(of: condition, isTested: true)
            }
        case .if(let branches, let otherwise): conditional(branches, otherwise)
        case .numericFor(_, let values, let inner):
            for value in values { _ = self.value(of: value) }
            aside { $0.block(inner) }
        case .genericFor(let names, let values, let inner): loop(names, values, inner)
        case .function(let name, let body): function(name, body)
        case .localFunction(let name, let body):
            let variable = variable(at: name)
            if let variable { uses.note(chunk.scopes.variables[variable].assignments == 0 ? body : nil, of: variable) }
            let result = function(body, used: variable.map { .by(.variable($0)) } ?? .here)
            learn(.function(results: result), of: name)
        case .return(let values):
            let around = uses.code.current
            if results.isEmpty, values.allSatisfy(uses.isReturnedUncalled) { uses.code.enter(.nowhere) }
            let first = list(values).first ?? .value(SourceValue(.nil, at: statement.range))
            uses.code.leave(to: around)
            if !results.isEmpty { results[results.count - 1].append(first) }
        }
    }

    private mutating func conditional(_ branches: [Branch], _ otherwise: Block?) {
        let around = uses.code.current
        var isPrepared = false
        for (place, branch) in branches.enumerated() {
            readsTarget = false
            if place == 0 {
                _ = value(of: branch.condition, isTested: true)
            } else {
                aside { _ = $0.value(of: branch.condition, isTested: true) }
            }
            if readsTarget, !isPrepared {
                isPrepared = true
                uses.code.enter(.nowhere)
            }
            aside { $0.block(branch.block) }
        }
        if let otherwise { aside { $0.block(otherwise) } }
        // If a branch leaves the block, the code after it depends on the condition too.
        if !isPrepared || !branches.contains(where: \.block.isLeft) { uses.code.leave(to: around) }
    }

    private mutating func local(_ names: [Name], _ values: [Expression]) {
        readsTarget = false
        for (name, value) in zip(names, values) { uses.noteUse(as: name, of: value) }
        let given = list(values)
        if readsTarget { targetDependentLocals.formUnion(names.compactMap { variable(at: $0) }) }
        for (place, name) in names.enumerated() {
            if place < values.count { scan(values[place], named: name.text) }
            if place < given.count {
                learn(given[place], of: name)
            } else if values.last?.isMultiple != true, let variable = variable(at: name) {
                empty.insert(variable)
                learn(.value(SourceValue(.nil, at: name.range)), of: name)
            }
        }
    }

    private mutating func assignment(_ targets: [Expression], _ values: [Expression]) {
        for target in targets { assign(to: target) }
        for (target, value) in zip(targets, values) { uses.noteUse(asTarget: target, of: value) }
        let given = list(values)
        for (target, (knowledge, value)) in zip(targets, zip(given, values)) {
            if let name = target.lastName { scan(value, named: name) }
            // A local whose only assignment is here holds this value, or nil, wherever it is used.
            guard case .name(let name) = target.kind else { continue }
            guard let variable = variable(at: name), empty.contains(variable), chunk.scopes.variables[variable].assignments == 1 else {
                continue
            }
            known[variable] = knowledge
        }
    }

    private mutating func loop(_ names: [Name], _ values: [Expression], _ inner: Block) {
        let iterated = list(values)
        switch iterated.first {
        case .iterated(.list(let element))? where names.count > 1, .iterated(.dictionary(let element))? where names.count > 1:
            learn(element, of: names[1])
        case .function(let results)?: learn(results, of: names[0])
        case let knowledge?: require(.iteration, knowledge, values[0])
        case nil: break
        }
        aside { $0.block(inner) }
    }

    private mutating func function(_ name: FunctionName, _ body: FunctionBody) {
        if let last = name.fields.last {
            var owner = value(of: name.first)
            for field in name.fields.dropLast() { owner = member(field, of: owner) }
            assign(last, of: owner)
        } else {
            assign(toGlobal: name.first)
        }
        let own = variable(at: name.first).map { UnconditionalCode.Name.variable($0) } ?? .global(name.first.text)
        _ = function(body, used: .by(name.fields.last.map { .field($0.text) } ?? own))
    }

    // MARK: - Globals

    private var globalCheck: GlobalCheck { GlobalCheck(chunk: chunk, globals: globals, vocabulary: vocabulary) }

    /// Checks the use of a global.
    mutating func global(_ name: Name, isTested: Bool, isUsed: Bool) -> Knowledge {
        if globals.assigned.contains(name.text) { return .unknown }
        if name.text == "require" { return .require }
        if name.text == "ipairs" || name.text == "pairs" { return .iteration }
        if LuaLibrary.libraries[name.text] != nil { return .library(name.text) }
        if name.text == "print" { return .function(results: .value(SourceValue(.nil, at: name.range))) }
        guard !LuaLibrary.functions.contains(name.text), name.text != "_G", name.text != "_ENV" else { return .unknown }
        if let hint = HostFunctions.absent[name.text] {
            checkAbsentName(name.text, hint: hint, isUsed: isUsed, at: name.range)
            return .unknown
        }
        guard !globals.areOpen, !isFull, reported.insert(name.text).inserted else { return .unknown }
        // Testing a foreign name is accepted, except for another language's name of nil.
        if isTested, LuaLibrary.foreign[name.text] != nil, !LuaLibrary.foreignNil.contains(name.text) { return .unknown }
        report(globalCheck.unknown(name, severity: isTested ? .warning : .error))
        return .unknown
    }

    /// Checks an assignment to a plain name, or a function statement with one.
    mutating func assign(toGlobal name: Name) {
        guard case .global? = chunk.scopes.reference(at: name.range.lowerBound), !isFull, reported.insert("\(name.text) =").inserted else {
            return
        }
        report(globalCheck.assignment(to: name))
    }

    // MARK: - Knowledge

    func variable(at name: Name) -> Int? { chunk.variable(at: name) }

    /// Records the value of a variable that is never reassigned.
    private mutating func learn(_ knowledge: Knowledge, of name: Name) {
        guard let variable = variable(at: name), chunk.scopes.variables[variable].assignments == 0 else { return }
        known[variable] = knowledge
    }

    /// Visits a function. Returns what is known of its result.
    mutating func function(_ body: FunctionBody, used use: UnconditionalCode.Use) -> Knowledge {
        let around = uses.code.current
        uses.code.enter(use)
        results.append([])
        aside { $0.block(body.block) }
        uses.code.leave(to: around)
        return Knowledge.merged(results.removeLast())
    }

    /// Evaluates a list of expressions. The last one may produce more values.
    mutating func list(_ values: [Expression]) -> [Knowledge] { values.map { value(of: $0) } }
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

    /// The text of a string literal.
    var text: String? {
        guard case .string(let bytes) = kind else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
