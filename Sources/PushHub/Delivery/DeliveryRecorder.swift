import PushModel

/// Stores the progress and the end of deliveries, and retries if the store fails.
///
/// Not thread-safe: it is part of the actor that owns the services.
struct DeliveryRecorder {
    let services: DeliveryServices

    private var context: HubContext { services.context }

    /// Stores new results. Returns whether that worked.
    func storeProgress(_ delivery: inout DeliveryTally) async -> Bool {
        do throws(PushError) {
            try await context.events.record(delivery.progress(in: services.directory), of: delivery.origin)
            delivery.markStored()
            services.active.resultsStored(of: delivery.sequence)
            return true
        } catch {
            context.environment.warn(.delivery, "\(delivery.outcome.id): progress is not stored yet: \(error.message)")
            return false
        }
    }

    /// Stores a step before any further device gets the notification. So a crash repeats at most one step, and memory holds at most one
    /// unstored step.
    func checkpoint(_ delivery: inout DeliveryTally) async {
        var pause = HubContext.firstPause
        while !context.isStopping, !(await storeProgress(&delivery)) { await context.backOff(&pause) }
    }

    /// Stores the results of a notification with deferred devices, and drops it from memory except for its due time. If the hub stops
    /// first, the next process asks hooks about these devices again.
    func storeDeferred(_ delivery: DeliveryTally) async {
        var delivery = delivery
        await checkpoint(&delivery)
        if context.isStopping, !delivery.isStored { _ = await storeProgress(&delivery) }
        services.active[delivery.outcome.id] = nil
    }

    /// Stores the end of a notification, retrying until the hub stops. Without a stored end, the next process would deliver it again.
    func storeEnd(_ delivery: DeliveryTally) async {
        var (delivery, pause) = (delivery, HubContext.firstPause)
        var isStored = false
        while !isStored {
            let isLast = context.isStopping
            isStored = await storeProgress(&delivery)
            if isStored || isLast { break }
            await context.backOff(&pause)
        }
        services.active.endedInBackground(delivery.outcome, of: delivery.origin, isStored: isStored)
    }

    /// Stores the end of a notification whose sender waits, once. Returns whether that worked.
    func storeEndNow(_ delivery: inout DeliveryTally) async -> Bool {
        guard await storeProgress(&delivery) else { return false }
        if context.settings.dispatch.isConcurrent {
            services.active.endedInBackground(delivery.outcome, of: delivery.origin)
        } else if let end = services.active.ended(delivery.outcome, of: delivery.origin) {
            // In a rehearsal, events must happen in a fixed order.
            await context.environment.hooks.onOutcome(end)
        }
        return true
    }

    /// Stores that a scheduled notification was cancelled. No device has got it.
    func storeCanceled(_ id: String, _ sequence: Int64) async throws(PushError) {
        guard let stored = try await context.store.notification(sequence) else { return }
        var outcome = stored.outcome
        outcome.state = .canceled
        outcome.times.endedAt = context.now
        try await context.events.record(NotificationProgress(sequence: sequence, outcome: outcome, devices: []), of: stored.origin)
        context.environment.note(.schedule, "\(id) cancelled")
        services.active.endedInBackground(outcome, of: stored.origin)
    }
}
