import PushModel

/// Schedules the deliveries of accepted notifications: the outbox, scheduled, deferred, large and paced sends, and the slots at push
/// services.
///
/// Not thread-safe: it is part of the state of the actor that owns it.
final class SendScheduler {
    private let services: DeliveryServices
    private let context: HubContext
    /// Delivers the notifications in the background.
    weak var worker: (any SendWorker)?
    private var outbox = Outbox()
    private var schedule = Schedule()
    /// Running deliveries of outbox notifications, by sequence number.
    private var deliveries: [Int64: Task<Void, Never>] = [:]
    /// Outbox notifications that wait for a push service.
    private var deferredSends = DeferredSends()
    private var largeSends = LargeSendQueue(threshold: DeliverySession.largeSend)
    /// Notifications with a pace (a rate limit). They wait in memory and are never deferred.
    private var pacedSends = LargeSendQueue(threshold: 0)
    private var concurrencyLimiter = ConcurrencyLimiter()
    /// The targets that were found when notifications were accepted, until their deliveries take them.
    private var resolved: [Int64: ResolvedTargets] = [:]
    /// The runs that are charged for deliveries.
    private var accounts = SendAccounts()

    init(_ services: DeliveryServices) { (self.services, context) = (services, services.context) }

    private var active: ActiveNotifications { services.active }
    private var limits: HubSettings.Limits { context.settings.limits }

    /// The number of accepted notifications that wait to start or for a push service.
    var backlog: Int { outbox.count + deferredSends.count + largeSends.count + pacedSends.count }
    /// The number of tasks that deliver notifications.
    var deliveryCount: Int { deliveries.count }

    // MARK: - Start and stop

    /// Queues what earlier processes accepted. ``start()`` starts it.
    ///
    /// Devices with stored results get nothing again; devices in flight when that process died may get the notification twice. Test sends
    /// are not repeated, because their senders are gone.
    func load() async throws(PushError) {
        let reader = OutboxReader(context: context)
        var last: Int64 = 0
        while true {
            let page = try await reader.unfinished(after: &last)
            for stored in page {
                last = stored.sequence
                if stored.request.isTest {
                    await reader.end(test: stored)
                } else if stored.outcome.state == .scheduled, let time = stored.outcome.scheduledFor {
                    schedule.insert(stored.outcome.id, Schedule.Entry(sequence: stored.sequence, dueTime: time))
                } else {
                    outbox.append(behind: [stored.sequence])
                }
            }
            if page.isEmpty { return }
        }
    }

    /// Starts what is due.
    func start() {
        if outbox.count > 0 { context.environment.note(.delivery, "resuming \(outbox.count) notifications") }
        rearm()
        dispatchReady()
    }

    /// Ends the alarms, so that nothing more starts, and resumes those who wait for an end.
    func cancelAlarms() {
        schedule.alarm?.cancel()
        active.waiters.endAll()
        deferredSends.alarm?.cancel()
    }

    /// Cancels the deliveries in progress, in a fixed order, so that runs are reproducible.
    func cancelDeliveries() {
        for (_, delivery) in deliveries.sorted(by: { $0.key < $1.key }) { delivery.cancel() }
    }

    func awaitDeliveries() async {
        while let (_, delivery) = deliveries.min(by: { $0.key < $1.key }) { await delivery.value }
    }

    // MARK: - Queueing

    /// Queues an accepted notification.
    ///
    /// - Parameters:
    ///   - targets: found when it was accepted; nil for none. Dropped unless its delivery starts at once: they take memory and get old.
    ///   - account: charged for the delivery; nil for none.
    func enqueue(_ stored: StoredNotification, _ targets: ResolvedTargets?, for account: (any WorkAccount)? = nil) {
        if let account { accounts[stored.sequence] = account }
        if let time = stored.outcome.scheduledFor { return wait(for: time, stored) }
        outbox.append(stored)
        if let targets { resolved[stored.sequence] = targets }
        dispatchReady()
        if targets != nil, deliveries[stored.sequence] == nil { resolved[stored.sequence] = nil }
    }

    /// The targets that were found when a notification was accepted, once.
    func takeTargets(of sequence: Int64) -> ResolvedTargets? { resolved.removeValue(forKey: sequence) }

