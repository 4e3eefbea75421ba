import CLua

// The scheduler: resumes the tasks of runs, one at a time.

extension Machine {
    // MARK: Turns

    func schedule(_ run: Run) {
        guard !run.isScheduled, !run.isFinished else { return }
        run.isScheduled = true
        turns.append(run)
    }

    private func pumpLater() {
        guard !isPumpScheduled else { return }
        isPumpScheduled = true
        thread.perform { [self] in
            isPumpScheduled = false
            pump()
        }
    }

    /// Lets runs take turns until none can continue, or until other work of the thread is due.
    ///
    /// Does nothing if a later pump is already scheduled. Otherwise each operation that ends would give a spinning run another turn.
    func pump() {
        guard !isPumping, !isPumpScheduled, !isClosed else { return }
        isPumping = true
        defer { isPumping = false }
        freeDiscardedReferences()
        let begin = clua_ticks()
        while let run = turns.popFirst() {
            run.isScheduled = false
            if !takeTurn(run) { schedule(run) }
            if !turns.isEmpty, !run.isFinished && run.isScheduled || clua_ticks() - begin > 1 {
                return pumpLater()
            }
        }
    }

    /// Executes the tasks of a run until none can continue (true) or one is preempted (false).
    private func takeTurn(_ run: Run) -> Bool {
        while !run.isFinished {
            if run.forcedError != nil || clua_run_check(run.control.pointer) {
                guard let session = run.session else {
                    stop(run)
                    return true
                }
                halt(session, of: run)
                if run.isFinished { return true }
                // No script code executes before the next iteration. If a stop is still due after the halt, it would stay due forever.
                if clua_run_check(run.control.pointer) { abandon(session, of: run) }
                continue
            }
            if let task = run.ready.popFirst() {
                guard task.end == nil else { continue }
                if !step(task) {
                    run.ready.prepend(task)  // the preempted task continues first: preemption never reorders a run's tasks
                    return false
                }
            } else if let result = run.inbox.popFirst() {
                deliver(result)
            } else if run.operations == 0, !run.live.isEmpty {
                guard let session = run.session else {
                    run.forcedError = .deadlock
                    continue
                }
                guard endDeadlock(of: session) else { return true }
            } else {
                return true
            }
        }
        return true
    }

    private func deliver(_ operation: OperationResult) {
        guard let task = waiting.removeValue(forKey: operation.serial) else { return }
        task.run.operations -= 1
        task.wait = .nothing
        do {
            switch try operation.result.get() {
            case .values(let values): resume(task, with: values)
            case .slots(let write): resume(task, count: 0, kind: CLUA_RESUME_SLOTS, write: write)
            }
        } catch {
            resume(task, raising: self.error(error, of: task))
        }
    }

    /// The error that a task receives when its operation threw one.
    func error(_ error: any Error, of task: ScriptTask) -> LuaError {
        guard error is CancellationError else { return LuaError(raisedByHost: error) }
        return task.cancellation
    }

    // MARK: What a waiting task gets

    func resume(_ task: ScriptTask, with values: [LuaValue]) {
        do {
            resume(task, count: try push(values, to: task.coroutine), kind: CLUA_RESUME_VALUES)
        } catch {
            resume(task, raising: LuaError(raisedByHost: error))
        }
    }

    func resume(_ task: ScriptTask, raising error: LuaError) {
        _ = lua_checkstack(task.coroutine, 8)
        pushError(error, to: task.coroutine)
        resume(task, count: 1, kind: CLUA_RESUME_ERROR)
    }

    /// Makes a task ready whose values are already on its stack.
    func resume(_ task: ScriptTask, count: Int32, kind: Int, write: TypedFunction.Write? = nil) {
        task.wait = .nothing
        task.resumption = ScriptTask.Resumption(count: count, kind: Int32(kind), write: write)
        task.run.ready.append(task)
    }

    // MARK: One step

    /// Resumes a task until it waits or ends (true), or is preempted (false).
    private func step(_ task: ScriptTask) -> Bool {
        let run = task.run
        let coroutine = task.coroutine
        var arguments: Int32 = 0
        context.pointee.resume_kind = Int32(CLUA_RESUME_VALUES)
        if !task.hasStarted {
            if task.isCancelled {
                pushError(.taskCancelled, to: coroutine)
                ended(task, .failure)
                return true
            }
            task.hasStarted = true
            arguments = lua_gettop(coroutine) - 1
        } else if let resumption = task.resumption {
            task.resumption = nil
            arguments = resumption.count
            context.pointee.resume_kind = resumption.kind
            if let write = resumption.write { self.write(write) }
        }
        shareMemory()
        current = task
        run.session?.stepping = task
        run.control.pointer.pointee.is_bystander = task.isBystander ? 1 : 0
        var results: Int32 = 0
        let status = clua_resume(coroutine, run.control.pointer, arguments, &results)
        current = nil
        switch status {
        case LUA_YIELD:
            clua_pop(coroutine, results)
            return context.pointee.preempted == 0
        case LUA_OK:
            ended(task, .results)
        case Int32(CLUA_ABANDONED):
            endStateIfAbandoned(by: run)
        default:
            if run.control.pointer.pointee.stop == 0 { ended(task, .failure) }
        }
        return true
    }

