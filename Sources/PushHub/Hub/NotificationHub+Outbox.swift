import PushModel
import Synchronization

// The outbox: when accepted notifications are delivered, and which of them wait.
extension NotificationHub {
    /// Continues with what earlier processes accepted. Call it once, before anything is sent.
    ///
    /// Devices with stored results get nothing again; devices in flight when that process died may get the notification twice. Test sends
    /// are not repeated, because their senders are gone.
    package func resume() async throws(PushError) {
        try await loadHeldRemovals()
        var last: Int64 = 0
        while true {
            let page = try await unfinished(after: &last)
            for kept in page {
                last = kept.sequence
                if kept.request.isTest {
                    await forget(kept)
                } else if kept.outcome.state == .scheduled, let moment = kept.outcome.scheduledFor {
                    schedule.insert(kept.outcome.id, Schedule.Entry(sequence: kept.sequence, moment: moment))
                } else {
                    outbox.append(behind: [kept.sequence])
                }
            }
            if page.isEmpty { break }
        }
        sweep()
        forget(table.leftovers)
        if outbox.count > 0 { environment.note(.delivery, "resuming \(outbox.count) notifications") }
        rearm()
        pump()
    }

    /// The next notifications that have not ended, without rows that cannot be read.
    ///
    /// - Parameter last: advanced past unreadable rows.
    private func unfinished(after last: inout Int64) async throws(PushError) -> [StoredNotification] {
        var limit = 256
        while true {
            do throws(PushError) {
                return try await store.unfinished(after: last, limit: limit)
            } catch {
                guard let sequence = error.details["sequence"]?.int else { throw error }
                // Read one by one to find the unreadable row.
                if limit == 1 { (last, limit) = (Int64(sequence), 256) } else { limit = 1 }
                if limit > 1 { reportUnreadable(error) }
            }
        }
    }

    /// The readable notifications among these numbers that have not ended.
    private func readable(_ sequences: [Int64]) async throws(PushError) -> [StoredNotification] {
        do throws(PushError) {
            return try await store.unfinished(sequences)
        } catch {
            guard !error.isRetryable else { throw error }
        }
        var found: [StoredNotification] = []
        for sequence in sequences {
            do throws(PushError) {
                found += try await store.unfinished([sequence])
            } catch {
                guard !error.isRetryable else { throw error }
                reportUnreadable(error)
            }
        }
        return found
    }

    private func reportUnreadable(_ error: PushError) {
        environment.warn(.delivery, "skipped an unreadable notification: \(error.message)")
        meter.leftOut()
    }

    /// Ends a test send of an earlier process, whose sender is gone. If the end cannot be stored, the next start tries again.
    private func forget(_ test: StoredNotification) async {
        var outcome = test.outcome
        outcome.state = .unknown
        outcome.endedAt = environment.clock.now
        do throws(PushError) {
            try await record(NotificationProgress(sequence: test.sequence, outcome: outcome, devices: []), of: test.origin)
        } catch {
            environment.warn(.delivery, "\(outcome.id): its end could not be stored: \(error.message)")
        }
    }

    /// Stops the hub: starts nothing more, waits for deliveries in progress, and tries once more to store ends that could not be stored.
    /// Undelivered notifications stay in the outbox.
    package func stop() async {
        isStopping = true
        isClosed.store(true, ordering: .releasing)
        schedule.alarm?.cancel()
        completionWaiters.endAll()
        deferredSends.alarm?.cancel()
        expiry.task?.cancel()
        // In a fixed order, so that runs are reproducible.
        for (_, delivery) in deliveries.sorted(by: { $0.key < $1.key }) { delivery.cancel() }
        for (_, sleeper) in backOffTasks.sorted(by: { $0.key < $1.key }) { sleeper.cancel() }
        while let (_, delivery) = deliveries.min(by: { $0.key < $1.key }) { await delivery.value }
        await expiry.task?.value
    }

