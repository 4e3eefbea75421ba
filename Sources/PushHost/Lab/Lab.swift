import Glibc
import Hummingbird
import Logging
import NIOCore
import PushCore
import ServiceLifecycle
import Simulators

/// The simulated push services with their phones inside a server, and its time: what `pushhost simulate --adopt` is in a process
/// of its own.
final class Lab: Sendable {
    /// On 127.0.0.1.
    let port: Int
    /// What third-party clients connect to, with TLS; nil without.
    let listener: TLSListener?
    /// Opens what is under `/lab/`.
    let key: Secret
    let clock: LabClock
    /// Where hubs do their work.
    let thread = LabThread()
    let simulators: SimulatorServer
    let faults = WireFaults()
    let trace = LabTrace()
    let owners: PhoneOwners
    let ledger: LabLedger
    private let group: ServiceGroup
    private let running: Task<Void, Never>

    var address: String { "http://127.0.0.1:\(port)" }

    /// For the commands of whoever owns the server.
    var description: [(String, JSON)] {
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

    /// Of what its phones do.
    var witness: any PhoneWitness { SimulatedWitness(phones: simulators.phones) }

    /// Answers when it takes requests.
    ///
    /// - Parameters:
    ///   - port: 0 takes a free one.
    ///   - tlsPort: of the services' own protocols; 0 takes a free one, nil is none.
    ///   - folder: where its keys are kept, so that browsers stay subscribed from one start to the next.
    ///   - key: drawn for nil.
    ///   - phones: how many handles may become phones; nil for no limit but the memory.
    ///   - tokenRules: what its APNs asks of provider tokens.
    /// Throws `lab.port`, and `simulate.data` for the folder.
    static func starting(
        port: Int, tlsPort: Int? = nil, folder: String, key: Secret? = nil, phones: Int? = PhoneLab.standardAdoptionLimit,
        tokenRules: APNsTokenRules = APNsTokenRules()
    ) async throws(PushError) -> Lab {
        let random = SystemRandom()
        let randomness = SimulatorRandom(bytes: random.bytes)
        let files = SimulatorFolder(path: folder)
        let credentials = try files.credentials { () throws(PushError) in
            try SimulateSession.newKeys(randomness)
        }
        let ledger = try LabLedger(path: LabLedger.path(in: folder))
        let clock = LabClock(system: SystemClock(), lead: ledger.lead)
        let owners = PhoneOwners()
        let server = SimulatorServer(
            port: port, credentials: credentials, clock: SimulatorClock(now: { clock.now.milliseconds }), random: randomness,
            adoptsHandles: true, adoptionLimit: phones ?? .max, watcher: PhoneWatcher(event: owners.note, wake: owners.note))
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
        throw PushError("lab.port", "the lab ended before it began", hint: "start the server again")
    }

    /// The certificate has the times of the machine, as its clients have; all else those of the lab.
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

    func stop() async {
        await group.triggerGracefulShutdown()
        await running.value
        await listener?.end(grace: .seconds(1))
    }

    private static func refusal(_ error: any Error, setting: String = "lab.port") -> PushError {
        let why = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        return PushError("lab.port", "the lab cannot listen: \(why)", hint: "choose another \(setting); 0 takes a free one")
    }
}

extension Lab {
    /// Throws `lab.credentials` where a hub has credentials: simulated phones would get what is meant for real devices.
    static func check(_ store: any NamespaceStore) async throws(PushError) {
        for hub in try await store.load().hubs {
            guard let kind = hub.description.credentialKind else { continue }
            throw PushError(
                "lab.credentials", "the hub \(hub.name) has credentials (\(kind.rawValue)) of a real push service",
                hint: "leave out --lab, or name another data folder with --data")
        }
    }

    /// Throws `lab.credentials` (409) for credentials of a hub while the lab is on.
    static func admit(_ description: HubDescription) throws(PushError) {
        guard let kind = description.credentialKind else { return }
        throw PushError(
            "lab.credentials", "the server has a lab, and takes no credentials (\(kind.rawValue)) of real push services",
            hint: "leave them out: hubs of a lab send to its simulated services; start the server without --lab to use them", status: 409)
    }
}

extension HubDescription {
    /// Of the first credentials that it has.
    fileprivate var credentialKind: PlatformCredential.Kind? {
        credentials.filter { !$0.value.properties.isEmpty }.keys.min { $0.rawValue < $1.rawValue }
    }
}
