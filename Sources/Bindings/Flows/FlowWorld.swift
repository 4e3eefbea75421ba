import PushCore

/// What a flow runs against: ports, and what the target can do. The same script sees the same module on every target.
package struct FlowWorld: Sendable {
    package var target: Target
    package var hub: any HubGateway
    package var backend: any BackendGateway
    /// Nil where phones are not simulated.
    package var lab: (any DeviceLab)?
    package var wire: (any WireTap)?
    package var clock: any HubClock
    package var secrets: any SecretSource
    package var zones: any TimeZoneSource
    /// Nil where plugins are not for scripts to load.
    package var plugins: PluginHost?
    /// Nil where the push services are real.
    package var faults: (any ServiceFaults)?
    /// What the world keeps open outside of this process's memory; nil where that is nothing.
    package var connections: (any WorldConnections)?
    /// What the world stores in this process; nil where that is elsewhere, or on disk.
    package var memory: WorldMemory?
    /// The hub works for runs on threads of its own in this process.
    package var worksElsewhere = false

    package struct Target: Sendable, Equatable {
        package var name: String
        /// Phones, wires and the clock are simulated: `push.rehearse` steps run.
        package var isSimulated: Bool
        /// The hub goes on when a run is over: what it scheduled goes out later.
        package var outlivesRuns: Bool
        /// The flow is planned: nothing is sent.
        package var isPlanned = false

        /// The same for a flow that is planned there: phones get nothing that could be looked at.
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

    package init(
        target: Target, hub: any HubGateway, backend: any BackendGateway, lab: (any DeviceLab)?, wire: (any WireTap)?,
        clock: any HubClock, secrets: any SecretSource, zones: any TimeZoneSource, plugins: PluginHost? = nil,
        faults: (any ServiceFaults)? = nil,
        connections: (any WorldConnections)? = nil
    ) {
        self.target = target
        self.hub = hub
        self.backend = backend
        self.lab = lab
        self.wire = wire
        self.clock = clock
        self.secrets = secrets
        self.zones = zones
        self.plugins = plugins
        self.faults = faults
        self.connections = connections
    }

    /// Closes what is open; to be awaited when nothing runs in the world any more.
    package func end() async { await connections?.end() }
}

/// What a world has open on this machine so that a run in it is as it would be elsewhere. A machine that cannot give it ends the run.
package protocol WorldConnections: Sendable {
    /// Called when the machine fails the world, from any thread; nil for nobody.
    func onFailure(_ action: (@Sendable () -> Void)?)

    /// Why the machine failed the world; forgotten afterwards.
    func takeFailure() -> PushError?

    /// Somebody wants the end: what is under way gets little time from now on, and what comes after it if it is `forGood`.
    func hurry(forGood: Bool)

    /// Closes everything.
    func end() async
}

/// Where `push.secret` looks.
package protocol SecretSource: Sendable {
    /// Nil when there is none of that name. A flow that another one runs may have secrets of its own.
    func secret(named name: String, for script: FlowScript) throws(PushError) -> Secret?
    /// Names that exist, for "did you mean".
    var names: [String] { get }
    /// Where it looked, for the message when there is none.
    func places(for name: String) -> String
}
