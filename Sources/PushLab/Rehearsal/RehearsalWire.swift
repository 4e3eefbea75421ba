import Bindings
import Delivery
import Lua
package import PushModel
import PushRuntime
package import Simulators

/// The values of `--wire`.
package enum WireKind: String, CaseIterable, Sendable {
    case process, network

    /// File descriptors per world: for each of the four services a listener, both ends of a connection, and one more while a connection is
    /// replaced.
    private static let filesOfWorld = 16

    /// Prepares the wire for up to `worlds` concurrent worlds. Throws `tls.unusable` if no certificate can be created,
    /// `simulators.unusable` if the process may not open enough files.
    package func opened(worlds: Int = 1) throws(PushError) -> RehearsalWire {
        switch self {
        case .process: return .process
        case .network:
            try DescriptorLimit.require(
                DescriptorLimit.sharedLoopFiles + worlds * Self.filesOfWorld, for: "--wire network", hint: "leave out --wire network")
            // Start the event loops while descriptors are available: NIO ends the process if a loop cannot start.
            ServiceListener.beginLoops()
            guard let identity = ServerIdentity(now: SimulatorClock { SystemClock().now.milliseconds }) else {
                throw PushError("tls.unusable", "cannot create a certificate for the simulated services", hint: "leave out --wire network")
            }
            return .network(identity)
        }
    }
}

/// The way by which the hub of a rehearsal reaches the simulated push services.
package enum RehearsalWire: Sendable {
    /// By function call.
    case process
    /// Over local sockets with TLS. The hub trusts only this certificate.
    case network(ServerIdentity)

    /// Creates the transport to a world's services, and the connections to close at its end.
    func transport(
        to services: SimulatedServices, thread: LuaThread
    ) -> (transport: any PushTransport, connections: (any WorldConnections)?) {
        switch self {
        case .process: return (InProcessTransport(services: services), nil)
        case .network(let identity):
            let network = NetworkTransport(services: services, identity: identity, thread: thread)
            return (network, network)
        }
    }
}
