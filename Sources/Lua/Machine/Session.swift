import CLua

/// The state of a run without a script: the host calls functions in it, one after the other.
final class Session {
    /// The call in progress.
    var call: ScriptTask?
    /// The number of the call in progress or, between calls, of the latest one.
    var latestCall = -1
    var continuation: CheckedContinuation<[LuaValue], any Error>?
    /// Why the call was cancelled, if not by the host.
    var cancelReason: LuaError?
    /// The task resumed most recently, which is the one that exceeds a budget.
    weak var stepping: ScriptTask?
    /// Receives the errors of tasks that no other task awaits.
    let onFailure: @Sendable (LuaError) -> Void

    init(onFailure: @escaping @Sendable (LuaError) -> Void) {
        self.onFailure = onFailure
    }
}

extension Machine {
    func open(_ run: Run, onFailure: @escaping @Sendable (LuaError) -> Void) {
        run.session = Session(onFailure: onFailure)
        runs[run.id] = run
        prepare(run)
    }

    // MARK: Calls

    func call(
        _ function: LuaFunctionReference, _ arguments: [LuaValue], in id: LuaRunID,
        _ continuation: CheckedContinuation<[LuaValue], any Error>
    ) {
        guard let run = runs[id], let session = run.session else {
            return continuation.resume(throwing: LuaError.misuse("session.busy", "the session is closed"))
        }
        run.renewBudget()
        // Forget recorded error origins and texts: if another call raises the same text again, its origin is that call.
        luaL_unref(lua, clua_registryindex(), run.control.pointer.pointee.origins)
        run.control.pointer.pointee.origins = clua_noref()
        luaL_unref(lua, clua_registryindex(), run.control.pointer.pointee.texts)
        run.control.pointer.pointee.texts = clua_noref()
        let task = newTask(run)
        run.liveChildren += 1
        do {
            let count = try push([.function(function)] + arguments, to: task.coroutine)
            clua_task_prepare(task.coroutine, count - 1)
        } catch {
            task.end = .failure
            run.remove(task)
            run.liveChildren -= 1
            releaseAnchor(task)
            return continuation.resume(throwing: error)
        }
        task.holders = 1
        session.call = task
        session.latestCall = task.number
        session.continuation = continuation
        session.cancelReason = nil
        run.ready.append(task)
        schedule(run)
        pump()
    }

    func taskEnded(_ task: ScriptTask, in session: Session, of run: Run) {
        if task === session.call {
            endCall(task, in: session, of: run)
        } else if session.call == nil || task.isDaemon {
            reportFailures(of: run) { session.call == nil || $0.isDaemon }
        }
    }

    private func endCall(_ task: ScriptTask, in session: Session, of run: Run) {
        session.call = nil
        // Report only now: until its end the call could still have awaited these tasks.
        reportFailures(of: run) { _ in true }
        let result = result(of: task, in: session)
        task.holders = 0
        releaseAnchor(task)
        run.control.forgetCancel()
        run.isCancelDelivered = false
        run.renewBudget()
        session.continuation?.resume(with: result)
        session.continuation = nil
    }

    private func result(of task: ScriptTask, in session: Session) -> Result<[LuaValue], any Error> {
        do {
            if task.end == .failure { throw error(of: task, in: session) }
            let count = lua_gettop(task.coroutine)
            return .success(try (0..<count).map { try read(task.coroutine, $0 + 1, name: "result \($0 + 1)") })
        } catch {
            var error = LuaError(raisedByHost: error)
            error.annotations.merge(task.run.annotations) { own, _ in own }
            return .failure(error)
        }
    }

    private func error(of task: ScriptTask, in session: Session) -> LuaError {
        if let stopped = task.stopError { return stopped }
        let error = readError(task.coroutine, -1, run: task.run)
        guard error.kind == .cancelled, var reason = session.cancelReason else { return error }
        reason.location = error.location
        reason.traceback = error.traceback
        return reason
    }

    /// Reports failed tasks that were not awaited to the host.
    private func reportFailures(of run: Run, _ isDue: (ScriptTask) -> Bool) {
        guard let session = run.session else { return }
        for task in run.unawaitedFailures.filter(isDue) {
            session.onFailure(task.stopError ?? readError(task.coroutine, -1, run: run))
            task.holders -= 1
            releaseAnchor(task)
        }
        run.unawaitedFailures.removeAll(where: isDue)
    }

    // MARK: Stops

    /// Stops the task that exceeded a budget and all tasks of the same call. The session and the tasks of other calls continue.
    ///
    /// They share one budget. If only one of them stopped, the others would continue with a new budget, and a call with thousands of tasks
    /// would practically never end.
    func halt(_ session: Session, of run: Run) {
        let error = stopError(run)
        guard let stepping = session.stepping, stepping.end == nil else { return run.renewBudget() }
        let tasks = run.liveInOrder.filter { $0.call == stepping.call }
        for task in tasks {
            abandonWait(task)
            task.resumption = nil
            if !run.close(task) { return endStateIfAbandoned(by: run) }
            task.isCancelled = task !== stepping
        }
        stepping.stopError = error
        if let call = session.call, call === tasks.first {
            call.stopError = error
            stepping.isObserved = true  // the call reports the error
        }
        run.renewBudget()
        for task in tasks.reversed() {
            pushError(task.stopError ?? .taskCancelled, to: task.coroutine)
            ended(task, .failure)
        }
    }

    /// Ends a session whose stop could not be revoked.
    func abandon(_ session: Session, of run: Run) {
        var error = LuaError(
            kind: .failure, code: "session.stuck", message: "the session's budgets could not be restored",
            hint: "this is a bug in the Lua machine: close the session and open another one")
        error.annotations = run.annotations
        reportFailures(of: run) { _ in true }
        run.forcedError = error
        run.session = nil
        session.call?.holders = 0
        session.continuation?.resume(throwing: error)
    }

    /// Clears a cancellation that arrived while no call was in progress.
    func forgetCancel(in id: LuaRunID) {
        guard let run = runs[id], run.session?.call == nil else { return }
        run.control.forgetCancel()
    }

    /// Cancels the call and all tasks that it spawned. They execute before older tasks, so that an older one that computes cannot delay
    /// them.
    func cancelCall(of run: Run) {
        for task in run.liveInOrder where !task.isBystander { cancel(task) }
        run.ready.moveToFront { !$0.isBystander }
    }

    /// Ends a call whose tasks wait for each other. Returns false if there is none.
    func endDeadlock(of session: Session) -> Bool {
        guard let call = session.call, !call.isCancelled else { return false }
        session.cancelReason = .deadlock
        cancel(call)
        return true
    }

    // MARK: The end

    /// Cancels the remaining tasks. The returned control has a result once they have ended. Nil: the session is already closed.
    func close(_ id: LuaRunID) -> RunControl? {
        guard let run = runs[id], run.session != nil else { return nil }
        run.session = nil
        run.renewBudget()
        run.control.cancel()
        if run.live.isEmpty { finish(run) } else { deliverCancel(id) }
        return run.control
    }
}