    func wait(for time: Timestamp, _ stored: StoredNotification) {
        context.environment.note(.schedule, "\(stored.outcome.id) is scheduled for \(time)")
        schedule.insert(stored.outcome.id, Schedule.Entry(sequence: stored.sequence, dueTime: time))
        rearm()
    }

    /// Schedules a notification of which only deferred devices are left. It holds no delivery slot meanwhile.
    func deferDevices(of id: String, _ sequence: Int64, until time: Timestamp) {
        // It was cancelled before it was scheduled.
        guard !active.isCancelled(sequence) else { return run(sequence, .resume(sequence, nil)) }
        context.environment.note(.schedule, "\(id) is deferred until \(time)")
        schedule.insert(id, Schedule.Entry(sequence: sequence, dueTime: time, isDeferred: true))
        active.waiters.dismiss(id)
        rearm()
    }

    // MARK: - Deliveries

    /// Maximum number of deliveries in progress, not counting large and paced sends. It leaves a slot for a notification to an idle push
    /// service even if every busy service is at its limit.
    private var maximumDeliveries: Int {
        guard context.settings.dispatch.isConcurrent else { return limits.concurrentNotifications }
        let busy = max(services.pipeline.platforms.count, min(concurrencyLimiter.busyServiceCount, DeliveryRun.mostOrigins) + 1)
        // Does not overflow without a limit.
        return min(limits.concurrentNotifications, .max / busy) * busy
    }

    /// Large and paced sends have their own limits: a failing push service can delay them for half an hour.
    private var hasDeliverySlot: Bool { deliveries.count - largeSends.activeCount - pacedSends.activeCount < maximumDeliveries }

    /// Starts deliveries while slots are free. Deferred sends go first.
    func dispatchReady() {
        guard !context.isStopping else { return }
        let (devices, sends) = (limits.concurrentDevices, limits.concurrentNotifications)
        while hasDeliverySlot {
            if let (sequence, retryState) = deferredSends.next() {
                run(sequence, .resume(sequence, retryState))
            } else if let sequence = largeSends.next(limit: devices) ?? pacedSends.next(limit: sends) {
                run(sequence, .resume(sequence, nil))
            } else if let stored = outbox.next() {
                guard begins(stored) else { continue }
                active[stored.outcome.id] = stored.outcome
                run(stored.sequence, .deliver(stored))
            } else {
                break
            }
        }
        if outbox.isBehind, outbox.isLow, !outbox.isRefilling {
            outbox.isRefilling = true
            _ = context.environment.start { [weak worker] in await worker?.refillOutbox() }
        }
    }

    /// Whether a notification may start now. Otherwise it is queued, and later ones may overtake it.
    private func begins(_ stored: StoredNotification) -> Bool {
        if active.isCancelled(stored.sequence) { return true }
        let devices = services.directory.table.index.upperBound(stored.request.audience)
        return stored.request.pace == nil || devices >= largeSends.threshold
            ? largeSends.begins(stored.sequence, devices: devices, limit: limits.concurrentDevices)
            : pacedSends.begins(stored.sequence, devices: 1, limit: limits.concurrentNotifications)
    }

    /// Starts a task for a notification.
    func run(_ sequence: Int64, _ work: SendWork) {
        deliveries[sequence] = context.environment.start(for: accounts[sequence]) { [weak worker] in
            guard let worker else { return }
            await worker.performed(sequence, await worker.perform(work))
        }
    }

    func performed(_ sequence: Int64, _ delay: Delay?) {
        deliveries[sequence] = nil
        largeSends.ended(sequence)
        pacedSends.ended(sequence)
        switch delay {
        case nil:
            active.forgetCancellation(of: sequence)
            accounts[sequence] = nil
        case .service(let retryState):
            deferredSends.insert(sequence, retryState, now: context.environment.steady.now)
            // It was cancelled before it was deferred.
            if active.isCancelled(sequence) { deferredSends.release(sequence) }
        case .deferredDevices(let id, let time): deferDevices(of: id, sequence, until: time)
        }
        // Slots at push services may have become free meanwhile.
        startNext(times: 1)
        dispatchReady()
        rearmDeferredSends()
    }

