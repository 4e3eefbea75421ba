import CLua

// The end of a state in which a step of Lua did not end; see rescue.c.

extension Machine {
    /// Ends the state with all of its runs when a step was left where it was: nothing of Lua may be used any more but to free it.
    ///
    /// The other runs learn that it was not for what they did.
    func endIfAbandoned(by culprit: Run? = nil, _ reason: LuaError? = nil) {
        guard context.pointee.is_abandoned, !isClosed else { return }
        endState()
        turns = Queue()
        waiting = [:]
        for run in runs.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
            guard run === culprit else {
                fail(run, with: .stateEnded(run.annotations))
                continue
            }
            var error = reason ?? .endlessStep(at: SourceLocation(run.control.pointer.pointee.stopped_at))
            error.annotations = run.annotations
            fail(run, with: error)
        }
        runs = [:]
    }

    private func fail(_ run: Run, with error: LuaError) {
        run.isFinished = true
        run.endTimers()
        endCharge(of: run)
        for task in run.liveInOrder {
            if case .operation(_, let operation) = task.wait { operation.cancel() }
            task.wait = .nothing
            task.end = .failure
            task.children = [:]
            task.waiters = []
            task.groups = []
            task.moduleLoads = []
        }
        let isComputing = !run.live.isEmpty
        run.removeAllTasks()
        run.ready = Queue()
        run.inbox = Queue()
        run.moduleLoads = [:]
        run.main = nil
        run.rootFailure = nil
        run.unobserved = []
        table.remove(run.id)
        let session = run.session
        run.session = nil
        if let continuation = session?.continuation {
            continuation.resume(throwing: error)
        } else if isComputing {
            session?.onFailure(error)  // of tasks that go on between calls
        }
        session?.continuation = nil
        run.control.end(with: .failure(error))
    }

    func checkOpen(annotations: [String: String] = [:]) throws {
        if isClosed { throw LuaError.stateEnded(annotations) }
    }
}

extension LuaError {
    static func endlessStep(at place: SourceLocation?) -> LuaError {
        var error = LuaError(
            kind: .budget, code: "budget.step",
            message: "a single step of the script took too long, and could not be interrupted: its state has ended",
            hint: "most often many keys of a large table, or constants of a chunk, have the same hash: make it smaller, or its keys texts")
        error.location = place
        return error
    }

    static func stateEnded(_ annotations: [String: String]) -> LuaError {
        var error = LuaError(
            kind: .budget, code: "state.ended",
            message: "the state has ended: a single step of a script in it took too long, and could not be interrupted",
            hint: "make another state")
        error.annotations = annotations
        return error
    }
}
