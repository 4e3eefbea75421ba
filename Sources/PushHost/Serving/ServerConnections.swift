import Logging
import Metrics
import PushCore
import WebAPI

/// The connections of a server, and what may wait for them: those of its ports, and those of commands, which strangers cannot use up.
struct ServerConnections: Sendable {
    let limits: ConnectionLimits
    let ofPorts: Connections
    let ofCommands: Connections

    /// However many clients there are, there is room for the owner.
    private static let commands = 256

    init(_ settings: ServerSettings, _ clock: any HubClock, _ log: Logger) {
        limits = ConnectionLimits(
            connections: OpenFiles.room(for: settings.connections, log), head: settings.headTimeout, body: settings.bodyTimeout,
            idle: settings.idleTimeout)
        let relief = MemoryRelief(clock: clock)
        ofPorts = Connections(
            limit: limits.connections, buffers: ClientBuffers(limits: settings.buffers, onRelief: { relief.plan() }))
        ofCommands = Connections(limit: Self.commands, buffers: ClientBuffers(limits: settings.buffers, onRelief: { relief.plan() }))
    }

    /// `pushhost_http_connections`, `pushhost_http_waiting_bytes` and `pushhost_http_refused_total`, of the ports.
    func measure(_ metrics: PrometheusRegistry) {
        Meter(label: "pushhost_http_connections").set(ofPorts.count)
        Meter(label: "pushhost_http_waiting_bytes").set(ofPorts.buffers.bytes)
        metrics.replace(
            "pushhost_http_refused_total", isCounter: true, with: [(dimensions: [], value: Double(ofPorts.buffers.refusals))])
    }
}
