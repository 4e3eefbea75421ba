package import Lua
import PushModel
import Synchronization

/// A flow that is entered line by line.
///
/// Globals, spawned tasks and handlers persist between lines. A line ends when every task waits and nothing more can happen without time
/// passing. The clock stands still between lines.
package final class InteractiveFlow: Sendable {
    private let run: FlowRun
    private let session: LuaSession
    private let functions: Functions
    private let pace: Pace
    private let reportError: @Sendable (LuaError) -> Void
    private let transcript: Transcript

    /// The result of a line.
    package enum Answer: Sendable, Equatable {
        /// The values as text; nil if there are none.
        case value(String?)
        /// The text is incomplete but may become a chunk.
        case unfinished
        /// The line raised an error, which has been reported.
        case raised
    }

    /// The members of the value that a path of names refers to.
    package enum Members: Sendable, Equatable {
        case names([String])
        /// A handle of this type, such as `device`.
        case handle(String)
    }

    /// Functions of the session's Lua prelude.
    private struct Functions {
        let evaluate: LuaFunctionReference
        let members: LuaFunctionReference
        let shownError: LuaFunctionReference
    }

    /// Begins a session in which `push` is the module.
    ///
    /// - Parameters:
    ///   - sink: Receives events as they occur.
    ///   - failures: Receives errors of lines, expectations and tasks that are not awaited.
    package init(
        runner: FlowRunner, events sink: @escaping @Sendable (FlowEvent) -> Void,
        failures: @escaping @Sendable (LuaError) -> Void
    ) async throws {
        let script = FlowScript(name: "repl", source: [], version: "")
        let run = FlowRun(
            script, runner: runner, identity: FlowRun.Identity(run: "r-0001", version: ""), role: RunRole(purpose: .interactive), sink: sink
        )
        let state = try LuaState(
            thread: runner.thread, limits: runner.limits, seed: runner.seed, absent: runner.world.module.absentNames,
            searchPath: runner.scripts.modules(of: script), account: run.account)
        run.world.memory?.charge(to: run.account)
        try await state.define(runner.world.module.module(for: run))
        let handedOver = Mutex<[LuaFunctionReference]>([])
        try await state.define(
            LuaModule(
                name: "repl",
                functions: [
                    .sync("host.ready") { call in
                        let functions = call.arguments.compactMap { if case .function(let function) = $0 { function } else { nil } }
                        handedOver.withLock { $0 = functions }
                        return []
                    }
                ], prelude: LuaScript(name: "=[repl]", source: PackageResources.repl_lua)))
        let transcript = Transcript()
        let reportError: @Sendable (LuaError) -> Void = {
            failures(run.world.module.explained($0, in: transcript.script).masked(by: run.withheld))
        }
        let functions = handedOver.withLock { $0 }
        guard functions.count == 3 else { throw LuaError.failure("host.error", "the session's prelude is not complete") }
        self.functions = Functions(evaluate: functions[0], members: functions[1], shownError: functions[2])
        let id = LuaRunID(rawValue: 1)
        session = try await state.openSession(id: id, annotations: ["run": run.identity.run], onFailure: reportError)
        let pace = Pace()
        let clock = run.world.clock as? any SteppedClock
        runner.world.connections?.onFailure { [session] in session.cancel() }
        runner.thread.setIdleHandler { pace.threadIsIdle(clock) { state.cancel(id) } }
        self.run = run
        self.pace = pace
        self.reportError = reportError
        self.transcript = transcript
        _ = await evaluate("push = require \"push\"", firstLine: 1, isComplete: true)
    }

    /// Runs a chunk whose first line has the number `firstLine` in the session. After ``end()`` it fails with `session.busy`.
    ///
    /// `isComplete`: no more text follows, so an incomplete chunk fails with its syntax error. Cancelling the task cancels the chunk.
    package func evaluate(_ text: String, firstLine: Int, isComplete: Bool) async -> Answer {
        let chunk = InteractiveChunk(text: text, firstLine: firstLine)
        let task = Task(executorPreference: run.runner.thread) { await self.answer(chunk, isComplete) }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
            run.runner.world.connections?.shortenTimeouts(permanently: false)
            // Also cancels tasks that the chunk spawned while it runs.
            session.cancel()
        }
    }

    /// The members of the value at a path that begin with `typed`; for an empty path, the globals. Runs no code of the session.
    package func members(of path: [String], beginningWith typed: String = "") async -> Members {
        let values = try? await session.call(functions.members, ([typed] + path).map(LuaValue.string))
        switch values?.dropFirst().first {
        case .object(let object)?: return .handle(object.type)
        case .string(let type)?: return .handle(type)
        default: break
        }
        guard case .table(let table)? = values?.first else { return .names([]) }
        return .names(table.array.compactMap(\.text))
    }

    /// Cancels all tasks and waits for their cleanup.
    package func end() async {
        try? await session.close()
        pace.end()
        run.runner.world.connections?.onFailure(nil)
        run.runner.thread.setIdleHandler(nil)
    }

    // MARK: - A line

    private func answer(_ chunk: InteractiveChunk, _ isComplete: Bool) async -> Answer {
        let arguments = [.integer(Int64(chunk.firstLine)), .boolean(isComplete)] + chunk.readings.map(LuaValue.string)
        pace.begin()
        run.beginLine()
        transcript.note(chunk)
        var answer: Answer
        var error: LuaError?
        do {
            let values = try await session.call(functions.evaluate, arguments)
            answer = values.first == .boolean(false) ? .unfinished : .value(values.last == .integer(0) ? nil : values.first?.shown)
        } catch let raised {
            answer = .raised
            error = (raised as? LuaError) ?? .failure("host.error", "\(raised)")
        }
        let hasStalled = await pace.settle()
        if let failure = run.runner.world.connections?.consumeFailure() { (answer, error) = (.raised, LuaError(failure)) }
        if error?.kind == .cancelled { error = hasStalled ? error?.asStalled : error?.asInterruption }
        if let raised = error, raised.kind == .syntax { error = chunk.syntaxError(insteadOf: raised) ?? raised }
        if error?.code == "state.ended" { error?.hint = "quit with .quit, and start another session" }
        await run.sends.countScheduled(isOver: false)
        let shown = await run.sends.takeShownItems()
        if !shown.isEmpty { run.emit(.shown(shown)) }
        for failure in run.takeFailedExpectations() {
            if let error, error.code == "expect.failed", error.location == failure.location { continue }
            var failed = LuaError(kind: .failure, code: "expect.failed", message: failure.message)
            failed.location = failure.location
            reportError(failed)
        }
        if let error { reportError(await withValue(error)) }
        return answer
    }

    /// Adds the raised value to a message that describes only its type.
    private func withValue(_ error: LuaError) async -> LuaError {
        guard error.value != .nil, error.describesType else { return error }
        guard let text = try? await session.call(functions.shownError, [error.value]).first?.shown else { return error }
        var error = error
        error.message = "the script raised \(text)"
        error.describesType = false
        return error
    }
}

