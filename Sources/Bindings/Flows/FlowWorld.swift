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
    /// Nil where the push services are real.
    package var faults: (any ServiceFaults)?
    /// Closes what the world keeps open outside of this process's memory; to be awaited when nothing runs in it any more. Nil where
    /// there is nothing to close.
    package var end: (@Sendable () async -> Void)?

    package struct Target: Sendable, Equatable {
        package var name: String
        /// Phones, wires and the clock are simulated: `push.rehearse` steps run.
        package var isSimulated: Bool
        /// The hub goes on when a run is over: what it scheduled goes out later.
        package var outlivesRuns: Bool

        package init(name: String, isSimulated: Bool, outlivesRuns: Bool = false) {
            self.name = name
            self.isSimulated = isSimulated
            self.outlivesRuns = outlivesRuns
        }
    }

    package init(
        target: Target, hub: any HubGateway, backend: any BackendGateway, lab: (any DeviceLab)?, wire: (any WireTap)?,
        clock: any HubClock, secrets: any SecretSource, faults: (any ServiceFaults)? = nil, end: (@Sendable () async -> Void)? = nil
    ) {
        self.target = target
        self.hub = hub
        self.backend = backend
        self.lab = lab
        self.wire = wire
        self.clock = clock
        self.secrets = secrets
        self.faults = faults
        self.end = end
    }
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
