import CLua

// Ends a state in which a step of Lua did not return; see rescue.c.

extension Machine {
    /// Ends the state and all its runs if a step of Lua was abandoned. From then on nothing of Lua may be used, except to free it.
    ///
    /// Runs other than the culprit end with an error that says that they were not the cause.
    func endStateIfAbandoned(by culprit: Run? = nil, _ reason: LuaError? = nil) {
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
        run.unawaitedFailures = []
        table.remove(run.id)
        let session = run.session
        run.session = nil
        if let continuation = session?.continuation {
            continuation.resume(throwing: error)
        } else if isComputing {
            session?.onFailure(error)  // failures of tasks that continue between calls
        }
        session?.continuation = nil
        run.control.end(with: .failure(error))
    }

    func checkOpen(annotations: [String: String] = [:]) throws {
        if isClosed { throw LuaError.stateEnded(annotations) }
    }
}

extension LuaError {
    static func endlessStep(at location: SourceLocation?) -> LuaError {
        var error = LuaError(
            kind: .budget, code: "budget.step",
            message: "a single step of the script took too long and could not be interrupted; its state was ended",
            hint: "usually many keys of a large table, or constants of a chunk, have the same hash: make it smaller or use string keys")
        error.location = location
        return error
    }

    static func stateEnded(_ annotations: [String: String]) -> LuaError {
        var error = LuaError(
            kind: .budget, code: "state.ended",
            message: "the state was ended: a single step of one of its scripts took too long and could not be interrupted",
            hint: "create a new state")
        error.annotations = annotations
        return error
    }
}
