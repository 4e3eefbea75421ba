import PushModel

/// Deletes what is past its retention.
///
/// Not thread-safe: it is part of the actor that owns the services.
struct DataRetention {
    let services: DeliveryServices

    /// Number of records that are deleted at a time.
    private static let step = 500

    /// Deletes ended notifications and jobs, tombstones, pruned devices and plans. Works in small steps, so that other calls do not wait.
    func removeOld(notificationsBefore ended: Timestamp, tombstonesBefore left: Timestamp) async throws(PushError) {
        let (context, store, step) = (services.context, services.context.store, Self.step)
        while continues, try await store.removeEnded(before: ended, limit: step) == step { await Task.yield() }
        while continues, try await store.removeTombstones(before: left, limit: step) == step { await Task.yield() }
        while continues, try await store.removeJobs(endedBefore: ended, limit: step) == step { await Task.yield() }
        let pruned = context.now + (.zero - context.settings.retention.pruned)
        while continues,
            try await store.forgetPruned(before: pruned, limit: step, keepsUnreported: context.settings.feedback.notifiesPruned) == step
        {
            await Task.yield()
        }
        try await services.plans.removeOld(context.settings.retention)
        services.directory.table.removeTombstones(before: left)
    }

    private var continues: Bool { !services.context.isStopping && !Task.isCancelled }
}
