import CLua

/// The part of a run that has no script of its own: the host calls functions in it, one after the other.
final class Session {
    /// The call under way, and who waits for its end.
    var call: ScriptTask?
    /// The number of the call under way, or of the one before.
    var latestCall = -1
    var continuation: CheckedContinuation<[LuaValue], any Error>?
    /// Why the call was cancelled, where that was not the host's doing.
    var cancelReason: LuaError?
    /// The task that was resumed last: what goes over a budget.
    weak var stepping: ScriptTask?
    /// Gets the errors of tasks that nobody waits for.
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
        renewBudget(of: run)
        // The same text raised again by another call comes from there.
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

    /// Every call has the whole budget of CPU time and of instructions.
    private func renewBudget(of run: Run) {
        let pointer = run.control.pointer
        run.control.account.renew()
        clua_run_refuel(pointer, run.limits.fuel)
        pointer.pointee.grace_limit_ns = 0
        pointer.pointee.stop = Int32(CLUA_STOP_NONE)
        clua_place_clear(&pointer.pointee.stopped_at)
    }

    func taskEnded(_ task: ScriptTask, in session: Session, of run: Run) {
        if task === session.call {
            endCall(task, in: session, of: run)
        } else if session.call == nil || task.isDaemon {
            tellFailures(of: run) { session.call == nil || $0.isDaemon }
        }
    }

    private func endCall(_ task: ScriptTask, in session: Session, of run: Run) {
        session.call = nil
        // While the call went on, it could still have awaited them.
        tellFailures(of: run) { _ in true }
        let result = result(of: task, in: session)
        task.holders = 0
        releaseAnchor(task)
        run.control.forgetCancel()
        run.isCancelDelivered = false
        renewBudget(of: run)
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

    /// Tells the host of tasks that failed without anybody waiting for them.
    private func tellFailures(of run: Run, _ isDue: (ScriptTask) -> Bool) {
        guard let session = run.session else { return }
        for task in run.unobserved.filter(isDue) {
            session.onFailure(task.stopError ?? readError(task.coroutine, -1, run: run))
            task.holders -= 1
            releaseAnchor(task)
        }
        run.unobserved.removeAll(where: isDue)
    }

    // MARK: Stops

    /// Stops the task that went over a budget, and it alone: the session goes on.
    func halt(_ session: Session, of run: Run) {
        let error = stopError(run)
        guard let task = session.stepping, task.end == nil else { return renewBudget(of: run) }
        task.stopError = error
        abandonWait(task)
        task.delivery = nil
        if clua_task_close(task.coroutine, run.control.pointer) != LUA_OK { return endIfAbandoned(by: run) }
        pushError(error ?? .cancelled, to: task.coroutine)
        renewBudget(of: run)
        ended(task, .failure)
    }

    /// Ends a session whose stop cannot be taken back.
    func abandon(_ session: Session, of run: Run) {
        var error = LuaError(
            kind: .failure, code: "session.stuck", message: "the machine could not give the session its budgets back",
            hint: "this is a mistake of the machine: close the session and open another one")
        error.annotations = run.annotations
        tellFailures(of: run) { _ in true }
        run.forcedError = error
        run.session = nil
        session.call?.holders = 0
        session.continuation?.resume(throwing: error)
    }

    /// Takes back a cancellation that came when no call was under way.
    func forgetCancel(in id: LuaRunID) {
        guard let run = runs[id], run.session?.call == nil else { return }
        run.control.forgetCancel()
    }

    /// Cancels the call with all that it has spawned. It goes before older tasks: one that computes must not keep it.
    func cancelCall(of run: Run) {
        for task in run.liveInOrder where !task.isBystander { cancel(task) }
        run.ready.bringForward { !$0.isBystander }
    }

    /// Ends a call that waits for tasks that wait for each other. False when there is none.
    func endDeadlock(of session: Session) -> Bool {
        guard let call = session.call, !call.isCancelled else { return false }
        session.cancelReason = .deadlock
        cancel(call)
        return true
    }

    // MARK: The end

    /// Cancels what is left; the result of the control comes when all of it has ended. Nil: it is closed already.
    func close(_ id: LuaRunID) -> RunControl? {
        guard let run = runs[id], run.session != nil else { return nil }
        run.session = nil
        renewBudget(of: run)
        run.control.cancel()
        if run.live.isEmpty { finish(run) } else { deliverCancel(id) }
        return run.control
    }
}
