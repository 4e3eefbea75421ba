import PushModel

// Retention: deletion of old data.
extension NotificationHub {
    /// Deletes ended notifications and jobs, departures, pruned devices and plans that are past their retention. Works in small steps, so
    /// that other calls do not wait.
    package func removeOld(notificationsBefore ended: Timestamp, departuresBefore left: Timestamp) async throws(PushError) {
        let step = 500
        while !isStopping, !Task.isCancelled, try await store.removeEnded(before: ended, limit: step) == step { await Task.yield() }
        while !isStopping, !Task.isCancelled, try await store.forgetDepartures(before: left, limit: step) == step { await Task.yield() }
        while !isStopping, !Task.isCancelled, try await store.removeJobs(endedBefore: ended, limit: step) == step { await Task.yield() }
        let pruned = environment.clock.now + (.zero - settings.prunedRetention)
        while !isStopping, !Task.isCancelled,
            try await store.forgetPruned(before: pruned, limit: step, keepsUnreported: settings.notifiesPruned) == step
        {
            await Task.yield()
        }
        try await forgetPlans()
        table.forgetDepartures(before: left)
    }
}
