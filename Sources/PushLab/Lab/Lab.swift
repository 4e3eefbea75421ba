import Glibc
import Hummingbird
import Logging
import NIOCore
import PushModel
import PushRuntime
import ServiceLifecycle
import Simulators

/// A server's simulated push services, with their phones and their clock. Like `pushhost simulate --adopt`, but inside the server's
/// process.
package final class Lab: Sendable {
    /// The port on 127.0.0.1.
    let port: Int
    /// The TLS listener for third-party clients; nil if there is none.
    package let listener: TLSListener?
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
    private let group: ServiceGroup
    private let running: Task<Void, Never>

    package var address: String { "http://127.0.0.1:\(port)" }

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
    package var witness: any DeviceObserver { SimulatedDeviceObserver(phones: simulators.phones) }

    /// Starts a lab and returns once it accepts requests.
    ///
    /// - Parameters:
    ///   - port: 0 picks a free one.
    ///   - tlsPort: port for the services' own protocols; 0 picks a free one, nil disables it.
    ///   - folder: where keys are stored, so that browsers stay subscribed across restarts.
    ///   - key: random if nil.
    ///   - phones: maximum number of handles that may become phones; nil for no limit except memory.
    ///   - tokenRules: rules for APNs provider tokens.
    /// Throws `lab.port`, and `simulate.data` for the folder.
    package static func starting(
        port: Int, tlsPort: Int? = nil, folder: String, key: Secret? = nil, phones: Int? = PhoneLab.defaultAdoptionLimit,
        tokenRules: APNsTokenRules = APNsTokenRules()
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
            adoptsHandles: true, adoptionLimit: phones ?? .max, watcher: PhoneObserver(event: owners.note, wake: owners.note))
        server.change(tokenRules)
        let listener = try await listener(of: server, port: tlsPort, in: files)
        let (ports, port) = AsyncStream.makeStream(of: Result<Int, PushError>.self)
        let application = server.application { port.yield(.success($0)) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: application)], logger: Logger(label: "lab") { _ in SwiftLogNoOpLogHandler() }))
        let running = Task {
            do {
                try await group.run()
            } catch {
                port.yield(.failure(refusal(error)))
            }
            port.finish()
        }
        for await result in ports {
            if case .failure = result { await listener?.end(grace: .zero) }
            return Lab(
                port: try result.get(), listener: listener, key: key ?? SharedAccessKey.make(random), clock: clock, simulators: server,
                owners: owners, ledger: ledger, group: group, running: running)
        }
        await listener?.end(grace: .zero)
        throw PushError("lab.port", "the lab stopped before it had started", hint: "start the server again")
    }

    /// Listens with TLS. The certificate uses the system's time, because clients do; everything else uses the lab's time.
    private static func listener(
        of server: SimulatorServer, port: Int?, in files: SimulatorFolder
    ) async throws(PushError) -> TLSListener? {
        guard let port else { return nil }
        let clock = SystemClock()
        let identity = try SimulatorFolder.identity(in: files, now: SimulatorClock(now: { clock.now.milliseconds }))
        do {
            return try await server.listen(port: port, threads: 1, identity: identity, serving: ServiceSelection())
        } catch {
            throw refusal(error, setting: "lab.tls_port")
        }
    }

    private init(
        port: Int, listener: TLSListener?, key: Secret, clock: LabClock, simulators: SimulatorServer, owners: PhoneOwners,
        ledger: LabLedger,
        group: ServiceGroup, running: Task<Void, Never>
    ) {
        (self.port, self.listener, self.key, self.clock, self.simulators) = (port, listener, key, clock, simulators)
        (self.owners, self.ledger, self.group, self.running) = (owners, ledger, group, running)
    }

    package func stop() async {
        await group.triggerGracefulShutdown()
        await running.value
        await listener?.end(grace: .seconds(1))
    }

    private static func refusal(_ error: any Error, setting: String = "lab.port") -> PushError {
        let why = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        return PushError("lab.port", "the lab cannot listen: \(why)", hint: "choose another \(setting); 0 picks a free one")
    }
}

extension Lab {
    /// Throws `lab.credentials` if a hub has credentials, because simulated phones would then receive what is meant for real devices.
    package static func check(_ store: any NamespaceStore) async throws(PushError) {
        for hub in try await store.load().hubs {
            guard let kind = hub.description.credentialKind else { continue }
            throw PushError(
                "lab.credentials", "the hub \(hub.name) has credentials (\(kind.rawValue)) of a real push service; the lab did not start",
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
