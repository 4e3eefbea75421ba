package import Lua
import PushModel
import Synchronization

/// Runs flows against a world, each in a Lua state of its own.
package struct FlowRunner: Sendable {
    package var world: FlowWorld
    package var thread: LuaThread
    package var limits: LuaLimits
    package var seed: UInt64
    package var scripts: any ScriptLibrary
    /// The plugins on whose behalf the flow acts; empty if a user runs it.
    package var origin: [String]
    /// Level of detail of the reports, which determines the output charged.
    package var detail = ReportDetail.summary
    /// Whether all events are stored until the end of the run, and so count toward its memory. A full report always stores them.
    package var retainsEvents = false

    /// Limits for the report of a run that exceeded a budget or was cancelled.
    static let reportLimits = RunAccount.Limits(cpu: .seconds(1), time: .seconds(5), output: 256 << 10)

    package init(
        world: FlowWorld, thread: LuaThread, limits: LuaLimits, seed: UInt64, scripts: any ScriptLibrary = NoScripts(),
        origin: [String] = []
    ) {
        self.world = world
        self.thread = thread
        self.limits = limits
        self.seed = seed
        self.scripts = scripts
        self.origin = origin
    }

    /// Runs a flow to its end. Cancelling the task cancels the flow: its cleanup runs, then it ends with `cancelled`.
    ///
    /// - Parameter account: Charged for the run's resource use; nil creates one with the runner's limits.
    package func run(
        _ script: FlowScript, run id: String, parameters: FlowParameters = FlowParameters(), account: RunAccount? = nil,
        events sink: @escaping @Sendable (FlowEvent) -> Void
    ) async -> FlowReport {
        let run = FlowRun(
            script, runner: self, identity: FlowRun.Identity(run: id, version: script.version), parameters: parameters,
            role: RunRole(origin: origin), shared: account.map { FlowRun.SharedState(account: $0) }, sink: sink)
        // All on the run's thread, so that the clock cannot jump between the end of the script and the report.
        return await onThread { await report(run) { try await execute(run) } }
    }

    /// Runs one test of a spec. Returns the report and the full name of the test found at that number.
    func run(
        _ test: TestCase, number: Int, of script: FlowScript, draws: PropertyDraws? = nil, snapshots: SnapshotBook? = nil,
        events sink: @escaping @Sendable (FlowEvent) -> Void
    ) async -> (FlowReport, found: String?) {
        let run = FlowRun(
            script, runner: self, identity: FlowRun.Identity(run: "t-\(number.padded(4))", version: script.version),
            role: RunRole(purpose: .test(number, name: test.fullName), draws: draws, snapshots: snapshots), sink: sink)
        return (await onThread { await report(run) { try await execute(run) } }, run.tests.last?.fullName)
    }

    /// Runs a nested flow in the same world and on the same clock. Call it on the thread.
    func run(inside run: FlowRun) async -> FlowReport {
        await report(run, isInside: true) { try await execute(run, isInside: true) }
    }

    private func report(
        _ run: FlowRun, isInside: Bool = false, _ execute: () async throws -> [LuaValue]
    ) async -> FlowReport {
        let began = world.clock.now
        // Also charges what the host does before and after the script. The thread works for no other run.
        let charge = isInside ? nil : thread.charge(run.account)
        if !isInside { world.memory?.charge(to: run.account) }
        defer {
            if let charge { thread.endCharge(charge) }
            if !isInside { world.memory?.charge(to: nil) }
        }
        var verdict: FlowReport.Verdict
        var result: JSON?
        do {
            let values = try await execute()
            do throws(JSONConversionError) {
                result = try values.first?.json(named: "result")
            } catch {
                let note = "the result of the flow cannot be written as JSON: \(error.message); the report omits it"
                run.emit(.warning(FlowWarning(code: "flow.result", message: note, near: [], location: nil)))
            }
            if let unread = run.parameters.given.first, !run.hasDeclaredArguments {
                throw run.refusal(of: unread.name)
            }
            run.failOpenExpectations()
            verdict = run.hasFailedExpectations ? .failed : .passed
        } catch {
            verdict = .raised(((error as? LuaError) ?? .failure("host.error", "\(error)")).masked(by: run.withheld))
        }
        verdict = isInside ? verdict : world.connections?.consumeFailure().map { .raised(LuaError($0)) } ?? verdict
        if Task.isCancelled || !run.account.canContinue { run.beginClosingReport() }
        await countScheduledSends(of: run, isInside: isInside)
        if case .passed = verdict, let failure = run.unreachedTest { verdict = .raised(failure) }
        if !run.account.canContinue { run.beginClosingReport() }
        let shown = await run.sends.takeShownItems()
        if !shown.isEmpty { run.emit(.shown(shown)) }
        if !verdict.hasRaised { verdict = overspent(run) ?? verdict }
        return run.report(verdict: verdict, result: result, began: began)
    }

    /// The verdict on a run that exceeded a budget after the end of its script; nil if it did not.
    private func overspent(_ run: FlowRun) -> FlowReport.Verdict? {
        do throws(LuaError) {
            try run.account.checkTime()
            return nil
        } catch {
            var error = error
            error.annotations = run.annotations
            if error.code == "budget.cpu" { error.hint = cpuHint }
            return .raised(error)
        }
    }

    /// Sends what is due before the run ends. Later sends of a nested flow may go out before the outer flow ends.
    private func countScheduledSends(of run: FlowRun, isInside: Bool) async {
        if !isInside, let clock = world.clock as? any SteppedClock {
            thread.setIdleHandler { clock.step() == .woke }
        }
        await run.sends.awaitDueSends()
        if !isInside { thread.setIdleHandler(nil) }
        await run.sends.countScheduled(isOver: !isInside)
    }

    /// The parameters that a flow declares; nil if it declares none. Throws what the script raises before the declaration. Has no effects:
    /// the first call of `push` ends the script.
    package func declaration(of script: FlowScript) async throws -> FlowDeclaration? {
        let run = FlowRun(
            script, runner: self, identity: FlowRun.Identity(run: "r-0000", version: script.version),
            parameters: FlowParameters(isDescribing: true), sink: { _ in })
        do {
            _ = try await onThread { await outcome(of: run) }.get()
        } catch {
            guard let declaration = run.description else { throw error }
            return declaration
        }
        return run.description ?? nil
    }

    /// The tests that a spec declares, in order. Throws what the file raises outside of its tests, and `test.empty` if it declares none.
    package func tests(of script: FlowScript, events sink: @escaping @Sendable (FlowEvent) -> Void) async throws -> [TestCase] {
        let run = FlowRun(
            script, runner: self, identity: FlowRun.Identity(run: "r-0000", version: script.version),
            role: RunRole(purpose: .collectingTests), sink: sink)
        _ = try await onThread { await outcome(of: run) }.get()
        guard !run.tests.isEmpty else {
            throw LuaError.misuse(
                "test.empty", "\(script.name) declares no test", hint: "write push.test.it(\"…\", function() … end)")
        }
        return run.tests
    }

    /// Runs `work` on the thread. Cancelling the caller cancels it.
    private func onThread<Answer: Sendable>(_ work: @escaping @Sendable () async -> Answer) async -> Answer {
        let task = Task(executorPreference: thread) { await work() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: { [world] in
            task.cancel()
            world.connections?.shortenTimeouts(permanently: true)
        }
    }

    private var cpuHint: String {
        "look for an endless loop, or raise \(world.usesOwnThreads ? "cpu_limit in the settings of the flow" : "--cpu-limit")"
    }

    private func outcome(of run: FlowRun) async -> Result<[LuaValue], any Error> {
        do { return .success(try await execute(run)) } catch { return .failure(error) }
    }

    /// Runs the script. Call it on the thread.
    private func execute(_ run: FlowRun, isInside: Bool = false) async throws -> [LuaValue] {
        let state = try LuaState(
            thread: thread, limits: limits, seed: seed, absent: world.module.absentNames, searchPath: scripts.modules(of: run.script),
            account: run.account)
        try await state.define(world.module.module(for: run))
        let id = LuaRunID(rawValue: 1)
        let stall = Stall()
        if !isInside, let clock = world.clock as? any SteppedClock {
            thread.setIdleHandler {
                switch clock.step() {
                case .woke: true
                case .inFlight: false
                // No task is due to wake and a rehearsal has no external events, so the script would wait forever.
                case .over: stall.begin { state.cancel(id) }
                }
            }
        }
        if !isInside { world.connections?.onFailure { state.cancel(id) } }
        defer {
            if !isInside {
                thread.setIdleHandler(nil)
                world.connections?.onFailure(nil)
            }
        }
        do {
            return try await state.run(
                LuaScript(name: run.script.name, source: run.script.source), id: id,
                annotations: run.annotations)
        } catch let error as LuaError where error.kind == .cancelled && stall.hasStarted {
            throw error.asStalled
        } catch let error as LuaError where error.kind == .syntax {
            // Replace Lua's message with a more precise one.
            guard var diagnosis = LuaError.syntax(of: run.script) else { throw error }
            diagnosis.annotations = run.annotations
            throw diagnosis
        } catch let error as LuaError where error.code == "budget.cpu" && error.hint == nil {
            var error = error
            error.hint = cpuHint
            throw error
        } catch let error as LuaError {
            throw world.module.explained(error, in: run.script)
        }
    }
}

/// Records whether a run was cancelled because it waited for an event that could not occur.
private final class Stall: Sendable {
    private let state = Mutex(false)

    var hasStarted: Bool { state.withLock { $0 } }

    /// Calls `action` the first time. Returns whether it was called.
    func begin(_ action: () -> Void) -> Bool {
        let isFirst = state.withLock { begun in
            defer { begun = true }
            return !begun
        }
        if isFirst { action() }
        return isFirst
    }
}

extension LuaError {
    /// The error for a run or line that waited for an event that could not occur.
    var asStalled: LuaError {
        var error = self
        error.kind = .failure
        error.code = "flow.stalled"
        error.message = "the flow waits for an event that cannot occur"
        error.hint = "phone:next_push and task:await have no time limit; phone:wait_for has one"
        return error
    }
}
