import Bindings
import HubWire
import Lua
import PushCore
import RemoteHub

/// A target on another machine, reached: what a flow runs against there, and what has to be given back afterwards.
struct RemoteWorld {
    let world: FlowWorld
    private let connection: RemoteConnection
    private let session: LabSessionClient?

    /// What a run gives to its target.
    struct Run: Sendable {
        /// Such as `r-0193`.
        let id: String
        let thread: LuaThread
        /// Whether sends to production are wanted, without a question.
        let isConfirmed: Bool
        /// Where secrets are, with those of the demo beside the script or without.
        let secrets: @Sendable (_ withDemo: Bool) throws(PushError) -> any SecretSource
        /// Whom sends to production have to ask, or to tell; throws where they shall not be.
        let confirm: @Sendable (_ question: String) async throws(PushError) -> Void
        /// Is told of every request and how it was answered.
        let trace: (@Sendable (FlowEvent) -> Void)?
        /// Of the settings, which tell the data folder of a server on this machine.
        let config: String?
    }

    /// Reaches the target and finds out what it is.
    ///
    /// Throws `target.*`, `connection.*`, `lab.*`.
    static func opening(_ settings: TargetSettings, for run: Run) async throws(PushError) -> RemoteWorld {
        let connection = try RemoteConnection(authority: settings.authority, timeout: settings.timeout)
        do throws(PushError) {
            return try await RemoteWorld(settings, connection, run)
        } catch {
            await connection.shutdown()
            throw error
        }
    }

    private init(_ settings: TargetSettings, _ connection: RemoteConnection, _ run: Run) async throws(PushError) {
        let client = RemoteClient(
            connection: connection, clock: SystemClock(), random: SystemRandom(), observer: Self.observer(run.trace))
        self.connection = connection
        if let url = settings.url, settings.connection == nil {
            guard let server = try await ServerDescription.of(url, client) else {
                throw PushError(
                    "target.answer", "what answers at \(url) is no PushHost", hint: "for a hub of Azure give its connection string")
            }
            let local = LocalServer(url: url, config: run.config)
            if server.hasLab, let key = await Self.labKey(settings, local) {
                // Before anything is open: they may be wrong.
                let secrets = try run.secrets(true)
                let session = try await Self.session(settings, url, key, client, run)
                do throws(PushError) {
                    world = try Self.world(settings, session, client, secrets, run)
                } catch {
                    _ = await Self.giveBack(session)
                    throw error
                }
                self.session = session
                return
            }
            guard let key = try await local.connection(hub: settings.hub) else { throw Self.missingKey(settings, hasLab: server.hasLab) }
            session = nil
            world = try Self.world(settings, key, isPushHost: true, sendsAtOnce: true, client, run)
            return
        }
        session = nil
        let text = settings.connection?.reveal() ?? ""
        let key = try ConnectionString(parsing: text)
        let address = try HubAddress(key, hub: settings.hub)
        let server = address.isAzure ? nil : try await ServerDescription.of(address.base, client)
        world = try Self.world(settings, key, isPushHost: server != nil, client, run)
    }

    private static func labKey(_ settings: TargetSettings, _ local: LocalServer) async -> Secret? {
        if let key = settings.labKey { return key }
        return await local.labKey()
    }

    /// Whether the target lent something.
    var isLent: Bool { session != nil }

    /// Gives back what the target lent; answers why it could not. Takes a few seconds at most.
    func close() async -> PushError? {
        let failure = await Self.giveBack(session)
        _ = try? await RealDeadline.keeping(.seconds(1), or: "the connections were not closed") { [connection] in
            await connection.shutdown()
        }
        return failure
    }

    /// How long a lab has to take its session back.
    private static let patience: Duration = .seconds(15)

    private static func giveBack(_ session: LabSessionClient?) async -> PushError? {
        // By a task of its own: the run's may be cancelled.
        await Task { () -> PushError? in
            do throws(PushError) {
                try await RealDeadline.keeping(patience, or: "the lab did not say that it has") { () async throws(PushError) in
                    try await session?.close()
                }
                return nil
            } catch {
                return error
            }
        }.value
    }

    // MARK: - Real devices

    private static func world(
        _ settings: TargetSettings, _ key: ConnectionString, isPushHost: Bool, sendsAtOnce: Bool = false, _ client: RemoteClient, _ run: Run
    ) throws(PushError) -> FlowWorld {
        let clock = SystemClock()
        let address = try HubAddress(key, hub: settings.hub)
        let hub = RemoteNotificationHub(
            address: address, client: client, clock: clock,
            options: .init(isPushHost: isPushHost, sendsAtOnce: sendsAtOnce, patience: settings.patience))
        let base = settings.backend ?? (isPushHost ? "\(address.base)/\(address.hub)" : nil)
        let backend: any BackendGateway =
            base.map { RemoteBackend(base: $0, client: client, hub: hub) } ?? NoBackend(target: settings.name)
        let check = production(hub, settings.name, run)
        return FlowWorld(
            target: FlowWorld.Target(name: settings.name, isSimulated: false, outlivesRuns: true),
            hub: settings.isProduction ? GuardedHub(hub, check: check) : hub,
            backend: settings.isProduction ? GuardedBackend(backend, check: check) : backend,
            lab: RealDevices(target: settings.name, handles: settings.devices), wire: nil, clock: clock, secrets: try run.secrets(false),
            zones: SystemTimeZones.shared)
    }

