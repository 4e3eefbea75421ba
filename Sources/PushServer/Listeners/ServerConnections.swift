package import Logging
import Metrics
package import PushModel
import PushRuntime
import Simulators
package import WebAPI

/// The connections of a server and the memory of their buffers. The ports of a lab share the limit of the server's ports. Commands have a
/// pool of their own, which clients of the ports cannot exhaust.
package struct ServerConnections: Sendable {
    let limits: ConnectionLimits
    package let ofPorts: Connections
    let ofCommands: Connections

    /// Maximum number of connections of the owner's commands.
    private static let commands = 256

    package init(_ settings: ServerSettings, _ clock: any HubClock, _ log: Logger) {
        limits = ConnectionLimits(
            connections: DescriptorLimit.connectionLimit(for: settings.connections, isLab: settings.isLab, log), head: settings.headTimeout,
            body: settings.bodyTimeout,
            idle: settings.idleTimeout)
        let relief = MemoryRelief(clock: clock)
        ofPorts = Connections(
            limit: limits.connections, buffers: ClientBuffers(limits: settings.buffers, onMemoryFreed: { relief.plan() }))
        ofCommands = Connections(
            limit: min(Self.commands, DescriptorLimit.commandConnectionLimit),
            buffers: ClientBuffers(limits: settings.buffers, onMemoryFreed: { relief.plan() }))
    }

    /// Sets `pushhost_http_connections`, `pushhost_http_waiting_bytes`, `pushhost_http_refused_total` and `pushhost_http_evicted_total` for
    /// the ports.
    func measure(_ metrics: PrometheusRegistry) {
        Meter(label: "pushhost_http_connections").set(ofPorts.count)
        Meter(label: "pushhost_http_waiting_bytes").set(ofPorts.buffers.bytes)
        metrics.replace(
            "pushhost_http_refused_total", isCounter: true, with: [(dimensions: [], value: Double(ofPorts.buffers.refusals))])
        metrics.replace(
            "pushhost_http_evicted_total", isCounter: true, with: [(dimensions: [], value: Double(ofPorts.buffers.evictions))])
    }
}

/// Lets ports of simulators share the limit of other ports.
extension Connections: PortConnections {}
