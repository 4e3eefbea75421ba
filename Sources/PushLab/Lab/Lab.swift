package import Bindings
package import PushModel
import PushRuntime
package import Simulators

/// A server's simulated push services, with their phones and their clock. Like `pushhost simulate --adopt`, but inside the server's
/// process.
package final class Lab: Sendable {
    private let service: LabService
    /// The key that authorizes requests to `/lab/`.
    package let key: Secret
    package let clock: LabClock
    /// The executor of the hubs.
    package let thread = LabThread()
    package let simulators: SimulatorServer
    let faults = WireFaults()
    package let trace = LabTrace()
    package let owners: PhoneOwners
    package let ledger: LabLedger

    package var address: String { "http://127.0.0.1:\(service.port)" }

    /// The TLS listener for third-party clients; nil if there is none.
    package var listener: TLSListener? { service.listener }

    /// The lab's key and state, for commands on the server's own machine.
    package var description: [(String, JSON)] {
        let phones = simulators.phones
        return [
            ("labKey", .string(key.reveal())),
            (
                "lab",
                [
                    "adoptedPhones": .integer(Int64(phones.adoptedHandles)), "isFull": .bool(phones.adoptedHandles >= phones.adoptionLimit),
                    "storedBytes": .integer(Int64(phones.storedBytes)), "isOutOfMemory": .bool(phones.isOutOfMemory),
                ]
            ),
        ]
    }

    /// Observes what the lab's phones do.
    package var deviceObserver: any DeviceObserver { SimulatedDeviceObserver(phones: simulators.phones) }

    /// Starts a lab and returns once it accepts requests.
    ///
    /// - Parameters:
    ///   - port: 0 picks a free one.
    ///   - tlsPort: port for the services' own protocols; 0 picks a free one, nil disables it.
    ///   - folder: where keys are stored, so that browsers stay subscribed across restarts.
    ///   - key: random if nil.
    ///   - phones: maximum number of handles that may become phones; nil for no limit except memory.
    ///   - tokenRules: rules for APNs provider tokens.
    ///   - connections: the connections of all ports of the server; nil for no limit.
    /// Throws `lab.port`, and `simulate.data` for the folder.
    package static func starting(
        port: Int, tlsPort: Int? = nil, folder: String, key: Secret? = nil, phones: Int? = HandleAdoption.defaultLimit,
        tokenRules: APNsTokenRules = APNsTokenRules(), connections: (any PortConnections)? = nil
    ) async throws(PushError) -> Lab {
        let random = SystemRandom()
        let randomness = SimulatorRandom(bytes: random.bytes)
        let files = SimulatorFolder(path: folder)
        let credentials = try files.credentials { () throws(PushError) in
            try SimulatorCredentials.generated(randomness)
        }
        let ledger = try LabLedger(path: LabLedger.path(in: folder))
        let clock = LabClock(system: SystemClock(), lead: ledger.lead)
        let owners = PhoneOwners()
        let server = SimulatorServer(
            port: port, credentials: credentials, clock: SimulatorClock(now: { clock.now.milliseconds }), random: randomness,
            adoption: HandleAdoption(limit: phones ?? .max),
            observer: SimulatorObserver(phones: PhoneObserver(event: owners.note, wake: owners.note)))
        server.change(tokenRules)
        return Lab(
            service: try await LabService.starting(server, tlsPort: tlsPort, in: files, connections),
            key: key ?? SharedAccessKey.make(random),
            clock: clock, simulators: server, owners: owners, ledger: ledger)
    }

    private init(
        service: LabService, key: Secret, clock: LabClock, simulators: SimulatorServer, owners: PhoneOwners, ledger: LabLedger
    ) {
        (self.service, self.key, self.clock, self.simulators) = (service, key, clock, simulators)
        (self.owners, self.ledger) = (owners, ledger)
    }

    /// Stops the lab's clock from advancing during calls of plugins: see ``LabThread``.
    package var callTracker: PluginCallTracker {
        PluginCallTracker(
            began: { [thread] in thread.beginOutsideWait() }, ended: { [thread] in thread.endOutsideWait() },
            clock: PluginCallClock(base: clock, thread: thread))
    }

    package func stop() async { await service.stop() }
}

extension Lab {
    /// Throws `lab.credentials` if a hub has credentials, because simulated phones would then receive what is meant for real devices.
    package static func check(_ store: any NamespaceStore) async throws(PushError) {
        for hub in try await store.load().hubs {
            guard let kind = hub.description.credentialKind else { continue }
            throw PushError(
                "lab.credentials", "hub \"\(hub.name)\" has credentials (\(kind.rawValue)) of a real push service; the lab did not start",
                hint: "remove --lab, or use another data folder with --data")
        }
    }

    /// Throws `lab.credentials` (409) if the description has credentials; a server with a lab does not accept them.
    package static func admit(_ description: HubDescription) throws(PushError) {
        guard let kind = description.credentialKind else { return }
        throw PushError(
            "lab.credentials", "a server with a lab does not accept credentials (\(kind.rawValue)) of real push services",
            hint: "remove them, since hubs of a lab send only to simulated services; or start the server without --lab", status: 409)
    }
}

extension HubDescription {
    /// The kind of the first credentials that are set.
    fileprivate var credentialKind: PlatformCredential.Kind? {
        credentials.filter { !$0.value.properties.isEmpty }.keys.min { $0.rawValue < $1.rawValue }
    }
}
