import ArgumentParser
import Bindings
import Delivery
import Lua
import PushCore
import Simulators

/// What `--wire` names.
enum WireKind: String, CaseIterable, ExpressibleByArgument, Sendable {
    case process, network

    /// Of each of the four services a listener and both ends of a connection, and one more while a connection takes the place of another.
    private static let filesOfWorld = 16

    /// For all worlds of a command, of which so many are there at a time. Throws `tls.unusable` where no certificate can be made,
    /// `simulators.unusable` where there is no room for the sockets.
    func opened(worlds: Int = 1) throws(PushError) -> RehearsalWire {
        switch self {
        case .process: return .process
        case .network:
            try OpenFiles.require(
                OpenFiles.ofSharedLoops + worlds * Self.filesOfWorld, for: "--wire network", hint: "leave out --wire network")
            // They begin while there is room: a loop that cannot ends the process.
            ServiceListener.beginLoops()
            guard let identity = ServerIdentity(now: SimulatorClock { SystemClock().now.milliseconds }) else {
                throw PushError("tls.unusable", "the simulated services could not make a certificate", hint: "leave out --wire network")
            }
            return .network(identity)
        }
    }
}

/// How the hub of a rehearsal reaches the simulated push services.
enum RehearsalWire: Sendable {
    /// A function is called in place of a network.
    case process
    /// Over sockets of this machine, with TLS; the hub trusts this certificate and no other.
    case network(ServerIdentity)

    /// A transport to the services of a world, and what it keeps open.
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
