import ArgumentParser
import Delivery
import Lua
import PushCore
import Simulators

/// What `--wire` names.
enum WireKind: String, CaseIterable, ExpressibleByArgument, Sendable {
    case process, network

    /// For all worlds of a command. Throws `tls.unusable` where no certificate can be made.
    func opened() throws(PushError) -> RehearsalWire {
        switch self {
        case .process: return .process
        case .network:
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

    /// A transport to the services of a world, and what closes it.
    func transport(
        to services: SimulatedServices, thread: LuaThread
    ) -> (transport: any PushTransport, end: (@Sendable () async -> Void)?) {
        switch self {
        case .process: return (InProcessTransport(services: services), nil)
        case .network(let identity):
            let network = NetworkTransport(services: services, identity: identity, thread: thread)
            return (network, { await network.end() })
        }
    }
}