    /// Reads the next notifications of the outbox from the store.
    func refill() async {
        let wanted = Array(outbox.nextBehind)
        var found: [StoredNotification]?
        var pause = HubContext.firstPause
        while found == nil, !context.isStopping {
            do throws(PushError) {
                found = try await OutboxReader(context: context).readable(wanted)
            } catch {
                context.environment.warn(.delivery, "the outbox cannot be read: \(error.message)")
                await context.backOff(&pause)
            }
        }
        guard let found else { return }
        outbox.refill(found, insteadOf: wanted.count)
        outbox.isRefilling = false
        dispatchReady()
    }

    // MARK: - Cancellation and completion

    /// Cancels a notification, and returns once that is stored. A scheduled one reaches no device; one in progress reaches no further
    /// device. Throws `notification.not_found` (404).
    func cancel(_ id: String, _ reader: NotificationLookup) async throws(PushError) {
        if schedule[id]?.isDeferred == false, let entry = schedule.remove(id) {
            do throws(PushError) {
                try await DeliveryRecorder(services: services).storeCanceled(id, entry.sequence)
            } catch {
                schedule.insert(id, entry)
                rearm()
                throw error
            }
            rearm()
        } else {
            try await stop(id, reader)
        }
    }

    /// Cancels a notification, and returns once its end is stored. A waiting one is started at once to end it. Devices without a result
    /// are abandoned.
    private func stop(_ id: String, _ reader: NotificationLookup) async throws(PushError) {
        active.waiters.watch(id)
        defer { active.waiters.unwatch(id) }
        let stored = try await reader.notification(id)
        let sequence = stored.sequence
        guard !stored.outcome.state.isFinal, !active.waiters.hasEnded(id) else { throw CancellationRefusal.ended(id, stored.outcome.state) }
        guard !stored.request.isTest else { throw CancellationRefusal.isTest(id) }
        context.environment.note(.delivery, "cancelling \(id)")
        active.cancel(sequence)
        deliveries[sequence]?.cancel()
        deferredSends.release(sequence)
        if schedule.remove(id) != nil {
            run(sequence, .resume(sequence, nil))
            rearm()
        }
        if largeSends.dequeue(sequence) || pacedSends.dequeue(sequence) { run(sequence, .resume(sequence, nil)) }
        dispatchReady()
        if !context.isStopping, !active.waiters.hasEnded(id) { await withCheckedContinuation { active.waiters.wait(id, $0) } }
        let state = try await reader.notification(id).outcome.state
        // The last device may have got it just before.
        guard state == .canceled else { throw CancellationRefusal.ended(id, state) }
    }

    /// Waits until a notification has ended. Returns at once if it only waits for its due time.
    func finish(_ id: String, _ reader: NotificationLookup) async throws(PushError) -> NotificationOutcome {
        active.waiters.watch(id)
        defer { active.waiters.unwatch(id) }
        let outcome = try await reader.outcome(of: id)
        // Until the end is stored, the outcome lacks devices that earlier processes delivered to.
        if outcome.state.isFinal, active[id] == nil { return outcome }
        if let entry = schedule[id], entry.dueTime > context.now {
            // It may have been in progress when the store was read.
            return entry.isDeferred ? try await reader.outcome(of: id) : outcome
        }
        if !context.isStopping, !active.waiters.hasEnded(id) { await withCheckedContinuation { active.waiters.wait(id, $0) } }
        return try await reader.outcome(of: id)
    }

    /// Scheduled notifications below `sequence`, highest first.
    func scheduled(before sequence: Int64?, limit: Int) -> [Int64] { schedule.sequences(before: sequence, limit: limit) }

    // MARK: - Alarms

    /// Sets the alarm to the earliest due time, if it has changed.
    private func rearm() {
        let next = schedule.nextDueTime()
        guard next != schedule.armed, !context.isStopping else { return }
        schedule.rearm(for: next)
        guard let next else { return }
        let (clock, generation) = (context.environment.clock, schedule.generation)
        schedule.alarm = context.environment.start { [weak worker] in
            do {
                try await clock.sleep(until: next)
            } catch {
                await worker?.scheduleAlarmStopped(generation)
                return
            }
            await worker?.scheduleAlarmFired(generation)
        }
    }