    private static func production(_ hub: RemoteNotificationHub, _ target: String, _ run: Run) -> GuardedHub.Guard {
        { request, registered throws(PushError) in
            let size: RemoteNotificationHub.AudienceSize?
            do throws(PushError) {
                size = try await hub.audience(of: request)
            } catch  where run.isConfirmed && error.code != "cancelled" {
                size = nil
            }
            let devices = size.map { "\($0.isAtLeast ? "at least " : "")\($0.devices) device\($0.devices == 1 ? "" : "s")" }
            try await run.confirm(
                "\(target) is marked production: this goes to \(request.audience.phrase), "
                    + "\(devices ?? "nobody can say how many devices")\(registered == nil ? "" : " and the one that is being registered").")
        }
    }

    private static func missingKey(_ settings: TargetSettings, hasLab: Bool) -> PushError {
        PushError(
            "target.key", "\(settings.name) is opened by a key, and none is given",
            hint: hasLab
                ? "give the key of its lab as PUSHHOST_LAB_KEY, or name its data folder in the settings"
                : "give its connection string with --target, or name it in the settings")
    }

    // MARK: - A lab

    private static func session(
        _ settings: TargetSettings, _ url: String, _ key: Secret, _ client: RemoteClient, _ run: Run
    ) async throws(PushError) -> LabSessionClient {
        let thread = run.thread
        do throws(PushError) {
            return try await LabSessionClient.open(
                LabClient(base: url, key: key, client: client), hub: settings.hub, run: run.id, system: SystemClock(),
                trace: Self.follower(run.trace),
                start: { work in Task(executorPreference: thread) { await work() } })
        } catch  where error.code == "hub.not_found" {
            var error = error
            error.code = "target.hub"
            throw error
        } catch  where error.code == "lab.key" {
            throw PushError(
                "target.key", "\(settings.name): this is not the key of the lab",
                hint: "give it as PUSHHOST_LAB_KEY, or as lab_key in the settings; the first screen of pushhost serve --reveal shows it",
                status: error.status)
        }
    }

    /// Phones, wires, faults and time are the lab's.
    private static func world(
        _ settings: TargetSettings, _ session: LabSessionClient, _ client: RemoteClient, _ secrets: any SecretSource, _ run: Run
    ) throws(PushError) -> FlowWorld {
        var client = client
        client.traffic = session.clock.traffic
        let address = try HubAddress(try ConnectionString(parsing: session.connectionString.reveal()), hub: session.hub)
        let hub = RemoteNotificationHub(
            address: address, client: client, clock: session.clock,
            options: .init(
                isPushHost: true, sendsAtOnce: true, patience: nil,
                settle: { [clock = session.clock] () async throws(PushError) in try await clock.waitUntilQuiet() }))
        let backend = RemoteBackend(base: settings.backend ?? "\(address.base)/\(address.hub)", client: client, hub: hub) {
            name, password throws(PushError) in
            try await session.ensureAccount(name, password: password) ? .created : .exists
        }
        let production = Self.production(hub, settings.name, run)
        let check: GuardedHub.Guard = { [clock = session.clock] request, registered throws(PushError) in
            // No time goes by while somebody is asked.
            try await clock.during { () async throws(PushError) in try await production(request, registered) }
        }
        return FlowWorld(
            target: FlowWorld.Target(name: settings.name, isSimulated: true, outlivesRuns: true),
            hub: settings.isProduction ? GuardedHub(hub, check: check) : hub,
            backend: settings.isProduction ? GuardedBackend(backend, check: check) : backend, lab: session.lab,
            wire: session.wire, clock: session.clock, secrets: secrets, zones: SystemTimeZones.shared, faults: session.faults)
    }

    /// Is told what the hubs of a lab do.
    private static func follower(_ trace: (@Sendable (FlowEvent) -> Void)?) -> (@Sendable (LabTraceEntry) -> Void)? {
        guard let trace else { return nil }
        return { entry in
            switch entry {
            case .core(let event): trace(.core(event))
            case .crossed(let exchange): trace(.crossed(exchange))
            }
        }
    }

    private static func observer(_ trace: (@Sendable (FlowEvent) -> Void)?) -> (@Sendable (_ place: String, _ what: String) -> Void)? {
        guard let trace else { return nil }
        let clock = SystemClock()
        return { place, what in
            // What was asked for to show the trace is not of the run.
            guard !(place.contains("/lab/sessions/") && place.hasSuffix("/trace")) else { return }
            trace(.core(CoreEvent(time: clock.now, area: .hub, text: "\(place) \(what)")))
        }
    }
}

extension Audience {
    /// In a question.
    fileprivate var phrase: String {
        switch self {
        case .everyone: "everyone"
        case .expression(let expression): "\"\(expression)\""
        case .device: "one device"
        case .devices(let handles): "\(handles.count) devices"
        }
    }
}
