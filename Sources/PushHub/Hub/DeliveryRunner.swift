import PushModel

/// Runs deliveries: those of sends whose sender waits, and those that a scheduler starts as tasks.
///
/// Not thread-safe: it is part of the actor that owns the services and the scheduler.
struct DeliveryRunner {
    let services: DeliveryServices
    let scheduler: SendScheduler

    private var context: HubContext { services.context }
    private var directory: RegistrationDirectory { services.directory }
    private var recorder: DeliveryRecorder { DeliveryRecorder(services: services) }

    /// Memory in bytes that a delivery uses for each device until its end: recipient, attempt, verdict, result and the row to store.
    private static let memoryPerDevice = 1_600

    /// Accepts a send whose sender waits, and returns its outcome. It is delivered now, unless it is due later.
    func send(
        _ order: SendIntake.Order, _ intake: SendIntake, on host: isolated some DeliveryHost & IntakeHost
    ) async throws(PushError) -> NotificationOutcome {
        // Many sends of a run may have waited for the actor meanwhile.
        try ChargedWork.check()
        var checked: SendIntake.Checked
        switch try await intake.check(order, for: host) {
        case .new(let new): checked = new
        case .sent(let id): return try await NotificationLookup(services: services).outcome(of: id)
        case .repeated(let first): return first.outcome
        }
        try ChargedWork.check()
        let (stored, dueTime) = (intake.notification(checked), checked.draft.dueTime)
        if dueTime == nil { services.active[stored.outcome.id] = stored.outcome }
        do throws(PushError) {
            _ = try await intake.store(stored, for: host)
        } catch {
            services.active[stored.outcome.id] = nil
            throw error
        }
        // Scheduled before hooks are notified, because a hook may cancel it.
        if let dueTime { scheduler.wait(for: dueTime, stored) }
        if context.settings.dispatch.isConcurrent {
            intake.notifySentInBackground(stored, checked.draft)
        } else {
            // In a rehearsal, events must happen in a fixed order.
            await intake.notifySent(stored, checked.draft)
        }
        guard dueTime == nil else { return stored.outcome }
        return await deliverNow(stored, checked.targets.take(), on: host)
    }

    /// Delivers a notification whose sender waits, and returns its outcome. If the end cannot be stored now, it is stored in the
    /// background.
    ///
    /// - Parameter targets: the targets that were found when it was accepted; nil for none.
    private func deliverNow(
        _ stored: StoredNotification, _ targets: ResolvedTargets?, on host: isolated some DeliveryHost
    ) async -> NotificationOutcome {
        var (tally, delay) = await deliver(stored, nil, targets, isInTurn: false, on: host)
        var outcome = tally.outcome
        outcome.devices = tally.devices
        if case .deferredDevices(let id, let time) = delay {
            if await recorder.storeProgress(&tally) {
                services.active[id] = nil
                scheduler.deferDevices(of: id, stored.sequence, until: time)
            } else {
                scheduler.run(stored.sequence, .storeDeferred(tally, until: time))
            }
            return outcome
        }
        guard outcome.state.isFinal else { return tally.outcome }
        if !(await recorder.storeEndNow(&tally)) { scheduler.run(stored.sequence, .storeEnd(tally)) }
        return outcome
    }

    /// Does the work of a task. Returns what the notification has to wait for; nil when it is done.
    func perform(_ work: SendWork, on host: isolated some DeliveryHost) async -> Delay? {
        switch work {
        case .deliver(let stored): return await deliverFromOutbox(stored, nil, on: host)
        case .resume(let sequence, let retryState): return await resume(sequence, retryState, on: host)
        case .storeDeferred(let tally, let time):
            await recorder.storeDeferred(tally)
            return .deferredDevices(id: tally.outcome.id, until: time)
        case .storeEnd(let tally):
            await recorder.storeEnd(tally)
            return nil
        }
    }

    private func deliverFromOutbox(
        _ stored: StoredNotification, _ retryState: RetryState?, on host: isolated some DeliveryHost
    ) async -> Delay? {
        let (tally, delay) = await deliver(stored, retryState, scheduler.takeTargets(of: stored.sequence), isInTurn: true, on: host)
        // The end is stored before the slot is freed, which limits the number of unstored ends.
        if tally.outcome.state.isFinal { await recorder.storeEnd(tally) }
        if case .deferredDevices = delay { await recorder.storeDeferred(tally) }
        return delay
    }

    /// Reloads a notification that was deferred or queued, and delivers it to the devices that have no result yet.
    private func resume(_ sequence: Int64, _ retryState: RetryState?, on host: isolated some DeliveryHost) async -> Delay? {
        var pause = HubContext.firstPause
        while !context.isStopping {
            do throws(PushError) {
                guard let stored = try await context.store.unfinished([sequence]).first else { return nil }
                services.active[stored.outcome.id] = stored.outcome
                return await deliverFromOutbox(stored, retryState, on: host)
            } catch {
                guard error.isRetryable else {
                    OutboxReader(context: context).reportUnreadable(error)
                    return nil
                }
                context.environment.warn(.delivery, "notification \(sequence) cannot be read: \(error.message)")
                await context.backOff(&pause)
            }
        }
        return nil
    }

    /// Delivers a notification to the devices that are registered now.
    ///
    /// Without a delay, the returned delivery is final and its end still has to be stored, unless the hub stopped first. With a delay, the
    /// notification has to wait. If hooks deferred devices, the results of the others still have to be stored.
    private func deliver(
        _ stored: StoredNotification, _ retryState: RetryState?, _ targets: ResolvedTargets?, isInTurn: Bool,
        on host: isolated some DeliveryHost
    ) async -> (tally: DeliveryTally, delay: Delay?) {
        let plan = await services.plannedAudience(of: stored.request, stored.outcome.id)
        var session = DeliverySession(stored, retryState, plan, targets, keepsDevices: !isInTurn, services)
        guard await session.begin() else { return (session.tally, nil) }
        // From here on, rows of deleted registrations are not reused until the run ends.
        let run = directory.table.beginRun()
        defer { directory.table.endRun(run) }
        guard await session.prepare(asking: host) else { return (session.tally, nil) }
        let (sender, memory) = (ChargedWork.run, Self.memoryPerDevice * session.targets.count)
        sender?.note(memory: memory)
        defer { sender?.release(memory: memory) }
        let dispatch = context.settings.dispatch
        // The pipeline calls the closures outside the actor, so they only call its methods.
        let end = await services.pipeline.deliver(
            session.targets, of: stored.request, id: stored.outcome.id, batch: min(dispatch.devicesPerBatch, dispatch.devicesPerStep),
            policy: session.policy(isInTurn: isInTurn, host), lookingUp: { await host.recipients(at: $0, of: $1) }
        ) { completed in
            await host.record(completed, in: &session)
        }
        let delay = await session.finish(end)
        return (session.tally, delay)
    }
}
