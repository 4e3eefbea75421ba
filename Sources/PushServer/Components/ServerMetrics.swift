import Metrics
import PushHub
import PushModel

/// Brings the metrics of a server up to date for a scrape.
struct ServerMetrics: Sendable {
    let components: ServerComponents
    let monitors: ServerMonitors
    let connections: ServerConnections
    let context: ServerContext

    /// All metrics in Prometheus format.
    func text() async -> String {
        connections.measure(context.metrics)
        components.storage.health.measure()
        await measureHubs()
        monitors.credentials.measure()
        await monitors.hubs.measureIssues()
        await monitors.webhook.measure()
        await monitors.hubs.measureHeldRemovals()
        components.plugins.measure()
        await components.flows.measure()
        await components.approvals.measure()
        return context.metrics.text
    }

    private func measureHubs() async {
        for hub in components.namespace.hubs {
            let (registrations, installations, backlog) = await context.onHubs {
                let size = await hub.service.size()
                return (size.registrations, size.installations, await hub.service.backlog)
            }
            for (label, value) in [
                ("pushhost_registrations", registrations), ("pushhost_installations", installations),
                ("pushhost_notifications_waiting", backlog),
            ] {
                Meter(label: label, dimensions: [("hub", hub.record.name)]).set(value)
            }
        }
    }
}
