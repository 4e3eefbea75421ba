import Lua
import PushModel
import Synchronization

/// The state of one run of a flow: world, steps, expectations and arguments.
package final class FlowRun: Sendable {
    let runner: FlowRunner
    let script: FlowScript
    package let identity: Identity
    let parameters: FlowParameters
    let role: RunRole
    let shared: SharedState
    let began: Timestamp
    let sink: @Sendable (FlowEvent) -> Void
    let state: Mutex<State>

    package struct Identity: Sendable, Equatable {
        /// The run's id, such as `r-0193`.
        package var run: String
        /// The first six hexadecimal digits of the script's SHA-256.
        package var version: String

        package init(run: String, version: String) {
            self.run = run
            self.version = version
        }
    }

    /// The state that a run shares with its nested runs.
    struct SharedState: Sendable {
        /// Events already shown, so that nothing is shown twice.
        var shownEvents = ShownEvents()
        /// Texts to mask in reports.
        var withheld = SecretMasker()
        /// The account charged for the use of resources.
        var account: RunAccount
        var operations = OperationLimiter()
    }

    /// Number of lab events that have been processed.
    final class ShownEvents: Sendable {
        let count = Mutex(0)
    }

    struct State {
        var steps = StepLog()
        var expectations = ExpectationLog()
        var sends = SendLog()
        /// Whether each registration and installation has a template, by registration id or installation tag.
        var registrations: [String: Bool] = [:]
        /// For each task, the item that it last waited for and did not receive, as text.
        var missed: [Int: String] = [:]
        var devices: [DeviceHandle: String] = [:]
        var hasDeclaredArguments = false
        /// Whether a binding that must follow `push.args` has been called.
        var hasStarted = false
        var declaration: FlowDeclaration?
        var isDescribed = false
        /// The account for the report after a budget of the run is exceeded.
        var closing: RunAccount?
        var tests: [TestCase] = []
        var children = 0
        /// Warnings of templates and payloads that have been reported; each is reported once.
        var contentWarnings: Set<String> = []
    }

    /// - Parameter shared: The state of the enclosing run; nil begins with an empty one and an account of the runner's limits.
    init(
        _ script: FlowScript, runner: FlowRunner, identity: Identity, parameters: FlowParameters = FlowParameters(),
        role: RunRole = RunRole(),
        shared: SharedState? = nil, sink: @escaping @Sendable (FlowEvent) -> Void
    ) {
        self.script = script
        self.runner = runner
        self.identity = identity
        self.parameters = parameters
        self.role = role
        self.shared = shared ?? SharedState(account: RunAccount(runner.limits))
        self.sink = sink
        began = runner.world.clock.now
        state = Mutex(State())
    }

    package var world: FlowWorld { runner.world }
    var purpose: RunRole.Purpose { role.purpose }
    var phase: ScriptPhase { role.phase }
    var plugin: (any RunningPlugin)? { role.plugin }
    var origin: [String] { role.origin }
    var shownEvents: ShownEvents { shared.shownEvents }
    var withheld: SecretMasker { shared.withheld }
    var account: RunAccount { shared.account }

    /// The run attached to a call, otherwise this one.
    func attached(_ attachment: (any AnyObject & Sendable)?) -> FlowRun { attachment as? FlowRun ?? self }

    func attached(_ site: LuaCallSite) -> FlowRun { attached(site.attachment) }

    /// Annotations for each error of the run.
    var annotations: [String: String] { ["run": identity.run, "script": identity.version] }

    /// Reports an event if the output budget allows it.
    func emit(_ event: FlowEvent) {
        let size = outputSize(of: event)
        guard size == 0 || outputAccount.admit(.output, size) else { return }
        if retainsEvents { account.note(.memory, HostCost.retainedEvent + 3 * size) }
        relay(event)
    }

    /// Charges an event before it is reported. Throws `budget.output` or `budget.memory`.
    private func charge(_ event: FlowEvent) throws(LuaError) {
        let size = outputSize(of: event)
        try account.charge(.output, size)
        if retainsEvents { try account.charge(.memory, HostCost.retainedEvent + 3 * size) }
    }

    private func outputSize(of event: FlowEvent) -> Int { event.deeper(by: role.depth).outputSize(in: runner.detail) }

    private var retainsEvents: Bool { runner.detail == .full || runner.retainsEvents || role.isNested }

    /// Reports an event that has already been charged.
    func relay(_ event: FlowEvent) { sink(event.masked(by: withheld)) }

    /// The account charged for output: the run's, or that of the closing report.
    var outputAccount: RunAccount { state.withLock { $0.closing } ?? account }

    /// Starts the closing report of a run that exceeded a budget or was cancelled. It has budgets of its own.
    func beginClosingReport() {
        let closing = RunAccount(FlowRunner.reportLimits)
        state.withLock { state in if state.closing == nil { state.closing = closing } }
    }

    // MARK: - Steps

    func beginStep(_ name: String, task: Int) throws(LuaError) -> Int {
        try begin()
        try charge(.stepStarted(id: 0, depth: depth(of: task), name: name))
        let step = state.withLock { $0.steps.begin(name, task: task, now: world.clock.now) }
        relay(.stepStarted(id: step.id, depth: step.depth, name: name))
        return step.id
    }

    func endStep(_ id: Int, task: Int, passed: Bool, shown: [ShownItem]) {
        let ended = state.withLock { $0.steps.end(id, task: task, passed: passed, shown: shown, now: world.clock.now) }
        if let ended { emit(.stepEnded(ended)) }
    }

    func skipStep(_ name: String, task: Int, reason: String) throws(LuaError) {
        try begin()
        try charge(.stepStarted(id: 0, depth: depth(of: task), name: name))
        let step = state.withLock { $0.steps.skip(name, task: task, reason: reason, now: world.clock.now) }
        emit(.stepEnded(step))
    }

    /// The innermost step of a task, its own or the one in which it was started; 0 for none.
    func currentStep(of task: Int) -> Int { state.withLock { $0.steps.current(of: task) } }

    /// Number of open steps around a task.
    func depth(of task: Int) -> Int { state.withLock { $0.steps.depth(of: task) } }

    func join(step: Int, task: Int) {
        account.note(.memory, HostCost.joinedTask)
        state.withLock { $0.steps.join(step, task: task) }
    }

    /// Changes the current step of a task. Returns false if the task is in no step or the step has ended.
    func change(task: Int, _ body: (inout FlowStep) -> Void) -> Bool { state.withLock { $0.steps.change(task: task, body) } }

    // MARK: - Events

    /// Counts a registration once per id. Warns if it replaced one of another kind.
    func noteRegistration(_ registration: Registration, device: String, site: LuaCallSite) {
        let isTemplate = registration.template != nil
        let before = state.withLock { $0.registrations.updateValue(isTemplate, forKey: registration.id.text) }
        noteRegistration(named: registration.id.text, of: registration.handle, device: device, task: site.task)
        guard let before, before != isTemplate else { return }
        func kind(_ isTemplate: Bool) -> String { isTemplate ? "with a template" : "without a template" }
        emit(
            .warning(
                FlowWarning(
                    code: "hub.registration_replaced",
                    message: "\(device) is now registered \(kind(isTemplate)), which replaced its registration \(kind(before))",
                    near: ["push.install with templates creates an installation that has both"], location: site.location)))
    }

    func noteRegistration(named name: String, of handle: DeviceHandle, device: String, task: Int) {
        note(device, of: handle)
        _ = change(task: task) { $0.registered.insert(name) }
    }

    /// Records the name of the device with this handle, for reports.
    func note(_ device: String, of handle: DeviceHandle) { state.withLock { $0.devices[handle] = device } }

    func deviceName(of handle: DeviceHandle) -> String? { state.withLock { $0.devices[handle] } }

    /// Waits on the run's clock. Throws `time.too_far` beyond the year 9999.
    func sleep(for duration: Duration) async throws {
        let deadline = world.clock.now + duration
        guard deadline <= .distantFuture else {
            throw LuaError.failure("time.too_far", "the clock of the run ends with the year 9999", hint: "wait for a shorter time")
        }
        try await (plugin?.sleepClock ?? world.clock).sleep(until: deadline)
    }

    // MARK: - Expectations

    /// Opens an expectation that a matcher will settle. Returns its number.
    func openExpectation(at location: SourceLocation?) -> Int {
        account.note(.memory, HostCost.openExpectation)
        return state.withLock { $0.expectations.open(at: location) }
    }

    /// Settles an expectation when a matcher is called, before its result, because the script may catch the matcher's error.
    func settleExpectation(_ id: Int) {
        let wasOpen = state.withLock { $0.expectations.settle(id) }
        if wasOpen { account.release(.memory, HostCost.openExpectation) }
    }

    /// At the end of the run, fails each expectation without a matcher.
    func failOpenExpectations() {
        let forgotten = state.withLock { $0.expectations.open }
        for location in forgotten {
            let message = "push.expect has no matcher: add one such as .to.equal(…)"
            noteExpectation(FailedExpectation(message: message, location: location), task: 0)
        }
    }

    /// Counts an expectation. A failed one fails the run, even if the script catches the error.
    func noteExpectation(_ failure: FailedExpectation?, task: Int) {
        state.withLock { $0.expectations.note(failure, masking: withheld) }
        _ = change(task: task) { step in
            step.expectations += 1
            if failure != nil { step.failedExpectations += 1 }
        }
    }

    /// Records a failed expectation. Its printed size is charged before it is stored.
    func noteFailedExpectation(_ failure: FailedExpectation, task: Int) throws(LuaError) {
        if !state.withLock({ $0.expectations.isFull }) {
            let size = failure.shortened.byteCount
            try account.charge(.output, size)
            try account.charge(.memory, size)
        }
        noteExpectation(failure, task: task)
    }

    /// Returns and clears the failed expectations of the last line. An expectation without a matcher does not fail in a session.
    func takeFailedExpectations() -> [FailedExpectation] { state.withLock { $0.expectations.takeFailures() } }

    var hasFailedExpectations: Bool { state.withLock { $0.expectations.failedCount > 0 } }

    // MARK: - Output

    /// Writes to the run's log. Throws `budget.output` if the script exceeds the output budget.
    func log(_ level: String, _ text: String, at location: SourceLocation?) throws(LuaError) {
        let event = FlowEvent.log(level: level, text: text, location: location)
        try charge(event)
        relay(event)
    }

    // MARK: - Arguments

    /// Whether `push.args` may be called now: once and before any other call, or at any time in an interactive session.
    func declareArguments() -> Bool {
        state.withLock { state in
            defer { state.hasDeclaredArguments = true }
            return purpose == .interactive || (!state.hasDeclaredArguments && !state.hasStarted)
        }
    }

    /// Called before every binding. Rejects the call if a budget is exceeded, or if options were given that the flow does not declare.
    func admit(_ binding: String, _ conditions: CallConditions) throws(LuaError) {
        try account.check()
        try permit(binding, conditions)
        if binding != "push.args" { try begin() }
    }

    /// Throws `phase.not_allowed`, or `capability.denied` if a plugin lacks the capability.
    func permit(_ binding: String, _ conditions: CallConditions) throws(LuaError) { try conditions.check(binding, in: phase, for: plugin) }

    /// Throws `capability.denied` if a plugin lacks the capability.
    func demand(_ capability: Capability, for binding: String) throws(LuaError) {
        guard let plugin, !plugin.grants.allows(capability) else { return }
        throw plugin.denial(of: capability, for: binding)
    }

    /// Marks the start of effects. A run that only describes the flow ends here.
    private func begin() throws(LuaError) {
        guard plugin == nil else { return }
        guard !parameters.isDescribing else { throw describe(nil) }
        let unread = state.withLock { state in
            state.hasStarted = true
            return state.hasDeclaredArguments ? nil : parameters.given.first
        }
        if let unread {
            throw refusal(of: unread.name)
        }
    }

    /// The error for an option that the flow does not declare.
    func refusal(of option: String) -> LuaError {
        let near = nearest(option, in: hostOptions.sorted()).map { "; did you mean \"--\($0)\"?" } ?? ""
        return .misuse(
            "usage.no_options", "unknown option \"--\(option)\": the flow has no options\(near)", hint: "declare them with push.args")
    }

    /// The program's options, for suggestions. A nested flow has no command line.
    var hostOptions: Set<String> { identity.run.contains(".") ? [] : FlowParameters.reserved }

    /// Records the flow's declaration, nil if it has none. Returns the error that ends the run.
    func describe(_ declaration: FlowDeclaration?) -> LuaError {
        state.withLock { state in
            state.isDescribed = true
            state.declaration = state.declaration ?? declaration
        }
        return .misuse("flow.described", "the flow was run only to read its parameters")
    }

    /// The flow's declaration once it is known; the inner value is nil if the flow declares nothing.
    var description: FlowDeclaration?? { state.withLock { $0.isDescribed ? .some($0.declaration) : .none } }

    var hasDeclaredArguments: Bool { state.withLock { $0.hasDeclaredArguments } }

    /// Begins a line of an interactive flow. Each line has the budgets of a whole run.
    func beginLine() { account.renew() }

    func report(verdict: FlowReport.Verdict, result: JSON?, began: Timestamp) -> FlowReport {
        state.withLock { state in
            FlowReport(
                verdict: verdict, result: result, recordableResult: result.map(withheld.masking), steps: state.steps.count,
                expectations: FlowReport.Expectations(
                    count: state.expectations.count, failedCount: state.expectations.failedCount, failures: state.expectations.failures),
                sends: FlowReport.Sends(delivered: state.sends.delivered, noTargets: state.sends.noTargets),
                began: began, ended: world.clock.now)
        }
    }

    // MARK: - Tests and nested flows

    /// Records a test that the script declares. Returns whether it is the one to run now.
    func declare(_ test: TestCase) -> Bool {
        state.withLock { state in
            state.tests.append(test)
            guard case .test(_, let name) = purpose else { return false }
            return test.fullName == name && !test.isPending
        }
    }

    var tests: [TestCase] { state.withLock { $0.tests } }

    /// Allows sends of this test to reach no device.
    func allowNoTarget() { state.withLock { $0.sends.allowsNoTarget = true } }

    /// The error for a test whose sends reached no device without the test allowing it.
    var unreachedTest: LuaError? {
        guard case .test = purpose else { return nil }
        guard let (audience, location) = state.withLock({ $0.sends.allowsNoTarget ? nil : $0.sends.firstNoTarget }) else { return nil }
        var error = LuaError(
            kind: .failure, code: "test.no_target", message: "the send to \"\(audience)\" reached no device",
            hint: "register a matching device, or call push.test.allow_no_target() in the test if this is expected")
        error.location = location
        error.annotations = annotations
        return error.masked(by: withheld)
    }

    /// Creates the run of a nested flow. It knows the same devices by name, and shows only what is new.
    func child(
        _ script: FlowScript, parameters: FlowParameters, depth: Int, sink: @escaping @Sendable (FlowEvent) -> Void
    ) -> FlowRun {
        let (number, devices, registrations) = state.withLock { state in
            state.children += 1
            return (state.children, state.devices, state.registrations)
        }
        let identity = Identity(run: "\(identity.run).\(number)", version: script.version)
        let child = FlowRun(
            script, runner: runner, identity: identity, parameters: parameters,
            role: RunRole(origin: origin, depth: role.depth + depth, isNested: true), shared: shared, sink: sink)
        child.state.withLock { ($0.devices, $0.registrations) = (devices, registrations) }
        return child
    }

    /// Adds the state and counts of a nested run to this one.
    func absorb(_ child: FlowRun) {
        let inner = child.state.withLock { $0 }
        state.withLock { state in
            state.devices.merge(inner.devices) { $1 }
            state.registrations.merge(inner.registrations) { $1 }
            state.sends.absorb(inner.sends)
            state.expectations.absorb(inner.expectations)
        }
    }

    /// Records the item that a task waited for and did not receive; nil if the item has arrived.
    func recordMissedItem(_ text: String?, of task: Int) { state.withLock { $0.missed[task] = text } }

    /// Returns and clears the missed item, so that later expectations do not show it.
    func takeMissedItem(of task: Int) -> String? { state.withLock { $0.missed.removeValue(forKey: task) } }

    /// The sends of the run.
    var sends: SendReporter { SendReporter(run: self) }
}
