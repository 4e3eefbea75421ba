package import PushModel

/// The notification hub: registrations, installations, sends and schedules. Reads always see the latest write.
///
/// The actor isolates the parts that own the state, and answers through them. A change becomes visible, to readers and to sends, only
/// after the store has committed it. Changes of the same registration or installation run one at a time; changes of different ones run
/// concurrently.
package actor NotificationHub: HubGateway, ReachCounting {
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
    private var runner: DeliveryRunner { DeliveryRunner(services: services, scheduler: scheduler) }

    /// - Parameter loaded: the loaded content of the store.
    package init(
        environment: HubEnvironment, connectors: [any Connector], store: any HubStore, loaded: HubLoader,
        settings: HubSettings = HubSettings()
    ) {
        let (metrics, lifecycle) = (HubMetrics(hub: settings.name), HubLifecycle())
        let context = HubContext(environment: environment, store: store, metrics: metrics, lifecycle: lifecycle, settings: settings)
        let directory = RegistrationDirectory(context, loaded)
        let services = DeliveryServices(context, directory, pipeline: Self.pipeline(environment, connectors, settings))
        let scheduler = SendScheduler(services)
        (self.environment, self.store, self.lifecycle, name) = (environment, store, lifecycle, settings.name)
        intake = SendIntake(
            environment: environment, store: store, lifecycle: lifecycle, metrics: metrics, settings: settings,
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
        scheduler.dispatchReady()
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

    package func removeOld(notificationsBefore ended: Timestamp, tombstonesBefore left: Timestamp) async throws(PushError) {
        try await DataRetention(services: services).removeOld(notificationsBefore: ended, tombstonesBefore: left)
    }

    /// The number of accepted notifications that wait to start or for a push service.
    package var backlog: Int { scheduler.backlog }
    /// The number of tasks that deliver notifications.
    var deliveryCount: Int { scheduler.deliveryCount }

    /// Current issues by platform; empty if there are none.
    package func issues() -> [DeliveryIssue] { services.pipeline.health.issues() }

    // MARK: - Sending

    /// Sends now, and returns when every device has a final result.
    package func send(_ request: NotificationRequest) async throws(PushError) -> NotificationOutcome {
        try await send(request, admission: nil)
    }

    /// - Parameter admission: checks the send first; nil if the sender may reach any number of devices.
    package func send(
        _ request: NotificationRequest, admission: SendAdmission?
    ) async throws(PushError) -> NotificationOutcome {
        try await runner.send(SendIntake.Order(request: request, admission: admission, isAwaited: true), intake, on: self)
    }

    /// Stores a notification and returns. It is delivered in the background, after a crash by the next process.
    ///
    /// - Parameters:
    ///   - dueTime: when to send it, at most seven days ahead; nil or a time in the past means now.
    ///   - idempotencyKey: 1 to 255 visible ASCII characters. Repeating a request with its key returns the first notification and sends
    ///     nothing. Another request with a used key throws `hub.idempotency_key` (422).
    ///   - admission: checks the send first; nil if the sender may reach any number of devices.
    ///   - account: the account of the run that sends, which is charged for the delivery; nil for other senders.
    package nonisolated func accept(
        _ request: NotificationRequest, at dueTime: Timestamp? = nil, idempotencyKey: String? = nil, admission: SendAdmission? = nil,
        account: (any WorkAccount)? = nil
    ) async throws(PushError) -> AcceptedNotification {
        var order = SendIntake.Order(request: request, dueTime: dueTime, idempotencyKey: idempotencyKey, admission: admission)
        order.account = account
        return try await accept(order)
    }

    /// Like ``accept(_:at:idempotencyKey:admission:account:)``, for a send whose targets may be known.
    nonisolated func accept(_ order: SendIntake.Order) async throws(PushError) -> AcceptedNotification {
        try await intake.accept(order, for: self)
    }

    /// Schedules a send. A time in the past means now.
    package func schedule(_ request: NotificationRequest, at time: Timestamp) async throws(PushError) -> NotificationOutcome {
        try await accept(request, at: time).outcome
    }

    /// Sends now to the devices of a plan, and returns when each has a final result. Throws `plan.*`, and what `send` throws.
    package func send(_ planned: PlannedSend) async throws(PushError) -> NotificationOutcome {
        try await send(try await request(planned))
    }

    /// Like ``accept(_:at:idempotencyKey:admission:account:)``, for the devices of a plan. Also throws `plan.*`.
    package nonisolated func accept(
        _ planned: PlannedSend, at time: Timestamp? = nil, idempotencyKey: String? = nil
    ) async throws(PushError) -> AcceptedNotification {
        try await accept(try await request(planned), at: time, idempotencyKey: idempotencyKey)
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
}

// What the parts reach from tasks.
extension NotificationHub: DirectoryOwner, SendWorker, DeliveryHost, IntakeHost {
    func deleteExpired() async { await directory.deleteExpired() }

    func perform(_ work: SendWork) async -> Delay? { await runner.perform(work, on: self) }

    func record(_ completed: [CompletedTarget], in session: inout DeliverySession) async { await session.record(completed) }

    func recipients(at rows: [UInt32], of group: RecipientGroup) -> [Recipient] {
        directory.table.recipients(at: rows, of: group)
    }

    func performed(_ sequence: Int64, _ delay: Delay?) { scheduler.performed(sequence, delay) }

    func scheduleAlarmFired(_ generation: Int) { scheduler.fire(generation) }

    func scheduleAlarmStopped(_ generation: Int) async { await scheduler.alarmStopped(generation) }

    func deferralAlarmFired(_ time: Timestamp) { scheduler.wakeDeferredSends(time) }

    func refillOutbox() async { await scheduler.refill() }

    func acquireSlot(_ service: PushService) -> Bool { scheduler.acquireSlot(service) }

    func releaseSlot(_ service: PushService) { scheduler.releaseSlot(service) }

    func waitForSlot(_ service: PushService) async -> Bool { await scheduler.waitForSlot(service) }

    func counts(of tags: [Tag], among rows: RowSet) -> [Int] {
        tags.map { directory.table.index.rows(of: $0).countCommon(rows) }
    }

    func rowSets(of tags: [Tag]) -> [Tag: RowSet] {
        tags.reduce(into: [:]) { found, tag in if found[tag] == nil { found[tag] = directory.table.index.rows(of: tag) } }
    }

    func hookedDevices(at rows: [UInt32]) async -> [HookedDevice] { await services.hookedDevices(at: rows) }

    func checked(_ request: NotificationRequest, _ resolved: inout ResolvedTargets?) throws(PushError) -> NotificationRequest {
        try services.checked(request, &resolved)
    }

    func reach(of request: NotificationRequest, beyond number: Int, _ resolved: inout ResolvedTargets?) async -> AudienceReach? {
        await ReachCounter(services: services).reach(of: request, beyond: number, &resolved)
    }

    func reach(of request: NotificationRequest, _ resolved: inout ResolvedTargets?) async -> AudienceReach {
        await ReachCounter(services: services).reach(of: request, &resolved)
    }

    func enqueue(_ stored: StoredNotification, _ targets: ResolvedTargets?, for account: (any WorkAccount)?) {
        scheduler.enqueue(stored, targets, for: account)
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
