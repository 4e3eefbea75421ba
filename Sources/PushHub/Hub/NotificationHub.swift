import PushModel

/// The notification hub: registrations, installations, sends and schedules. Reads always see the latest write.
///
/// The actor isolates the parts that own the state, and answers through them. A change becomes visible, to readers and to sends, only
/// after the store has committed it. Changes of the same registration or installation run one at a time; changes of different ones run
/// concurrently.
package actor NotificationHub: HubGateway, ReachMeter {
    let environment: HubEnvironment
    let store: any HubStore
    nonisolated let name: String
    private nonisolated let lifecycle: HubLifecycle
    nonisolated let intake: SendIntake
    nonisolated let storedRows: StoredRows
    let context: HubContext
    let directory: RegistrationDirectory
    let services: DeliveryServices
    let scheduler: SendScheduler

    /// - Parameter loaded: the loaded content of the store.
    package init(
        environment: HubEnvironment, connectors: [any Connector], store: any HubStore, loaded: HubLoader,
        settings: HubSettings = HubSettings()
    ) {
        let (meter, lifecycle) = (HubMetrics(hub: settings.name), HubLifecycle())
        let context = HubContext(environment: environment, store: store, meter: meter, lifecycle: lifecycle, settings: settings)
        let directory = RegistrationDirectory(context, loaded)
        let services = DeliveryServices(context, directory, pipeline: Self.pipeline(environment, connectors, settings))
        let scheduler = SendScheduler(services)
        (self.environment, self.store, self.lifecycle, name) = (environment, store, lifecycle, settings.name)
        intake = SendIntake(
            environment: environment, store: store, lifecycle: lifecycle, meter: meter, settings: settings,
            lastSequence: loaded.lastSequence)
        storedRows = directory.stored
        (self.context, self.directory, self.services, self.scheduler) = (context, directory, services, scheduler)
        directory.owner = self
        scheduler.worker = self
    }

    /// Creates a hub from whole rows in memory, by default an empty hub.
    package init(
        environment: HubEnvironment, connectors: [any Connector], store: any HubStore, stored: StoredHub = StoredHub(),
        settings: HubSettings = HubSettings()
    ) {
        var loader = HubLoader()
        stored.read(into: &loader)
        self.init(environment: environment, connectors: connectors, store: store, loaded: loader, settings: settings)
    }

    private static func pipeline(_ environment: HubEnvironment, _ connectors: [any Connector], _ settings: HubSettings) -> SendPipeline {
        SendPipeline(
            environment: environment, connectors: connectors, hub: settings.name,
            retries: RetryPolicy(window: settings.dispatch.retryWindow, jitter: settings.dispatch.retryJitter))
    }

    // MARK: - Changes of the settings

    /// Replaces the connectors and the time to live. Both apply to sends and registrations that start from now on.
    package func change(connectors: [any Connector], registrationTTL: Duration?) {
        services.pipeline = Self.pipeline(environment, connectors, context.settings)
        context.settings.registrationTTL = registrationTTL
    }

    /// Sets the maximum share of a notification's audience that may be removed. Notifications in progress keep the share they started
    /// with.
    package func change(maxRemovedShare share: Double) { context.settings.feedback.maxRemovedShare = share }

    /// Sets how many notifications are delivered at a time. Deliveries that have started continue.
    package func change(concurrentNotifications count: Int) {
        context.settings.limits.concurrentNotifications = count
        scheduler.startNext(times: count)
        scheduler.pump()
    }

    // MARK: - Start and stop

    /// Continues with what earlier processes accepted, as ``SendScheduler/load()`` says. Call it once, before anything is sent.
    package func resume() async throws(PushError) {
        try await heldRemovalList.load()
        try await scheduler.load()
        directory.sweep()
        directory.forget(directory.table.leftovers)
        scheduler.start()
    }

    /// Stops the hub: starts nothing more, waits for deliveries in progress, and tries once more to store ends that could not be stored.
    /// Undelivered notifications stay in the outbox.
    package func stop() async {
        lifecycle.stop()
        scheduler.cancelAlarms()
        directory.cancelDeletion()
        scheduler.cancelDeliveries()
        context.cancelBackOffs()
        await scheduler.awaitDeliveries()
        await directory.awaitDeletion()
    }

    package func removeOld(notificationsBefore ended: Timestamp, departuresBefore left: Timestamp) async throws(PushError) {
        try await DataRetention(services: services).removeOld(notificationsBefore: ended, departuresBefore: left)
    }

    /// The number of accepted notifications that wait to start or for a push service.
    package var backlog: Int { scheduler.backlog }
    /// The number of tasks that deliver notifications.
    var deliveryCount: Int { scheduler.deliveryCount }

    /// Current issues by platform; empty if there are none.
    package func troubles() -> [DeliveryIssue] { services.pipeline.troubles() }

    // MARK: - Sending

    /// Sends now, and returns when every device has a final result.
    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await send(request, admission: nil)
    }

    /// - Parameter admission: checks the send first; nil if the sender may reach any number of devices.
    package func send(
        _ request: NotificationRequest, admission: SendAdmission?
    ) async throws(PushError) -> NotificationOutcome {
        let checked: SendIntake.Checked
        switch try await intake.check(SendIntake.Order(request: request, admission: admission, isAwaited: true), for: self) {
        case .new(let new): checked = new
        case .sent(let id): return try await outcome(of: id)
        case .repeated(let first): return first.outcome
        }
        let (kept, dueTime) = (intake.notification(checked), checked.draft.moment)
        if dueTime == nil { services.active[kept.outcome.id] = kept.outcome }
        do throws(PushError) {
            _ = try await intake.accept(kept, for: self)
        } catch {
            services.active[kept.outcome.id] = nil
            throw error
        }
        // Scheduled before hooks are notified, because a hook may cancel it.
        if let dueTime { scheduler.wait(for: dueTime, kept) }
        if context.settings.dispatch.isConcurrent {
            intake.notifySentInBackground(kept, checked.draft)
        } else {
            // In a rehearsal, events must happen in a fixed order.
            await intake.notifySent(kept, checked.draft)
        }
        guard dueTime == nil else { return kept.outcome }
        return await deliverNow(kept, checked.targets)
    }

    /// Stores a notification and returns. It is delivered in the background, after a crash by the next process.
    ///
    /// - Parameters:
    ///   - dueTime: when to send it, at most seven days ahead; nil or a time in the past means now.
    ///   - idempotencyKey: 1 to 255 visible ASCII characters. Repeating a request with its key returns the first notification and sends
    ///     nothing. Another request with a used key throws `hub.idempotency_key` (422).
    ///   - admission: checks the send first; nil if the sender may reach any number of devices.
    package nonisolated func accept(
        _ request: NotificationRequest, at dueTime: Timestamp? = nil, idempotencyKey: String? = nil, admission: SendAdmission? = nil
    ) async throws(PushError) -> AcceptedNotification {
        // Everything but the last step runs outside the actor, so that senders do not wait for each other.
        let order = SendIntake.Order(request: request, dueTime: dueTime, idempotencyKey: idempotencyKey, admission: admission)
        let checked: SendIntake.Checked
        switch try await intake.check(order, for: self) {
        case .new(let new): checked = new
        case .sent(let id): return AcceptedNotification(outcome: try await notification(id).outcome, isRepeated: true)
        case .repeated(let first): return first
        }
        let kept = intake.notification(checked)
        if let first = try await intake.accept(kept, for: self) { return first }
        await enqueue(kept)
        intake.notifySentInBackground(kept, checked.draft)
        return AcceptedNotification(outcome: kept.outcome, isRepeated: false)
    }

    private func enqueue(_ kept: StoredNotification) { scheduler.enqueue(kept) }

    /// Schedules a send. A time in the past means now.
    package func schedule(_ request: NotificationRequest, at moment: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await accept(request, at: moment).outcome
    }

    /// Sends now to the devices of a plan, and returns when each has a final result. Throws `plan.*`, and what `send` throws.
    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        try await send(try await request(planned))
    }

    /// Like ``accept(_:at:idempotencyKey:)``, for the devices of a plan. Also throws `plan.*`.
    package nonisolated func accept(
        _ planned: PlannedSend, at moment: Timestamp? = nil, idempotencyKey: String? = nil
    ) async throws(PushError) -> AcceptedNotification {
        try await accept(try await request(planned), at: moment, idempotencyKey: idempotencyKey)
    }

    /// Cancels a notification, and returns once that is stored. A scheduled one reaches no device; one in progress reaches no further
    /// device. Throws `notification.not_found` (404).
    package func cancel(notification id: String) async throws(PushError) {
        try lifecycle.checkIsOpen()
        try await scheduler.cancel(id, reader)
    }

    // MARK: - Plans

    nonisolated var planner: Planner { Planner(environment: environment, store: store, host: self) }

    /// Reports exactly which devices a send would reach, and with what. Sends nothing, calls no hooks, and stores only the plan.
    ///
    /// Throws what `send` would: `payload.*`, `handle.invalid`.
    /// - Parameter maker: the name of the key that requests the plan.
    package nonisolated func plan(_ request: PlanRequest, by maker: String?) async throws(PushError) -> PlanReport {
        try await planner.plan(request, by: maker, lifecycle, storedRows)
    }

    // MARK: - Delivery

    /// Delivers a notification whose sender waits, and returns its outcome. If the end cannot be stored now, it is stored in the
    /// background.
    ///
    /// - Parameter targets: the targets that were found when it was accepted.
    private func deliverNow(_ kept: StoredNotification, _ targets: ResolvedTargets?) async -> NotificationOutcome {
        let recorder = DeliveryRecorder(services: services)
        var (tally, delay) = await deliver(kept, nil, isInTurn: false, targets)
        var outcome = tally.outcome
        outcome.devices = tally.devices
        if case .held(let id, let moment) = delay {
            if await recorder.storeProgress(&tally) {
                services.active[id] = nil
                scheduler.hold(id, kept.sequence, until: moment)
            } else {
                scheduler.run(kept.sequence, .storeDeferred(tally, until: moment))
            }
            return outcome
        }
        guard outcome.state.isFinal else { return tally.outcome }
        if !(await recorder.storeEndNow(&tally)) { scheduler.run(kept.sequence, .storeEnd(tally)) }
        return outcome
    }

    /// Delivers a notification to the devices that are registered now.
    ///
    /// Without a delay, the returned delivery is final and its end still has to be stored, unless the hub stopped first. With a delay, the
    /// notification has to wait. If hooks deferred devices, the results of the others still have to be stored.
    private func deliver(
        _ kept: StoredNotification, _ patience: RetryState?, isInTurn: Bool, _ resolved: ResolvedTargets? = nil
    ) async -> (tally: DeliveryTally, delay: Delay?) {
        let plan = await services.plannedAudience(of: kept.request, kept.outcome.id)
        var session = DeliverySession(kept, patience, plan, keepsDevices: !isInTurn, services)
        guard await session.begin() else { return (session.tally, nil) }
        // From here on, rows of deleted registrations are not reused until the run ends.
        let run = directory.table.beginRun()
        defer { directory.table.endRun(run) }
        guard await session.prepare(reusing: resolved, asking: self) else { return (session.tally, nil) }
        let dispatch = context.settings.dispatch
        // The pipeline calls the closures outside the actor, so they only call its methods.
        let end = await services.pipeline.deliver(
            session.targets, of: kept.request, id: kept.outcome.id, batch: min(dispatch.devicesPerBatch, dispatch.devicesPerStep),
            manner: session.policy(isInTurn: isInTurn, self), lookingUp: { await self.recipients(at: $0, of: $1) }
        ) { settled in
            await self.record(settled, in: &session)
        }
        let delay = await session.finish(end)
        return (session.tally, delay)
    }

    private func record(_ settled: [SettledTarget], in session: inout DeliverySession) async { await session.record(settled) }

    private func recipients(at places: [UInt32], of group: RecipientGroup) -> [Recipient] {
        directory.table.recipients(at: places, of: group)
    }
}

