import Synchronization

/// A run without a script of its own: the host calls functions in it, one at a time, for as long as it needs.
///
/// The session has its own globals, which persist between calls. So do the tasks that a call spawns: they continue after the call has
/// returned and end with ``close()``. A call that is cancelled, fails or exceeds its budget ends together with the tasks that it spawned;
/// the session continues.
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

    /// Calls a function that a script or a prelude has passed to the host, and returns its results.
    ///
    /// Each call has its own CPU and instruction budgets. Older tasks that run during the call use the same budgets. Cancelling the Swift
    /// task cancels the call.
    ///
    /// - Throws: A ``LuaError``, with the code `session.busy` if another call is in progress.
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

    /// Cancels the call in progress. Without one, cancels those tasks of the latest call that are computing at this time.
    public func cancel() {
        state.cancel(id)
    }

    /// Cancels the remaining tasks and waits for their cleanup. Later calls are rejected.
    public func close() async throws {
        try claim()
        // The run ends with the error "cancelled", which is expected here.
        _ = try? await state.close(id)
    }

    private func claim() throws {
        let isFree = isBusy.withLock { busy in
            defer { busy = true }
            return !busy
        }
        guard isFree else { throw LuaError.misuse("session.busy", "the session is closed, or another call is in progress") }
    }
}

extension LuaState {
    /// Opens a session.
    ///
    /// - Parameters:
    ///   - id: The run's identifier, unique among the state's runs in progress.
    ///   - annotations: Fields added to every error of the session.
    ///   - limits: Budgets that replace the state's. Memory and real time are ignored.
    ///   - onFailure: Receives the errors of spawned tasks that were not awaited by the end of the call, or that fail between calls. Called
    ///     on the state's thread.
    public func openSession(
        id: LuaRunID, annotations: [String: String] = [:], limits: LuaLimits? = nil,
        onFailure: @escaping @Sendable (LuaError) -> Void
    ) throws -> LuaSession {
        try machine.checkOpen(annotations: annotations)
        let limits = limits?.clamped ?? self.limits
        let control = RunControl(limits: limits, account: account)
        guard table.add(id, control) else {
            throw LuaError.misuse("run.duplicate", "run number \(id.rawValue) is already in progress")
        }
        machine.open(Run(id: id, control: control, limits: limits, annotations: annotations), onFailure: onFailure)
        return LuaSession(state: self, id: id, annotations: annotations)
    }

    fileprivate func call(
        _ function: LuaFunctionReference, _ arguments: [LuaValue], in id: LuaRunID, _ annotations: [String: String]
    ) async throws -> [LuaValue] {
        try machine.checkOpen(annotations: annotations)
        // An earlier cancellation finds no call to deliver to. A later one finds that the call has begun.
        machine.forgetCancel(in: id)
        if Task.isCancelled { throw LuaError.cancelled }
        return try await withCheckedThrowingContinuation { machine.call(function, arguments, in: id, $0) }
    }

    fileprivate func close(_ id: LuaRunID) async throws -> [LuaValue] {
        guard let control = machine.close(id) else { return [] }
        return try await control.result()
    }
}