    /// The number of accepted notifications that wait to start or for a push service.
    package var backlog: Int { outbox.count + deferredSends.count + largeSends.count + paced.count }

    /// Maximum number of deliveries in progress, not counting large and paced sends. It leaves a slot for a notification to an idle push
    /// service even if every busy service is at its limit.
    private var places: Int {
        guard settings.isConcurrent else { return settings.concurrentNotifications }
        return settings.concurrentNotifications * max(pipeline.platforms.count, min(concurrencyLimiter.busy, DeliveryRun.mostOrigins) + 1)
    }

    /// Large and paced sends have their own limits: a failing push service can delay them for half an hour.
    private var hasDeliverySlot: Bool { deliveries.count - largeSends.begun - paced.begun < places }

    /// Starts deliveries while slots are free. Deferred sends go first.
    func pump() {
        guard !isStopping else { return }
        while hasDeliverySlot {
            if let (sequence, patience) = deferredSends.next() {
                runSend(sequence) { hub in await hub.resume(sequence, patience) }
            } else if let sequence = largeSends.next(limit: settings.concurrentDevices)
                ?? paced.next(limit: settings.concurrentNotifications)
            {
                runSend(sequence) { hub in await hub.resume(sequence, nil) }
            } else if let kept = outbox.next() {
                guard begins(kept) else { continue }
                live[kept.outcome.id] = kept.outcome
                runSend(kept.sequence) { hub in await hub.deliverFromOutbox(kept, nil) }
            } else {
                break
            }
        }
        if outbox.isBehind, outbox.isLow, !outbox.isRefilling {
            outbox.isRefilling = true
            _ = environment.start { [weak self] in await self?.refill() }
        }
    }

    /// Whether a notification may start now. Otherwise it is queued, and later ones may overtake it.
    private func begins(_ kept: StoredNotification) -> Bool {
        if stops.contains(kept.sequence) { return true }
        let devices = mostDevices(of: kept.request)
        return kept.request.pace == nil || devices >= largeSends.least
            ? largeSends.begins(kept.sequence, devices: devices, limit: settings.concurrentDevices)
            : paced.begins(kept.sequence, devices: 1, limit: settings.concurrentNotifications)
    }

    private func mostDevices(of request: NotificationRequest) -> Int {
        switch request.audience {
        case .everyone: table.index.count
        case .expression(let expression): table.index.upperBound(expression)
        case .device: 1
        case .devices(let handles): handles.count
        }
    }

    /// Starts a delivery task.
    /// - Parameter work: returns what the notification has to wait for; nil when it is done.
    func runSend(_ sequence: Int64, _ work: @escaping @Sendable (NotificationHub) async -> Delay?) {
        deliveries[sequence] = environment.start { [weak self] in
            guard let self else { return }
            await self.delivered(sequence, await work(self))
        }
    }

    private func delivered(_ sequence: Int64, _ delay: Delay?) {
        deliveries[sequence] = nil
        largeSends.ended(sequence)
        paced.ended(sequence)
        switch delay {
        case nil: stops.remove(sequence)
        case .service(let patience):
            deferredSends.insert(sequence, patience, now: environment.steady.now)
            // It was cancelled before it was deferred.
            if stops.contains(sequence) { deferredSends.hurry(sequence) }
        case .held(let id, let moment): hold(id, sequence, until: moment)
        }
        // Slots at push services may have become free meanwhile.
        startNext(times: 1)
        pump()
        rearmDeferredSends()
    }

    private func deliverFromOutbox(_ kept: StoredNotification, _ patience: RetryState?) async -> Delay? {
        let (delivery, delay) = await deliver(kept, patience, isInTurn: true)
        // The end is stored before the slot is freed, which limits the number of unstored ends.
        if delivery.outcome.state.isFinal { await storeEnd(delivery) }
        if case .held = delay { await storeDeferred(delivery) }
        return delay
    }