// What the parts reach from tasks.
extension NotificationHub: DirectoryOwner, SendWorker, SlotProvider, HookedRegistrations, IntakeHost {
    func deleteExpired() async { await directory.deleteExpired() }

    func perform(_ work: SendWork) async -> Delay? {
        switch work {
        case .deliver(let kept): return await deliverFromOutbox(kept, nil)
        case .resume(let sequence, let patience): return await resume(sequence, patience)
        case .storeDeferred(let tally, let moment):
            await DeliveryRecorder(services: services).storeDeferred(tally)
            return .held(id: tally.outcome.id, until: moment)
        case .storeEnd(let tally):
            await DeliveryRecorder(services: services).storeEnd(tally)
            return nil
        }
    }

    private func deliverFromOutbox(_ kept: StoredNotification, _ patience: RetryState?) async -> Delay? {
        let (tally, delay) = await deliver(kept, patience, isInTurn: true)
        let recorder = DeliveryRecorder(services: services)
        // The end is stored before the slot is freed, which limits the number of unstored ends.
        if tally.outcome.state.isFinal { await recorder.storeEnd(tally) }
        if case .held = delay { await recorder.storeDeferred(tally) }
        return delay
    }

    /// Reloads a notification that was deferred or queued, and delivers it to the devices that have no result yet.
    private func resume(_ sequence: Int64, _ patience: RetryState?) async -> Delay? {
        var pause = HubContext.firstPause
        while !context.isStopping {
            do throws(PushError) {
                guard let kept = try await store.unfinished([sequence]).first else { return nil }
                services.active[kept.outcome.id] = kept.outcome
                return await deliverFromOutbox(kept, patience)
            } catch {
                guard error.isRetryable else {
                    OutboxReader(context: context).reportUnreadable(error)
                    return nil
                }
                environment.warn(.delivery, "notification \(sequence) cannot be read: \(error.message)")
                await context.backOff(&pause)
            }
        }
        return nil
    }

