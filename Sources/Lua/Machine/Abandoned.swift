import CLua

// The end of a state in which a step of Lua did not end; see rescue.c.

extension Machine {
    /// Ends the state with all of its runs when a step was left where it was: nothing of Lua may be used any more but to free it.
    ///
    /// Where a task is being resumed, it ends when that has returned. The other runs learn that it was not for what they did.
    func endIfAbandoned(by culprit: Run? = nil, _ reason: LuaError? = nil) {
        guard context.pointee.is_abandoned, !isClosed, current == nil else { return }
        endState()
        turns = Queue()
        waiting = [:]
        for run in runs.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
            var error = LuaError.stateEnded
            if run === culprit { error = reason ?? .endlessStep(at: SourceLocation(run.control.pointer.pointee.stopped_at)) }
            error.annotations = run.annotations
            abandon(run, error)
        }
        runs = [:]
    }

    private func abandon(_ run: Run, _ error: LuaError) {
        run.isFinished = true
        run.wallTimer?.cancel()
        for task in run.liveInOrder {
            if case .operation(_, let operation) = task.wait { operation.cancel() }
            task.wait = .nothing
            task.end = .failure
            task.children = [:]
            task.waiters = []
            task.groups = []
            task.moduleLoads = []
        }
        run.live = [:]
        run.ready = Queue()
        run.inbox = Queue()
        run.moduleLoads = [:]
        run.main = nil
        run.rootFailure = nil
        run.unobserved = []
        table.remove(run.id)
        let session = run.session
        run.session = nil
        session?.continuation?.resume(throwing: error)
        session?.continuation = nil
        run.control.end(with: .failure(error))
    }

    func checkOpen() throws {
        if isClosed { throw LuaError.stateEnded }
    }
}

extension LuaError {
    static func endlessStep(at place: SourceLocation?) -> LuaError {
        var error = LuaError(
            kind: .budget, code: "budget.step",
            message: "a single step of the script took too long, and could not be interrupted: its state has ended",
            hint: "the keys of a large table, or the constants of a chunk, have the same hashes: make it smaller, or its keys texts")
        error.location = place
        return error
    }

    static var stateEnded: LuaError {
        LuaError(
            kind: .budget, code: "state.ended",
            message: "the state has ended: a single step of a script in it took too long, and could not be interrupted",
            hint: "make another state")
    }
}
