package import PushModel

/// The environment of a flow: ports, and features of the target. Scripts see the same module on every target.
package struct FlowWorld: Sendable {
    package var target: Target
    /// The `push` module.
    package var module: any FlowModule
    package var hub: any HubGateway
    package var backend: any BackendGateway
    /// What only a simulated target has.
    package var simulation: Simulation
    package var clock: any HubClock
    package var secrets: any SecretSource
    package var zones: any TimeZoneSource
    /// Nil if scripts may not load plugins.
    package var plugins: (any PluginTestHost)?
    /// Connections and other resources outside this process's memory; nil if there are none.
    package var connections: (any WorldConnections)?
    /// Memory that the world uses in this process; nil if it stores data elsewhere.
    package var memory: WorldMemory?
    /// Whether the hub and its store work on threads of their own in this process, so that their work is charged as ``ChargedWork``.
    package var usesOwnThreads = false

    package struct Target: Sendable, Equatable {
        package var name: String
        /// Whether devices, requests and the clock are simulated. If so, `push.rehearse` steps run.
        package var isSimulated: Bool
        /// Whether the hub continues after the run, so that scheduled notifications go out later.
        package var outlivesRuns: Bool
        /// Whether the flow is only planned. Nothing is sent then.
        package var isPlanned = false

        /// The target for planning a flow. Devices receive nothing to inspect, so it counts as not simulated.
        package var planned: Target {
            var target = Target(name: name, isSimulated: false, outlivesRuns: true)
            target.isPlanned = true
            return target
        }

        package init(name: String, isSimulated: Bool, outlivesRuns: Bool = false) {
            self.name = name
            self.isSimulated = isSimulated
            self.outlivesRuns = outlivesRuns
        }
    }

    /// Devices, recorded requests and failures of a simulated target. Each is nil if the target lacks it.
    package struct Simulation: Sendable {
        package var lab: (any DeviceLab)?
        package var wire: (any WireTap)?
        package var faults: (any ServiceFaults)?

        package init(lab: (any DeviceLab)? = nil, wire: (any WireTap)? = nil, faults: (any ServiceFaults)? = nil) {
            self.lab = lab
            self.wire = wire
            self.faults = faults
        }
    }

    package init(
        target: Target, module: any FlowModule, hub: any HubGateway, backend: any BackendGateway, simulation: Simulation = Simulation(),
        clock: any HubClock, secrets: any SecretSource, zones: any TimeZoneSource
    ) {
        self.target = target
        self.module = module
        self.hub = hub
        self.backend = backend
        self.simulation = simulation
        self.clock = clock
        self.secrets = secrets
        self.zones = zones
    }

    /// Nil if devices are not simulated.
    package var lab: (any DeviceLab)? { simulation.lab }
    /// Nil if requests to push services are not recorded.
    package var wire: (any WireTap)? { simulation.wire }
    /// Nil if the push services are real.
    package var faults: (any ServiceFaults)? { simulation.faults }

    /// Closes all connections. Await it after everything in the world has ended.
    package func end() async { await connections?.end() }
}