    // MARK: Ends

    /// Handles the end of a task. Its results or its error are on its stack.
    func ended(_ task: ScriptTask, _ end: ScriptTask.End) {
        let run = task.run
        task.end = end
        run.remove(task)
        task.parent?.children[task.number] = nil
        if task !== run.main, !task.isDaemon { run.liveChildren -= 1 }
        if end == .failure {
            for child in task.children.values.sorted(by: { $0.number < $1.number }) { cancel(child) }
            failed(task)
        }
        for waiter in task.waiters {
            guard case .task(let awaited) = waiter.wait, awaited === task else { continue }
            handOver(task, to: waiter)
        }
        task.waiters = []
        for group in task.groups { memberEnded(task, of: group) }
        task.groups = []
        for load in task.moduleLoads.reversed() { endLoad(load) }
        releaseAnchor(task)
        if let session = run.session {
            taskEnded(task, in: session, of: run)
        } else {
            endIfDone(run)
        }
    }

    private func failed(_ task: ScriptTask) {
        let run = task.run
        if task === run.main {
            setRoot(task)
        } else if task.isCancelled || task.isObserved || task === run.session?.call {
            return
        } else if task.isDaemon, run.session == nil {
            setRoot(task)
        } else {
            task.holders += 1
            run.unawaitedFailures.append(task)
        }
    }

    private func setRoot(_ task: ScriptTask) {
        let run = task.run
        if run.rootFailure == nil {
            task.holders += 1
            run.rootFailure = task
        }
        end(run)
    }

    /// Cancels the remaining tasks of a run.
    func end(_ run: Run) {
        guard !run.isEnding else { return }
        run.isEnding = true
        for task in run.liveInOrder { cancel(task) }
    }

    private func endIfDone(_ run: Run) {
        if run.live.isEmpty {
            finish(run)
        } else if run.main?.end != nil, run.liveChildren == 0 {
            end(run)  // only daemons remain
        }
    }

    /// Stops a run that has used up a budget. No script code executes after that.
    private func stop(_ run: Run) {
        if run.control.pointer.pointee.stop == 0 { run.control.pointer.pointee.stop = Int32(CLUA_STOP_CANCEL) }
        for task in run.liveInOrder {
            abandonWait(task)
            if !run.close(task) { return endStateIfAbandoned(by: run) }
            task.end = .failure
            releaseAnchor(task)
        }
        run.removeAllTasks()
        finish(run)
    }

    // MARK: Cancelling

    func cancel(_ task: ScriptTask) {
        guard task.end == nil, !task.isCancelled else { return }
        task.isCancelled = true
        for child in task.children.values.sorted(by: { $0.number < $1.number }) { cancel(child) }
        switch task.wait {
        case .nothing: return  // not started, or about to continue: it sees the cancellation then, or at its next wait
        case .all(let group):
            group.isCancelled = true
            for member in group.members { cancel(member) }
            return  // it continues when all members have ended
        case .operation, .task, .module: break
        }
        abandonWait(task)
        resume(task, raising: task.cancellation)
    }

    func abandonWait(_ task: ScriptTask) {
        switch task.wait {
        case .nothing: break
        case .all(let group): releaseGroup(group)
        case .operation(let serial, let operation):
            waiting[serial] = nil
            task.run.operations -= 1
            operation.cancel()
        case .task(let awaited): awaited.waiters.removeAll { $0 === task }
        case .module(let load): load.waiters.removeAll { $0 === task }
        }
        task.wait = .nothing
    }

    /// Delivers a cancellation by the host, whose flag has been set before.
    func deliverCancel(_ id: LuaRunID) {
        guard !isClosed, let run = runs[id], run.control.isCancelled, !run.isCancelDelivered else { return }
        let pointer = run.control.pointer
        if let session = run.session, session.call == nil {  // too late for a call; it still counts for leftover tasks that the hook met
            run.control.forgetCancel()
            pointer.pointee.grace_limit_ns = 0
            return
        }
        run.isCancelDelivered = true
        if run.session == nil { limitCleanup(of: run) }
        // Waiting tasks receive the error here. A task that computes, or is about to, receives it from the hook when it continues.
        if pointer.pointee.grace_limit_ns == 0, !run.live.values.contains(where: { $0.mayCompute && !$0.isBystander }) {
            pointer.pointee.grace_limit_ns = clua_account_cpu(pointer.pointee.account) + 1_000_000_000
        }
        if run.session == nil { end(run) } else { cancelCall(of: run) }
        schedule(run)
        pump()
    }
}

extension Machine {
    /// Real time that a cancelled run has for its cleanup, including waits.
    private static let cleanupTime = Duration.seconds(5)

    private func limitCleanup(of run: Run) {
        run.control.pointer.pointee.grace_deadline_ns = clua_monotonic_ns() + Self.cleanupTime.nanoseconds
        run.graceTimer = stop(run, after: Self.cleanupTime, Int32(CLUA_STOP_CANCEL))
    }
}

extension LuaError {
    static let deadlock = LuaError(
        kind: .misuse, code: "script.deadlock", message: "every task of the script waits for another one")
}
