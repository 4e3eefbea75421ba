import Delivery
import Logging
import PushLab
import PushModel
import PushRuntime
import Storage

/// The connections of a server to push services, to simulators, to the token issuer and to the hosts of jobs.
struct OutgoingConnections: Sendable {
    /// The connectors of the hubs over these connections.
    let connectors: HubConnectors
    let issuer: HTTPClientTransport
    let jobs: JobLocations
    /// Records what the hubs send to a lab; nil without a lab.
    let wires: RecordedLabTransport?
    private let simulators: HTTPClientTransport?

    /// Logs the credentials of the settings that cannot be used.
    init(_ inputs: StartupInputs, _ storage: ServerStorage, _ context: ServerContext) {
        let (settings, lab, clock, random) = (context.settings.current, context.lab, context.hubClock, context.random)
        let services = ServiceTransports(
            settings.delivery, inputs.trust, network: inputs.network, clock: context.clock, random: random)
        let transport = inputs.simulators.map { HTTPClientTransport(route: $0) }
        issuer = HTTPClientTransport(limits: .init(answerBody: IssuerKeySource.largestDocument))
        jobs = JobLocations(
            folders: settings.jobFolders, hosts: settings.jobHosts, isPublicOnly: !settings.allowsPrivate, spool: settings.data,
            random: random)
        let wires = lab.flatMap { lab in transport.map { RecordedLabTransport(lab: lab, base: $0) } }
        let store = storage.engine.providerTokens
        let tokens = ProviderTokenCache(store: lab?.forLab(store) ?? store, clock: clock)
        let simulated = inputs.simulators.flatMap { address in
            transport.map {
                SimulatedConnectors(authority: address.authority, transport: wires ?? $0, clock: clock, random: random, tokens: tokens)
            }
        }
        let senders = APNsSenders(pushes: inputs.apns, connect: inputs.channels, clock: clock, random: random, tokens: tokens)
        let watched = settings.credentialSources.map { WatchedCredential($0) }
        connectors = HubConnectors(
            transports: services, delivery: settings.delivery, clock: clock, random: random,
            simulation: HubConnectors.Simulation(connectors: simulated, isLab: settings.isLab), senders: senders, watched: watched,
            log: context.log)
        (self.wires, simulators) = (wires, transport)
        for credential in watched {
            guard let fault = credential.fault else { continue }
            context.log.error("cannot send to \(credential.serviceName): \(fault.message); \(fault.hint ?? "")")
        }
    }

    func close() async {
        await jobs.shutdown()
        await issuer.shutdown()
        await simulators?.shutdown()
        await connectors.transports.shutdown()
        await connectors.senders.shutdown()
    }
}
