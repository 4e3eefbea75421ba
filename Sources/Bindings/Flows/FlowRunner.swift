import Lua
import PushCore
import Synchronization

/// A flow's source with the name that its errors show and the hash that tells its versions apart.
package struct FlowScript: Sendable, Equatable {
    package var name: String
    package var source: [UInt8]
    package var version: String
    /// Folders of the scripts that have run this one: it may name scripts there too.
    package var roots: [String] = []

    package init(name: String, source: [UInt8], version: String) {
        self.name = name
        self.source = source
        self.version = version
    }
}

/// Runs a flow in a Lua state of its own against a world.
package struct FlowRunner: Sendable {
    package var world: FlowWorld
    package var thread: LuaThread
    package var limits: LuaLimits
    package var seed: UInt64
    package var scripts: any ScriptLibrary
    /// On whose behalf the flow does what it does; none where a person runs it.
    package var origin: [String]
    /// How much the reports of its runs have, and so what they are charged for.
    package var detail = ReportDetail.summary

    /// What the report of a run may use after the run has spent a budget, or was cancelled.
    static let closingLimits = RunAccount.Limits(cpu: .seconds(1), time: .seconds(5), output: 256 << 10)

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

    /// Runs to the end. Cancelling the task cancels the flow: its cleanup runs, then it ends with `cancelled`.
    ///
    /// - Parameter account: is charged for what the run uses; nil: one with the runner's limits.
    package func run(
        _ script: FlowScript, run id: String, parameters: FlowParameters = FlowParameters(), account: RunAccount? = nil,
        events sink: @escaping @Sendable (FlowEvent) -> Void
    ) async -> FlowReport {
        let run = FlowRun(
            script, runner: self, identity: FlowRun.Identity(run: id, version: script.version), parameters: parameters,
            origin: origin, account: account, sink: sink)
        // On the run's own thread to the last line, so that the clock cannot jump between the end and the report.
        return await onThread { await report(run) { try await execute(run) } }
    }

    /// Runs one test of a spec, and answers the full name of the test that stood in its place.
    func run(
        _ test: TestCase, number: Int, of script: FlowScript, events sink: @escaping @Sendable (FlowEvent) -> Void
    ) async -> (FlowReport, found: String?) {
        let run = FlowRun(
            script, runner: self, identity: FlowRun.Identity(run: "t-\(number.padded(4))", version: script.version),
            purpose: .test(number, name: test.fullName), sink: sink)
        return (await onThread { await report(run) { try await execute(run) } }, run.tests.last?.fullName)
    }

    /// Runs a flow inside another one's run, in the same world and on the same clock. To be called on the thread.
    func run(inside run: FlowRun) async -> FlowReport {
        await report(run, isInside: true) { try await execute(run, isInside: true) }
    }

    private func report(
        _ run: FlowRun, isInside: Bool = false, _ execute: () async throws -> [LuaValue]
    ) async -> FlowReport {
        let began = world.clock.now
        // Also what the host does before and after the script is the run's: the thread works for nothing else.
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
            do throws(UnwritableJSON) {
                result = try values.first?.json(named: "result")
            } catch {
                let note = "what the flow returns cannot be written as JSON: \(error.message); it is left out of the report"
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
        verdict = isInside ? verdict : world.connections?.takeFailure().map { .raised(LuaError($0)) } ?? verdict
        if Task.isCancelled || !run.account.mayGoOn { run.beginClosing() }
        await settleSchedules(of: run, isInside: isInside)
        if case .passed = verdict, let failure = run.unreachedTest { verdict = .raised(failure) }
        if !run.account.mayGoOn { run.beginClosing() }
        let shown = await run.newlyShown()
        if !shown.isEmpty { run.emit(.shown(shown)) }
        if !verdict.hasRaised { verdict = overspent(run) ?? verdict }
        return run.report(verdict: verdict, result: result, began: began)
    }

    /// The verdict on a run whose budgets were spent after the end of its script; nil where there is something left.
    private func overspent(_ run: FlowRun) -> FlowReport.Verdict? {
        do throws(LuaError) {
            try run.account.checkTime()
            return nil
        } catch {
            var error = error
            error.annotations = run.annotations
            return .raised(error.code == "budget.cpu" ? error.withCPUHint : error)
        }
    }

    /// What is due goes out before the run ends; what a flow inside has planned for later may do so before the outer one ends.
    private func settleSchedules(of run: FlowRun, isInside: Bool) async {
        if !isInside, let clock = world.clock as? any SteppedClock {
            thread.setIdleHandler { clock.step() == .woke }
        }
        await run.finishDueSchedules()
        if !isInside { thread.setIdleHandler(nil) }
        await run.settleSchedules(isOver: !isInside)
    }

    /// The parameters that a flow declares; nil when it declares none. Raises what the script raises before it does.
    /// Nothing of the world is touched: the first call of `push` ends the flow.
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

    /// The tests that a spec declares, in order. Raises what the file raises outside of its tests, `test.empty` when it
    /// declares none.
    package func tests(of script: FlowScript, events sink: @escaping @Sendable (FlowEvent) -> Void) async throws -> [TestCase] {
        let run = FlowRun(
            script, runner: self, identity: FlowRun.Identity(run: "r-0000", version: script.version),
            purpose: .collectingTests, sink: sink)
        _ = try await onThread { await outcome(of: run) }.get()
        guard !run.tests.isEmpty else {
            throw LuaError.misuse(
                "test.empty", "\(script.name) declares no test", hint: "write push.test.it(\"…\", function() … end)")
        }
        return run.tests
    }

    /// Does work on the thread. Cancelling the caller cancels it.
    private func onThread<Answer: Sendable>(_ work: @escaping @Sendable () async -> Answer) async -> Answer {
        let task = Task(executorPreference: thread) { await work() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: { [world] in
            task.cancel()
            world.connections?.hurry(forGood: true)
        }
    }

    private func outcome(of run: FlowRun) async -> Result<[LuaValue], any Error> {
        do { return .success(try await execute(run)) } catch { return .failure(error) }
    }

    /// To be called on the thread.
    private func execute(_ run: FlowRun, isInside: Bool = false) async throws -> [LuaValue] {
        let state = try LuaState(
            thread: thread, limits: limits, seed: seed, absent: HostFunctions.absent, searchPath: scripts.modules(of: run.script),
            account: run.account)
        try await state.define(PushModule.module(for: run))
        let id = LuaRunID(rawValue: 1)
        let stall = Stall()
        if !isInside, let clock = world.clock as? any SteppedClock {
            thread.setIdleHandler {
                switch clock.step() {
                case .woke: true
                case .underWay: false
                // Nobody is due to wake: nothing will happen any more, for nothing comes into a rehearsal from outside.
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
                annotations: ["run": run.identity.run, "script": run.identity.version])
        } catch let error as LuaError where error.kind == .cancelled && stall.hasBegun {
            throw error.asStall
        } catch let error as LuaError where error.kind == .syntax {
            // Lua names a line and a word.
            guard var diagnosis = LuaError.syntax(of: run.script) else { throw error }
            diagnosis.annotations = ["run": run.identity.run, "script": run.identity.version]
            throw diagnosis
        } catch let error as LuaError where error.code == "budget.cpu" && error.hint == nil {
            throw error.withCPUHint
        } catch let error as LuaError {
            throw error.explained(by: run.script)
        }
    }
}

/// Whether a run was ended because it waited for something that could not come.
private final class Stall: Sendable {
    private let state = Mutex(false)

    var hasBegun: Bool { state.withLock { $0 } }

    /// True the first time, when `action` is called.
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
    fileprivate var withCPUHint: LuaError {
        var error = self
        error.hint = "look for a loop without an end, or allow more with --cpu-limit"
        return error
    }

    /// Of a run, or a line, that waited for what cannot come.
    var asStall: LuaError {
        var error = self
        error.kind = .failure
        error.code = "flow.stalled"
        error.message = "the flow waits for something that cannot come: nothing else is due to happen"
        error.hint = "phone:next_push and task:await wait without end; phone:wait_for has a time-out"
        return error
    }
}