    func fire(_ generation: Int) {
        guard schedule.generation == generation else { return }
        schedule.disarm()
        while let (_, entry) = schedule.popDue(by: context.now) {
            outbox.append(behind: [entry.sequence])
        }
        dispatchReady()
        rearm()
    }

    /// Cancels what is scheduled, after the alarm's task was cancelled from outside: no other task would wake it.
    func alarmStopped(_ generation: Int) async {
        guard schedule.generation == generation, !context.isStopping else { return }
        schedule.disarm()
        for id in schedule.ids {
            guard let entry = schedule.remove(id) else { continue }
            if entry.isDeferred {
                active.cancel(entry.sequence)
                run(entry.sequence, .resume(entry.sequence, nil))
                continue
            }
            do throws(PushError) {
                try await DeliveryRecorder(services: services).storeCanceled(id, entry.sequence)
            } catch {
                schedule.insert(id, entry)
                context.environment.note(.schedule, "\(id) could not be cancelled: \(error.message)")
            }
        }
    }

    /// Sets the alarm to the earliest time at which a deferred send resumes.
    private func rearmDeferredSends() {
        let next = deferredSends.nextDueTime
        guard next != deferredSends.armed, !context.isStopping else { return }
        deferredSends.alarm?.cancel()
        deferredSends.armed = next
        deferredSends.alarm = nil
        guard let next else { return }
        deferredSends.alarm = context.environment.start { [weak worker, clock = context.environment.steady] in
            guard (try? await clock.sleep(until: next)) != nil else { return }
            await worker?.deferralAlarmFired(next)
        }
    }

    func wakeDeferredSends(_ time: Timestamp) {
        guard deferredSends.armed == time else { return }
        deferredSends.armed = nil
        deferredSends.alarm = nil
        deferredSends.wake(context.environment.steady.now)
        dispatchReady()
        rearmDeferredSends()
    }

    // MARK: - Slots at push services

    /// Acquires a slot. Returns `false` if none is free; otherwise the caller must release it.
    func acquireSlot(_ service: PushService) -> Bool {
        let busy = concurrencyLimiter.busyServiceCount
        guard concurrencyLimiter.acquire(service, limit: limits.concurrentNotifications) else { return false }
        // One more busy service raises the limit of deliveries in progress.
        if concurrencyLimiter.busyServiceCount > busy { dispatchReady() }
        return true
    }

    /// Waits for a slot, first in, first out. Returns `false` if the task was cancelled; otherwise the caller must release the slot.
    func waitForSlot(_ service: PushService) async -> Bool {
        if acquireSlot(service) { return true }
        let (ticket, slotGranted) = concurrencyLimiter.waitForSlot(service)
        for await _ in slotGranted { return true }
        if !concurrencyLimiter.leaveQueue(service, ticket) { releaseSlot(service) }
        return false
    }

    func releaseSlot(_ service: PushService) {
        concurrencyLimiter.release(service)
        startNext(service)
        dispatchReady()
    }

    /// Offers a free slot to waiting deliveries and to deferred sends, alternately. A deferred send also needs a free delivery slot.
    ///
    /// - Returns: whether a slot was free.
    @discardableResult
    private func startNext(_ service: PushService) -> Bool {
        let limit = limits.concurrentNotifications
        guard concurrencyLimiter.hasFreeSlot(for: service, limit: limit) else { return false }
        let now = context.environment.steady.now
        if hasDeliverySlot, concurrencyLimiter.lastSlotWentToWaiter(service), deferredSends.freed(service, now: now) {
            concurrencyLimiter.deferredSendStarted(service)
        } else if !concurrencyLimiter.grantNext(service, limit: limit) {
            deferredSends.freed(service, now: now)
        }
        return true
    }

    /// Offers up to `times` free slots at every push service for which sends wait.
    func startNext(times: Int) {
        for service in Set(deferredSends.servicesWithWaiters).union(concurrencyLimiter.servicesWithWaiters).sorted() {
            var left = times
            while left > 0, deferredSends.hasWaiters(for: service) || concurrencyLimiter.hasWaiters(for: service), startNext(service) {
                left -= 1
            }
        }
    }
}