    func performed(_ sequence: Int64, _ delay: Delay?) { scheduler.performed(sequence, delay) }

    func scheduleAlarmRang(_ generation: Int) { scheduler.ring(generation) }

    func scheduleAlarmStopped(_ generation: Int) async { await scheduler.alarmStopped(generation) }

    func deferralAlarmRang(_ time: Timestamp) { scheduler.wakeDeferredSends(time) }

    func refillOutbox() async { await scheduler.refill() }

    func acquireSlot(_ service: PushService) -> Bool { scheduler.acquireSlot(service) }

    func releaseSlot(_ service: PushService) { scheduler.releaseSlot(service) }

    func waitForSlot(_ service: PushService) async -> Bool { await scheduler.waitForSlot(service) }

    func counts(of tags: [Tag], among places: RowSet) -> [Int] {
        tags.map { directory.table.index.places(of: $0).countCommon(places) }
    }

    func places(of tags: [Tag]) -> [Tag: RowSet] {
        tags.reduce(into: [:]) { found, tag in if found[tag] == nil { found[tag] = directory.table.index.places(of: tag) } }
    }

    func hookedDevices(at places: [UInt32]) async -> [HookedDevice] { await services.hookedDevices(at: places) }

    func checked(_ request: NotificationRequest) throws(PushError) -> (request: NotificationRequest, targets: ResolvedTargets) {
        try services.checked(request)
    }

    func reach(of request: NotificationRequest, beyond number: Int, _ targets: ResolvedTargets?) async -> AudienceReach? {
        await ReachCounter(services: services, resolved: targets).reach(of: request, beyond: number)
    }

    func reach(of request: NotificationRequest, _ targets: ResolvedTargets?) async -> AudienceReach {
        await ReachCounter(services: services, resolved: targets).reach(of: request)
    }

    func current(_ outcome: NotificationOutcome) -> NotificationOutcome { services.active.current(outcome) }

    func survey(_ request: PlanRequest) async throws(PushError) -> PlanSnapshot {
        try await PlanSurveyor(services: services).snapshot(request)
    }

    func rows(of audience: PlannedAudience) async throws(PushError) -> [RegistrationRow] {
        try await PlanSurveyor(services: services).rows(of: audience)
    }

    var planRetention: HubSettings.Retention { context.settings.retention }
}