    /// Reloads a notification that was deferred or queued, and delivers it to the devices that have no result yet.
    func resume(_ sequence: Int64, _ patience: RetryState?) async -> Delay? {
        var pause = Self.firstPause
        while !isStopping {
            do throws(PushError) {
                guard let kept = try await store.unfinished([sequence]).first else { return nil }
                live[kept.outcome.id] = kept.outcome
                return await deliverFromOutbox(kept, patience)
            } catch {
                guard error.isRetryable else {
                    reportUnreadable(error)
                    return nil
                }
                environment.warn(.delivery, "notification \(sequence) cannot be read: \(error.message)")
                await rest(&pause)
            }
        }
        return nil
    }

    /// Reads the next notifications of the outbox from the store.
    private func refill() async {
        let wanted = Array(outbox.nextBehind)
        var found: [StoredNotification]?
        var pause = Self.firstPause
        while found == nil, !isStopping {
            do throws(PushError) {
                found = try await readable(wanted)
            } catch {
                environment.warn(.delivery, "the outbox cannot be read: \(error.message)")
                await rest(&pause)
            }
        }
        guard let found else { return }
        outbox.refill(found, insteadOf: wanted.count)
        outbox.isRefilling = false
        pump()
    }

    // MARK: - Slots at push services

    /// Acquires a slot. Returns `false` if none is free; otherwise the caller must release it.
    func acquireSlot(_ service: PushService) -> Bool {
        let busy = concurrencyLimiter.busy
        guard concurrencyLimiter.take(service, limit: settings.concurrentNotifications) else { return false }
        // One more busy service raises the limit of deliveries in progress.
        if concurrencyLimiter.busy > busy { pump() }
        return true
    }

    /// Waits for a slot, first in, first out. Returns `false` if the task was cancelled; otherwise the caller must release the slot.
    func waitForSlot(_ service: PushService) async -> Bool {
        if acquireSlot(service) { return true }
        let (number, turn) = concurrencyLimiter.wait(for: service)
        for await _ in turn { return true }
        if !concurrencyLimiter.leave(service, number) { releaseSlot(service) }
        return false
    }

    func releaseSlot(_ service: PushService) {
        concurrencyLimiter.giveBack(service)
        startNext(service)
        pump()
    }

    /// Offers a free slot to waiting deliveries and to deferred sends, alternately. A deferred send also needs a free delivery slot.
    private func startNext(_ service: PushService) {
        let limit = settings.concurrentNotifications
        guard concurrencyLimiter.has(service, limit: limit) else { return }
        let now = environment.steady.now
        if hasDeliverySlot, concurrencyLimiter.lastSlotWentToWaiter(service), deferredSends.freed(service, now: now) {
            concurrencyLimiter.deferredSendStarted(service)
        } else if !concurrencyLimiter.grant(service, limit: limit) {
            deferredSends.freed(service, now: now)
        }
    }

    /// Offers up to `times` free slots at every push service for which sends wait.
    func startNext(times: Int) {
        for service in Set(deferredSends.awaited).union(concurrencyLimiter.awaited).sorted() {
            for _ in 0..<times where deferredSends.isAwaited(service) || concurrencyLimiter.isAwaited(service) { startNext(service) }
        }
    }

    /// Sets the alarm to the earliest time at which a deferred send resumes.
    private func rearmDeferredSends() {
        let next = deferredSends.nextDueTime
        guard next != deferredSends.armed, !isStopping else { return }
        deferredSends.alarm?.cancel()
        deferredSends.armed = next
        deferredSends.alarm = nil
        guard let next else { return }
        deferredSends.alarm = environment.start { [weak self, clock = environment.steady] in
            guard (try? await clock.sleep(until: next)) != nil else { return }
            await self?.wakeDeferredSends(next)
        }
    }

    private func wakeDeferredSends(_ moment: Timestamp) {
        guard deferredSends.armed == moment else { return }
        deferredSends.armed = nil
        deferredSends.alarm = nil
        deferredSends.wake(environment.steady.now)
        pump()
        rearmDeferredSends()
    }
}
