import Lua
import PushCore
import Synchronization

/// The state of one run of one flow: its world, its steps, what it expected, what it was given.
package final class FlowRun: Sendable {
    let runner: FlowRunner
    let script: FlowScript
    package let identity: Identity
    let parameters: FlowParameters
    let purpose: Purpose
    /// What the script is run for at the moment.
    let phase: ScriptPhase
    /// Nil for a flow.
    let plugin: PluginContext?
    /// The plugins on whose behalf the run asks for what it asks for; none for a flow.
    let origin: [String]
    /// Shared by a run and the runs inside of it: nothing is shown twice.
    let seen: SeenEvents
    /// Shared in the same way: no report shows what a secure payload holds.
    let withheld: WithheldTexts
    let began: Timestamp
    /// What the run uses is charged to it; shared with the runs inside of it.
    let account: RunAccount
    let sink: @Sendable (FlowEvent) -> Void
    let state: Mutex<State>

    package struct Identity: Sendable, Equatable {
        /// `r-0193`
        package var run: String
        /// The first six digits of the script's SHA-256.
        package var version: String

        package init(run: String, version: String) {
            self.run = run
            self.version = version
        }
    }

    /// What a script is run for.
    package enum Purpose: Sendable, Equatable {
        case flow
        /// To learn which tests it holds.
        case collectingTests
        /// For the test with this number, counted from 1 in the order of the file, and this full name.
        case test(Int, name: String)
        /// A line at a time, see ``InteractiveFlow``.
        case interactive
    }

    package var world: FlowWorld { runner.world }

    /// How many of the lab's events have been looked at.
    final class SeenEvents: Sendable {
        let count = Mutex(0)
    }

    struct State {
        var steps = 0
        /// The open steps of each task, innermost last.
        var open: [Int: [FlowStep]] = [:]
        /// The step that a task was started in.
        var joined: [Int: Int] = [:]
        var expectations = 0
        /// Expectations that no matcher has looked at yet: where they stand, by number.
        var unsettled: [Int: SourceLocation] = [:]
        var opened = 0
        var failedCount = 0
        /// The first of them.
        var failed: [FailedExpectation] = []
        var delivered = 0
        var noTargets = 0
        /// The first send that reached no device: its audience, and the line that made it.
        var firstNoTarget: (audience: String, location: SourceLocation?)?
        /// A test has said that its sends may reach no device.
        var allowsNoTarget = false
        /// By the ids of registrations, whether each has a template.
        var registrations: [String: Bool] = [:]
        /// What a task waited for last on a phone, where it did not come.
        var missed: [Int: MissedItem] = [:]
        var devices: [DeviceHandle: String] = [:]
        var hasDeclaredArguments = false
        /// A binding has been called that may only follow `push.args`.
        var hasBegun = false
        var declaration: FlowDeclaration?
        var isDescribed = false
        /// What its report is charged to when a budget of the run is spent.
        var closing: RunAccount?
        var tests: [TestCase] = []
        /// Notifications that are to go out later.
        var planned = PlannedSends()
        var children = 0
        /// Warnings of templates: each is given once.
        var templateWarnings: Set<String> = []
    }

    init(
        _ script: FlowScript, runner: FlowRunner, identity: Identity, parameters: FlowParameters = FlowParameters(),
        purpose: Purpose = .flow, phase: ScriptPhase = .flow, plugin: PluginContext? = nil, origin: [String] = [],
        seen: SeenEvents = SeenEvents(),
        withheld: WithheldTexts = WithheldTexts(), account: RunAccount? = nil, sink: @escaping @Sendable (FlowEvent) -> Void
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

    /// Tells what happened, if the output budget has room for it.
    func emit(_ event: FlowEvent) {
        let size = event.outputSize(in: runner.detail)
        guard size == 0 || outputAccount.admit(.output, size) else { return }
        // Such a report is written when the run is over.
        if runner.detail == .full { account.note(.memory, 3 * size) }
        sink(event.masked(by: withheld))
    }

    /// Tells what a run inside of this one has told, and has charged.
    func relay(_ event: FlowEvent) { sink(event.masked(by: withheld)) }

    /// What is printed is charged to it: the run's account, or that of its closing report.
    var outputAccount: RunAccount { state.withLock { $0.closing } ?? account }

    /// A run that spent a budget, or was cancelled, still gets a report, which has budgets of its own.
    func beginClosing() {
        let closing = RunAccount(FlowRunner.closingLimits)
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
            // An expectation that failed inside fails the steps around it, even if the script caught the error.
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

    /// The innermost step that a task is in, its own or the one that it was started in; 0 for none.
    func currentStep(of task: Int) -> Int { state.withLock { $0.open[task]?.last?.id ?? $0.joined[task] ?? 0 } }

    /// How many steps are open around what a task does.
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

    /// Changes the step that a task is in. False when it is in none, or when that one has ended.
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

    // MARK: - What happened

    /// Counts a registration, each id once, and warns where one of another kind had its id.
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
                    message: "\(device) is registered \(kind(isTemplate)) now: that replaced its registration \(kind(before))",
                    near: ["push.install with templates makes a phone that has both"], location: site.location)))
    }

    func noteRegistration(named name: String, of handle: DeviceHandle, device: String, task: Int) {
        note(device, of: handle)
        _ = change(task: task) { $0.registered.insert(name) }
    }

    /// The phone that a handle belongs to, for rows and reports.
    func note(_ device: String, of handle: DeviceHandle) { state.withLock { $0.devices[handle] = device } }

    func deviceName(of handle: DeviceHandle) -> String? { state.withLock { $0.devices[handle] } }

    /// Waits on the run's clock. Raises `time.too_far` beyond the year 9999.
    func sleep(for duration: Duration) async throws {
        let deadline = world.clock.now + duration
        guard deadline <= .distantFuture else {
            throw LuaError.failure("time.too_far", "the clock of the run ends with the year 9999", hint: "wait for a shorter time")
        }
        try await (plugin?.services.attendance?.clock ?? world.clock).sleep(until: deadline)
    }

    /// A value that a matcher will look at; answers the expectation's number.
    func openExpectation(at location: SourceLocation?) -> Int {
        account.note(.memory, HostCost.openExpectation)
        return state.withLock { state in
            state.opened += 1
            state.unsettled[state.opened] = location ?? SourceLocation(chunk: "", line: 0)
            return state.opened
        }
    }

    /// A matcher was called; what it says is not waited for, because it may raise what the script catches.
    func settleExpectation(_ id: Int) {
        let wasOpen = state.withLock { $0.unsettled.removeValue(forKey: id) != nil }
        if wasOpen { account.release(.memory, HostCost.openExpectation) }
    }

    /// At the end: an expectation without a matcher has looked at nothing, and that is a failure.
    func failOpenExpectations() {
        let forgotten = state.withLock { $0.unsettled.sorted { $0.key < $1.key }.map(\.value) }
        for location in forgotten {
            let message = "push.expect got no matcher, so it expects nothing: add .to.equal(…) or another"
            noteExpectation(FailedExpectation(message: message, location: location), task: 0)
        }
    }

    /// Counts an expectation; a failed one fails the run, whatever the script does with the error.
    func noteExpectation(_ failure: FailedExpectation?, task: Int) {
        state.withLock { state in
            state.expectations += 1
            guard let failure else { return }
            state.failedCount += 1
            if state.failed.count < Self.keptFailures { state.failed.append(failure.masked(by: withheld).shortened) }
        }
        _ = change(task: task) { step in
            step.expectations += 1
            if failure != nil { step.failedExpectations += 1 }
        }
    }

    /// Notes an expectation that does not hold. What the report prints of it is charged before it is stored.
    func noteFailedExpectation(_ failure: FailedExpectation, task: Int) throws(LuaError) {
        if state.withLock({ $0.failed.count }) < Self.keptFailures {
            let size = failure.shortened.byteCount
            try account.charge(.output, size)
            try account.charge(.memory, size)
        }
        noteExpectation(failure, task: task)
    }

    /// Writes to the run's log. Raises `budget.output` when a script writes without end.
    func log(_ level: String, _ text: String, at location: SourceLocation?) throws(LuaError) {
        try charge(text)
        emit(.log(level: level, text: text, location: location))
    }

    /// Charges what will be printed to the output budget.
    private func charge(_ text: String) throws(LuaError) { try account.charge(.output, text.utf8.count + 1) }

    private static let keptFailures = 100

    /// Whether `push.args` may be called now: once, before everything else, or at any time by a person at a prompt.
    func declareArguments() -> Bool {
        state.withLock { state in
            defer { state.hasDeclaredArguments = true }
            return purpose == .interactive || (!state.hasDeclaredArguments && !state.hasBegun)
        }
    }

    /// Called before every binding. Refuses all where a budget is spent, and options that the flow does not read, before anything has
    /// happened.
    func admit(_ binding: Binding) throws(LuaError) {
        try account.check()
        try permit(binding)
        if binding.name != "push.args" { try begin() }
    }

    /// From here on something happens: a flow that is only asked for its parameters ends before.
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

    /// Of an option that nobody reads.
    func refusal(of option: String) -> LuaError {
        let near = nearest(option, in: hostOptions.sorted()).map { "; did you mean --\($0)?" } ?? ""
        return .misuse(
            "usage.no_options", "the flow takes no options, got --\(option)\(near)", hint: "declare them with push.args")
    }

    /// What a misspelt option may mean; a flow inside another one has no command line.
    var hostOptions: Set<String> { identity.run.contains(".") ? [] : FlowParameters.reserved }

    /// Notes what the flow declares, nil for nothing, and answers the error that ends it.
    func describe(_ declaration: FlowDeclaration?) -> LuaError {
        state.withLock { state in
            state.isDescribed = true
            state.declaration = state.declaration ?? declaration
        }
        return .misuse("flow.described", "the flow was only asked for its parameters")
    }

    /// What the flow declares, once it is known: nil inside when it declares nothing.
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
    /// With texts of a size that a report can hold.
    fileprivate var shortened: FailedExpectation {
        func cut(_ text: String) -> String { text.utf8.count <= 4000 ? text : "\(text.prefix(1000))…" }
        return FailedExpectation(
            message: cut(message), location: location, expected: expected.map(cut), actual: actual.map(cut))
    }

    fileprivate var byteCount: Int {
        [message, expected ?? "", actual ?? ""].reduce(0) { $0 + $1.utf8.count }
    }
}
