import Synchronization

/// A run without a script: the host calls functions in it, one at a time, for as long as it likes.
///
/// The globals are the session's own and live on from call to call. So do the tasks that a call spawns: they go on when the
/// call has ended, and end with ``close()``. A call that is cancelled, that fails or that goes over its budget ends alone,
/// with the tasks that it spawned itself; the session goes on.
public final class LuaSession: Sendable {
    private let state: LuaState
    private let id: LuaRunID
    private let annotations: [String: String]
    private let isBusy = Mutex(false)

    init(state: LuaState, id: LuaRunID, annotations: [String: String]) {
        self.state = state
        self.id = id
        self.annotations = annotations
    }

    /// Calls a function that a script or a prelude has handed to the host, and answers what it returns.
    ///
    /// Each call has a CPU budget and an instruction budget of its own, which also bear what older tasks do meanwhile. Cancelling the Swift task
    /// cancels the call.
    ///
    /// - Throws: A ``LuaError``; with the code `session.busy` while another call is under way.
    public func call(_ function: LuaFunctionReference, _ arguments: [LuaValue] = []) async throws -> [LuaValue] {
        try claim()
        state.thread.countRun(1)
        defer {
            state.thread.countRun(-1)
            isBusy.withLock { $0 = false }
        }
        return try await withTaskCancellationHandler {
            try await state.call(function, arguments, in: id, annotations)
        } onCancel: {
            cancel()
        }
    }

    /// Cancels the call that is under way. When there is none, what the latest call spawned and that computes right now.
    public func cancel() {
        state.cancel(id)
    }

    /// Cancels the tasks that are left and waits for their cleanup. Calls are refused from then on.
    public func close() async throws {
        try claim()
        // The run ends as cancelled, and that is no news.
        _ = try? await state.close(id)
    }

    private func claim() throws {
        let isFree = isBusy.withLock { busy in
            defer { busy = true }
            return !busy
        }
        guard isFree else { throw LuaError.misuse("session.busy", "the session is closed, or a call is under way") }
    }
}

extension LuaState {
    /// Opens a session.
    ///
    /// - Parameters:
    ///   - id: The identity of the run, unique among those under way in this state.
    ///   - annotations: Fields that join every error of the session.
    ///   - limits: Other budgets than those of the state. Memory and real time are not looked at.
    ///   - onFailure: Gets the errors of spawned tasks that nobody has awaited by the end of the call, or that fail between
    ///     calls. It is called on the state's thread.
    public func openSession(
        id: LuaRunID, annotations: [String: String] = [:], limits: LuaLimits? = nil,
        onFailure: @escaping @Sendable (LuaError) -> Void
    ) throws -> LuaSession {
        try machine.checkOpen(annotations: annotations)
        let limits = limits?.clamped ?? self.limits
        let control = RunControl(limits: limits, account: account)
        guard table.add(id, control) else {
            throw LuaError.misuse("run.duplicate", "a run with the number \(id.rawValue) is under way")
        }
        machine.open(Run(id: id, control: control, limits: limits, annotations: annotations), onFailure: onFailure)
        return LuaSession(state: self, id: id, annotations: annotations)
    }

    fileprivate func call(
        _ function: LuaFunctionReference, _ arguments: [LuaValue], in id: LuaRunID, _ annotations: [String: String]
    ) async throws -> [LuaValue] {
        try machine.checkOpen(annotations: annotations)
        // A cancellation from before finds no call to deliver itself to; one from now on finds it begun.
        machine.forgetCancel(in: id)
        if Task.isCancelled { throw LuaError.cancelled }
        return try await withCheckedThrowingContinuation { machine.call(function, arguments, in: id, $0) }
    }

    fileprivate func close(_ id: LuaRunID) async throws -> [LuaValue] {
        guard let control = machine.close(id) else { return [] }
        return try await control.result()
    }
}
