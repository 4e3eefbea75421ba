import Lua
import PushModel
import Synchronization

/// The state of one run of a flow: world, steps, expectations and arguments.
package final class FlowRun: Sendable {
    let runner: FlowRunner
    let script: FlowScript
    package let identity: Identity
    let parameters: FlowParameters
    let purpose: Purpose
    /// What the script is currently run for.
    let phase: ScriptPhase
    /// The context of a plugin; nil for a flow.
    let plugin: PluginContext?
    /// The plugins on whose behalf the run acts; empty for a flow.
    let origin: [String]
    /// Events already shown. Shared with nested runs so that nothing is shown twice.
    let seen: SeenEvents
    /// Texts to mask in reports. Shared with nested runs.
    let withheld: SecretMasker
    let began: Timestamp
    /// The account charged for the run's resource use. Shared with nested runs.
    let account: RunAccount
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

    /// The purpose of a run.
    package enum Purpose: Sendable, Equatable {
        case flow
        /// Collecting the names of the tests.
        case collectingTests
        /// Running one test: its number in file order, from 1, and its full name.
        case test(Int, name: String)
        /// Running line by line; see ``InteractiveFlow``.
        case interactive
    }

    package var world: FlowWorld { runner.world }

    /// Number of lab events that have been processed.
    final class SeenEvents: Sendable {
        let count = Mutex(0)
    }

    struct State {
        var steps = 0
        /// The open steps of each task, innermost last.
        var open: [Int: [FlowStep]] = [:]
        /// The step in which each task was started.
        var joined: [Int: Int] = [:]
        var expectations = 0
        /// Locations of expectations that have no matcher yet, by number.
        var unsettled: [Int: SourceLocation] = [:]
        var opened = 0
        var failedCount = 0
        /// The first failures, at most `maximumFailures`.
        var failed: [FailedExpectation] = []
        var delivered = 0
        var noTargets = 0
        /// Audience and line of the first send that reached no device.
        var firstNoTarget: (audience: String, location: SourceLocation?)?
        /// Whether the test allows sends that reach no device.
        var allowsNoTarget = false
        /// Whether each registration has a template, by registration id.
        var registrations: [String: Bool] = [:]
        /// For each task, the item that it last waited for in vain.
        var missed: [Int: MissedItem] = [:]
        var devices: [DeviceHandle: String] = [:]
        var hasDeclaredArguments = false
        /// Whether a binding that must follow `push.args` has been called.
        var hasBegun = false
        var declaration: FlowDeclaration?
        var isDescribed = false
        /// The account for the report after a budget of the run is exceeded.
        var closing: RunAccount?
        var tests: [TestCase] = []
        /// Scheduled notifications that have not been counted yet.
        var planned = PlannedSends()
        var children = 0
        /// Template warnings that have been reported; each is reported once.
        var templateWarnings: Set<String> = []
    }

    init(
        _ script: FlowScript, runner: FlowRunner, identity: Identity, parameters: FlowParameters = FlowParameters(),
        purpose: Purpose = .flow, phase: ScriptPhase = .flow, plugin: PluginContext? = nil, origin: [String] = [],
        seen: SeenEvents = SeenEvents(),
        withheld: SecretMasker = SecretMasker(), account: RunAccount? = nil, sink: @escaping @Sendable (FlowEvent) -> Void
    ) {
        self.script = script
        self.runner = runner
        self.identity = identity
        self.parameters = parameters
        self.purpose = purpose
        self.phase = phase
        self.plugin = plugin
        self.origin = origin
        self.sink = sink
        self.seen = seen
        self.withheld = withheld
        self.account = account ?? RunAccount(runner.limits)
        began = runner.world.clock.now
        state = Mutex(State())
    }

    /// Reports an event if the output budget allows it.
    func emit(_ event: FlowEvent) {
        let size = event.outputSize(in: runner.detail)
        guard size == 0 || outputAccount.admit(.output, size) else { return }
        // A full report stays in memory until the end of the run.
        if runner.detail == .full { account.note(.memory, 3 * size) }
        sink(event.masked(by: withheld))
    }

    /// Reports an event of a nested run, which has already charged it.
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
        try charge(name)
        let step = state.withLock { state in
            state.steps += 1
            let step = FlowStep(
                id: state.steps, depth: state.open[task, default: []].count, name: name, status: .passed,
                began: world.clock.now, ended: world.clock.now)
            state.open[task, default: []].append(step)
            return step
        }
        emit(.stepBegan(id: step.id, depth: step.depth, name: name))
        return step.id
    }

    func endStep(_ id: Int, task: Int, passed: Bool, shown: [ShownItem]) {
        let ended: FlowStep? = state.withLock { state in
            guard let place = state.open[task]?.lastIndex(where: { $0.id == id }),
                var step = state.open[task]?.remove(at: place)
            else { return nil }
            step.status = passed && step.failedExpectations == 0 && !step.containsFailure ? .passed : .failed
            step.ended = world.clock.now
            step.shown = shown
            // A failed expectation also fails the enclosing steps, even if the script caught the error.
            if step.failedExpectations > 0 || step.containsFailure, let outer = state.open[task]?.indices.last {
                state.open[task]?[outer].containsFailure = true
            }
            if state.open[task]?.isEmpty == true { state.open[task] = nil }
            return step
        }
        if let ended { emit(.stepEnded(ended)) }
    }

    func skipStep(_ name: String, task: Int, reason: String) throws(LuaError) {
        try begin()
        try charge(name)
        let step = state.withLock { state in
            state.steps += 1
            return FlowStep(
                id: state.steps, depth: state.open[task]?.count ?? 0, name: name, status: .skipped,
                began: world.clock.now, ended: world.clock.now, reason: reason)
        }
        emit(.stepEnded(step))
    }

    /// The innermost step of a task, its own or the one in which it was started; 0 for none.
    func currentStep(of task: Int) -> Int { state.withLock { $0.open[task]?.last?.id ?? $0.joined[task] ?? 0 } }

    /// Number of open steps around a task.
    func depth(of task: Int) -> Int {
        state.withLock { state in
            if let own = state.open[task]?.count, own > 0 { return own }
            guard let step = state.joined[task] else { return 0 }
            return state.open.values.lazy.compactMap { $0.first { $0.id == step }?.depth }.first.map { $0 + 1 } ?? 0
        }
    }

    func join(step: Int, task: Int) {
        account.note(.memory, HostCost.joinedTask)
        state.withLock { $0.joined[task] = step }
    }

    /// Changes the current step of a task. Returns false if the task is in no step or the step has ended.
    func change(task: Int, _ body: (inout FlowStep) -> Void) -> Bool {
        state.withLock { state in
            if let place = state.open[task]?.indices.last {
                body(&state.open[task, default: []][place])
                return true
            }
            guard let step = state.joined[task],
                let owner = state.open.first(where: { $0.value.contains { $0.id == step } })?.key,
                let place = state.open[owner]?.firstIndex(where: { $0.id == step })
            else { return false }
            body(&state.open[owner, default: []][place])
            return true
        }
    }

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
        try await (plugin?.services.callTracker?.clock ?? world.clock).sleep(until: deadline)
    }

    /// Opens an expectation that a matcher will settle. Returns its number.
    func openExpectation(at location: SourceLocation?) -> Int {
        account.note(.memory, HostCost.openExpectation)
        return state.withLock { state in
            state.opened += 1
            state.unsettled[state.opened] = location ?? SourceLocation(chunk: "", line: 0)
            return state.opened
        }
    }

    /// Settles an expectation when a matcher is called, before its result, because the script may catch the matcher's error.
    func settleExpectation(_ id: Int) {
        let wasOpen = state.withLock { $0.unsettled.removeValue(forKey: id) != nil }
        if wasOpen { account.release(.memory, HostCost.openExpectation) }
    }

    /// At the end of the run, fails each expectation without a matcher.
    func failOpenExpectations() {
        let forgotten = state.withLock { $0.unsettled.sorted { $0.key < $1.key }.map(\.value) }
        for location in forgotten {
            let message = "push.expect has no matcher: add one such as .to.equal(…)"
            noteExpectation(FailedExpectation(message: message, location: location), task: 0)
        }
    }

    /// Counts an expectation. A failed one fails the run, even if the script catches the error.
    func noteExpectation(_ failure: FailedExpectation?, task: Int) {
        state.withLock { state in
            state.expectations += 1
            guard let failure else { return }
            state.failedCount += 1
            if state.failed.count < Self.maximumFailures { state.failed.append(failure.masked(by: withheld).shortened) }
        }
        _ = change(task: task) { step in
            step.expectations += 1
            if failure != nil { step.failedExpectations += 1 }
        }
    }

    /// Records a failed expectation. Its printed size is charged before it is stored.
    func noteFailedExpectation(_ failure: FailedExpectation, task: Int) throws(LuaError) {
        if state.withLock({ $0.failed.count }) < Self.maximumFailures {
            let size = failure.shortened.byteCount
            try account.charge(.output, size)
            try account.charge(.memory, size)
        }
        noteExpectation(failure, task: task)
    }

    /// Writes to the run's log. Throws `budget.output` if the script exceeds the output budget.
    func log(_ level: String, _ text: String, at location: SourceLocation?) throws(LuaError) {
        try charge(text)
        emit(.log(level: level, text: text, location: location))
    }

    /// Charges a text to the output budget.
    private func charge(_ text: String) throws(LuaError) { try account.charge(.output, text.utf8.count + 1) }

    private static let maximumFailures = 100

    /// Whether `push.args` may be called now: once and before any other call, or at any time in an interactive session.
    func declareArguments() -> Bool {
        state.withLock { state in
            defer { state.hasDeclaredArguments = true }
            return purpose == .interactive || (!state.hasDeclaredArguments && !state.hasBegun)
        }
    }

    /// Called before every binding. Rejects the call if a budget is exceeded, or if options were given that the flow does not declare.
    func admit(_ binding: Binding) throws(LuaError) {
        try account.check()
        try permit(binding)
        if binding.name != "push.args" { try begin() }
    }

    /// Marks the start of effects. A run that only describes the flow ends here.
    private func begin() throws(LuaError) {
        guard plugin == nil else { return }
        guard !parameters.isDescribing else { throw describe(nil) }
        let unread = state.withLock { state in
            state.hasBegun = true
            return state.hasDeclaredArguments ? nil : parameters.given.first
        }
        if let unread {
            throw refusal(of: unread.name)
        }
    }

    /// The error for an option that the flow does not declare.
    func refusal(of option: String) -> LuaError {
        let near = nearest(option, in: hostOptions.sorted()).map { "; did you mean --\($0)?" } ?? ""
        return .misuse(
            "usage.no_options", "the flow has no options, got --\(option)\(near)", hint: "declare them with push.args")
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

    var hasFailedExpectations: Bool { state.withLock { $0.failedCount > 0 } }

    var hasDeclaredArguments: Bool { state.withLock { $0.hasDeclaredArguments } }

    func report(verdict: FlowReport.Verdict, result: JSON?, began: Timestamp) -> FlowReport {
        state.withLock { state in
            FlowReport(
                verdict: verdict, result: result, recordableResult: result.map(withheld.masking), steps: state.steps,
                expectations: state.expectations,
                failedExpectationCount: state.failedCount, failedExpectations: state.failed, delivered: state.delivered,
                noTargets: state.noTargets, began: began,
                ended: world.clock.now)
        }
    }
}

extension FailedExpectation {
    /// The failure with texts shortened for reports.
    fileprivate var shortened: FailedExpectation {
        func cut(_ text: String) -> String { text.utf8.count <= 4000 ? text : "\(text.prefix(1000))…" }
        return FailedExpectation(
            message: cut(message), location: location, expected: expected.map(cut), actual: actual.map(cut))
    }

    fileprivate var byteCount: Int {
        [message, expected ?? "", actual ?? ""].reduce(0) { $0 + $1.utf8.count }
    }
}
