import Lua
import LuaSyntax

/// The facts that a check has established about a script so far, and the problems that it has found. The checks of statements, expressions
/// and calls share it, and change it in execution order.
final class ScriptKnowledge {
    let chunk: Chunk
    let vocabulary: Vocabulary
    let modules: LuaSearchPath
    let target: CheckedTarget
    let globals: GlobalNames
    private(set) var remarks: [SourceFinding] = []
    /// Known values, by variable.
    var known: [Int: Knowledge] = [:]
    /// Locals that have no value yet.
    var empty: Set<Int> = []
    /// Whether the present code runs exactly once and before the code that follows.
    var isUnconditional = true
    /// Whether a binding has certainly been called. `push.args` must come before it.
    var hasStarted = false
    var hasDeclaredOptions = false
    /// Names missing from the sandbox's libraries that the script has tested, so it handles nil.
    private var testedNames: Set<String> = []
    /// Globals that have already been reported.
    private var reported: Set<String> = []
    private var secrets: Set<Range<Int>> = []
    var uses: FunctionUses
    /// Calls that the target does not support, with the part of the script that contains them.
    private var unsupportedCalls: [(part: Int, remark: SourceFinding)] = []
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

    /// Records the value of a variable that is never reassigned.
    func learn(_ knowledge: Knowledge, of name: Name) {
        guard let variable = chunk.variable(at: name), chunk.scopes.variables[variable].assignments == 0 else { return }
        known[variable] = knowledge
    }

    // MARK: - Findings

    /// Whether the maximum number of findings has been reached. No more are recorded.
    var isFull: Bool { remarks.count > Self.maximumRemarks }

    func report(_ remark: SourceFinding) {
        if remarks.count == Self.maximumRemarks {
            remarks.append(
                SourceFinding(
                    "check.too_many", "there are more than \(Self.maximumRemarks) findings", hint: "fix these first",
                    severity: .warning, at: remark.range))
        }
        // Secrets are always recorded, because no excerpt may show them.
        if !isFull || remark.code == "check.secret" { remarks.append(remark) }
    }

    /// Whether a finding for a global is new and can be recorded.
    func isFirstFinding(of global: String) -> Bool { !isFull && reported.insert(global).inserted }

    /// Handles a name that the sandbox lacks, which is nil. Testing it is accepted. Using it is reported unless the script tested it
    /// before.
    func checkAbsentName(_ name: String, hint: String, isUsed: Bool, at range: Range<Int>) {
        if !isUsed {
            testedNames.insert(name)
        } else if !testedNames.contains(name) {
            report(SourceFinding(.absent(name, hint: hint), at: range))
        }
    }

    var operationCheck: OperationCheck { OperationCheck(vocabulary: vocabulary, text: text) }

    /// Reports an operation that a value of this type does not support.
    func refuse(_ operation: InvalidOperation, _ type: String, at range: Range<Int>) {
        report(operationCheck.refusal(operation, type, at: range))
    }

    // MARK: - Targets

    /// Records a call that the target does not support. `reportUnsupportedCalls` decides later whether it is in code that runs there.
    func recordUnsupportedCall(of binding: Binding, at range: Range<Int>) {
        guard let remark = SourceFinding(absenceOf: binding, on: target, at: range) else { return }
        unsupportedCalls.append((uses.code.current, remark))
    }

    func reportUnsupportedCalls() {
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

    func scan(_ bytes: some Collection<UInt8>, at range: Range<Int>) {
        guard let kind = CredentialScan.kind(of: bytes) else { return }
        reportSecret("this looks like \(kind)", at: range)
    }

    /// Reports a secret. The message never contains the text itself.
    func reportSecret(_ message: String, at range: Range<Int>) {
        guard secrets.insert(range).inserted else { return }
        report(
            SourceFinding(
                "check.secret", "\(message); anyone who can read the script can use it",
                hint: "write push.secret \"name\", and store the value in secrets.json or PUSHHOST_SECRET_NAME", at: range))
    }

    /// Checks a value assigned to a name: a name that suggests a secret must not have a literal key.
    func scan(_ value: Expression, named name: String) {
        guard case .string(let bytes) = value.kind else { return }
        if CredentialScan.isPassword(bytes, named: name) {
            reportSecret("\"\(name)\" is written into the script", at: value.range)
        } else if CredentialScan.isSecretName(name), CredentialScan.isRandom(bytes) {
            reportSecret("the text of \"\(name)\" looks like a key", at: value.range)
        }
    }
}

extension LuaError {
    /// The sandbox's own message for an unavailable name (sandbox.c).
    fileprivate static func absent(_ name: String, hint: String) -> LuaError {
        .misuse("sandbox.absent", "\(name) is not available to scripts", hint: hint)
    }
}
