// What is not kept for ever.
extension NotificationHub {
    /// Forgets notifications that ended before one moment and ids that left before another, a little at a time, so that nobody
    /// waits for it.
    package func removeOld(notificationsBefore ended: Timestamp, departuresBefore left: Timestamp) async throws(PushError) {
        let step = 500
        while !isStopping, !Task.isCancelled, try await store.removeEnded(before: ended, limit: step) == step { await Task.yield() }
        while !isStopping, !Task.isCancelled, try await store.forgetDepartures(before: left, limit: step) == step { await Task.yield() }
        while !isStopping, !Task.isCancelled, try await store.removeJobs(endedBefore: ended, limit: step) == step { await Task.yield() }
        let pruned = environment.clock.now + (.zero - settings.keepPruned)
        while !isStopping, !Task.isCancelled,
            try await store.forgetPruned(before: pruned, limit: step, keepsUntold: settings.isPruningTold) == step
        {
            await Task.yield()
        }
        try await forgetPlans()
        table.forgetDepartures(before: left)
    }
}