/// The text typed so far, as one script for explaining errors.
private final class Transcript: Sendable {
    private let chunks = Mutex<[Int: InteractiveChunk]>([:])

    /// Records a chunk. An extended chunk replaces its earlier version.
    func note(_ chunk: InteractiveChunk) { chunks.withLock { $0[chunk.firstLine] = chunk } }

    /// The script with every line at its number. Chunks that do not parse are left out.
    var script: FlowScript {
        var lines: [String] = []
        for (firstLine, chunk) in chunks.withLock({ $0 }).sorted(by: { $0.key < $1.key }) where lines.count < firstLine {
            guard let text = chunk.script else { continue }
            lines += Array(repeating: "", count: firstLine - 1 - lines.count)
            lines += text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
        if !lines.isEmpty { lines[0] = "local push = require \"push\" " + lines[0] }
        return FlowScript(name: "repl", source: Array(lines.joined(separator: "\n").utf8), version: "")
    }
}

/// Decides when the clock of a session may jump and when a line has ended.
private final class Pace: Sendable {
    private enum State {
        /// Waiting for input.
        case resting
        case calling
        /// The call waited for an event that could not occur, and was cancelled.
        case stalled
        case settling(hasStalled: Bool, CheckedContinuation<Bool, Never>)
        /// The session has ended. The thread reports nothing more.
        case ended
    }

    private let state = Mutex(State.resting)

    func begin() {
        state.withLock { if case .ended = $0 {} else { $0 = .calling } }
    }

    func end() { state.withLock { $0 = .ended } }

    /// Waits until all tasks wait. Returns whether the call has stalled.
    func settle() async -> Bool {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                var hasStalled = false
                switch state {
                case .ended: return true
                case .stalled: hasStalled = true
                default: break
                }
                state = .settling(hasStalled: hasStalled, continuation)
                return false
            }
            if hasEnded { continuation.resume(returning: false) }
        }
    }

    /// The thread's idle handler. Returns whether there is new work.
    func threadIsIdle(_ clock: (any SteppedClock)?, stall: () -> Void) -> Bool {
        switch state.withLock({ $0 }) {
        case .resting, .stalled, .ended: return false
        case .calling:
            guard let clock else { return false }
            switch clock.step() {
            case .woke: return true
            case .inFlight: return false
            case .over: break
            }
            state.withLock { $0 = .stalled }
            stall()
            return true
        case .settling(let hasStalled, let continuation):
            if clock?.settle() == .inFlight { return false }
            state.withLock { $0 = .resting }
            continuation.resume(returning: hasStalled)
            return true
        }
    }
}

extension LuaValue {
    /// A text for display, with invalid UTF-8 replaced.
    fileprivate var shown: String? {
        if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { text }
    }
}

extension LuaError {
    /// The error for a line that was cancelled from outside.
    fileprivate var asInterruption: LuaError {
        var error = self
        error.message = "the call was cancelled"
        return error
    }
}
