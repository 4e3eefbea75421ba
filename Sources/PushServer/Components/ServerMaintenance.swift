import Logging
import PushBackend
import PushHub
import PushModel
import PushRuntime
import Storage
import WebAPI

/// Deletes what a server has stored for long enough, and processes what has become due.
package struct ServerMaintenance: Sendable {
    let components: ServerComponents
    let context: ServerContext

    /// Deletes expired data in small steps. `ServeSession` calls it every minute while `pushhost serve` runs.
    package func run() async {
        let (storage, clock, log) = (components.storage.engine, context.clock, context.log)
        do throws(PushError) {
            try await components.backend.services.accounts.sweep()
            try await components.backend.services.securePayloads.sweep()
            try await components.flows.dispatcher.forget(endedBefore: clock.now - context.settings.current.keepRuns)
            while !Task.isCancelled, try await storage.keyValues.removeExpired(now: clock.now, limit: 1000) == 1000 {}
        } catch {
            log.warning("cannot delete expired sessions and secure payloads: \(error.message)")
        }
        await components.storage.audit.flush()
        await components.approvals.maintain()
        let (now, settings) = (clock.now, context.settings.current)
        // Hubs of a lab run on the lab's thread.
        await context.onHubs {
            for hub in components.namespace.hubs where !Task.isCancelled {
                do throws(PushError) {
                    try await hub.service.removeOld(
                        notificationsBefore: now - settings.keepNotifications, tombstonesBefore: now - settings.tombstoneRetention)
                } catch {
                    log.warning("cannot delete expired notifications: \(error.message)")
                }
            }
        }
    }
}

extension Timestamp {
    fileprivate static func - (time: Timestamp, duration: Duration) -> Timestamp { time + (.zero - duration) }
}
