import Bindings
import HubWire
import Lua
import PushLab
import PushModel
import PushRuntime
import RemoteHub

/// An opened target on another machine: the world that a flow runs in, and the lab session to close at the end.
struct RemoteWorld {
    let world: FlowWorld
    private let connection: RemoteConnection
    private let session: LabSessionClient?

    /// The properties of the run that the target needs.
    struct Run: Sendable {
        /// The run id, for example `r-0193`.
        let id: String
        let thread: LuaThread
        /// The `push` module of the flow.
        let module: any FlowModule
        /// Whether sends to production are confirmed with `--yes`.
        let isConfirmed: Bool
        /// Opens the secrets, with or without the demo secrets beside the script.
        let secrets: @Sendable (_ withDemo: Bool) throws(PushError) -> any SecretSource
        /// Asks to confirm a send to production, or reports it if it is confirmed; throws if it is refused.
        let confirm: @Sendable (_ question: String) async throws(PushError) -> Void
        /// Receives every request and its result.
        let trace: (@Sendable (FlowEvent) -> Void)?
        /// Path of the settings file, which names the data folder of a server on this machine.
        let config: String?
    }

    /// Connects to the target and determines its kind.
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
                    "target.answer", "the server at \(url) is not a PushHost", hint: "for a hub of Azure use its connection string")
            }
            let local = LocalServer(url: url, config: run.config)
            if server.hasLab, let key = await Self.labKey(settings, local) {
                // Read the secrets first, because they may be invalid and nothing is open yet.
                let secrets = try run.secrets(true)
                let session = try await Self.session(settings, url, key, client, run)
                do throws(PushError) {
                    world = try Self.world(settings, session, client, secrets, run)
                } catch {
                    _ = await Self.closeSession(session)
                    throw error
                }
                self.session = session
                return
            }
            guard let key = try await local.connection(hub: settings.hub) else { throw Self.missingKey(settings, hasLab: server.hasLab) }
            session = nil
            world = try Self.world(settings, key, isPushHost: true, usesJSONInterface: true, client, run)
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

    /// Whether a lab session is open.
    var hasLabSession: Bool { session != nil }

    /// Closes the lab session and the connections, within a limited time. Returns the error if closing the session failed.
    func close() async -> PushError? {
        let failure = await Self.closeSession(session)
        _ = try? await RealDeadline.keeping(.seconds(1), or: "the connections were not closed") { [connection] in
            await connection.shutdown()
        }
        return failure
    }

    /// Timeout for closing a lab session.
    private static let timeout: Duration = .seconds(15)

    private static func closeSession(_ session: LabSessionClient?) async -> PushError? {
        // In a separate task, because the run's task may be cancelled.
        await Task { () -> PushError? in
            do throws(PushError) {
                try await RealDeadline.keeping(timeout, or: "the lab did not close the session") { () async throws(PushError) in
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
        _ settings: TargetSettings, _ key: ConnectionString, isPushHost: Bool, usesJSONInterface: Bool = false, _ client: RemoteClient,
        _ run: Run
    ) throws(PushError) -> FlowWorld {
        let clock = SystemClock()
        let address = try HubAddress(key, hub: settings.hub)
        let hub = RemoteNotificationHub(
            address: address, client: client, clock: clock,
            options: .init(isPushHost: isPushHost, usesJSONInterface: usesJSONInterface, outcomeWait: settings.outcomeWait))
        let base = settings.backend ?? (isPushHost ? "\(address.base)/\(address.hub)" : nil)
        let backend: any BackendGateway =
            base.map { RemoteBackend(base: $0, client: client, hub: hub) } ?? UnavailableBackend(target: settings.name)
        let check = production(hub, settings.name, run)
        return FlowWorld(
            target: FlowWorld.Target(name: settings.name, isSimulated: false, outlivesRuns: true), module: run.module,
            hub: settings.isProduction ? GuardedHub(hub, check: check) : hub,
            backend: settings.isProduction ? GuardedBackend(backend, check: check) : backend,
            simulation: FlowWorld.Simulation(lab: RealDevices(target: settings.name, handles: settings.devices)), clock: clock,
            secrets: try run.secrets(false),
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
                "\(target) is marked as production: this sends to \(request.audience.phrase), "
                    + "\(devices ?? "an unknown number of devices")\(registered == nil ? "" : " and the device that is being registered")")
        }
    }

    private static func missingKey(_ settings: TargetSettings, hasLab: Bool) -> PushError {
        PushError(
            "target.key", "\(settings.name) needs a key",
            hint: hasLab
                ? "set PUSHHOST_LAB_KEY to the lab key, or pass --config with the settings file of the server"
                : "pass its connection string with --target, or add it to the settings")
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
                "target.key", "\(settings.name): wrong key of the lab",
                hint: "set PUSHHOST_LAB_KEY, or lab_key in the settings; pushhost serve --reveal shows the key at its start",
                status: error.status)
        }
    }

    /// A world whose phones, wires, faults and clock are the lab's.
    private static func world(
        _ settings: TargetSettings, _ session: LabSessionClient, _ client: RemoteClient, _ secrets: any SecretSource, _ run: Run
    ) throws(PushError) -> FlowWorld {
        var client = client
        client.traffic = session.clock.traffic
        let address = try HubAddress(try ConnectionString(parsing: session.connectionString.reveal()), hub: session.hub)
        let hub = RemoteNotificationHub(
            address: address, client: client, clock: session.clock,
            options: .init(
                isPushHost: true, usesJSONInterface: true, outcomeWait: nil,
                settle: { [clock = session.clock] () async throws(PushError) in try await clock.waitUntilQuiet() }))
        let backend = RemoteBackend(base: settings.backend ?? "\(address.base)/\(address.hub)", client: client, hub: hub) {
            name, password throws(PushError) in
            try await session.ensureAccount(name, password: password) ? .created : .exists
        }
        let production = Self.production(hub, settings.name, run)
        let check: GuardedHub.Guard = { [clock = session.clock] request, registered throws(PushError) in
            // The lab's clock stands still while the question is open.
            try await clock.during { () async throws(PushError) in try await production(request, registered) }
        }
        return FlowWorld(
            target: FlowWorld.Target(name: settings.name, isSimulated: true, outlivesRuns: true), module: run.module,
            hub: settings.isProduction ? GuardedHub(hub, check: check) : hub,
            backend: settings.isProduction ? GuardedBackend(backend, check: check) : backend,
            simulation: FlowWorld.Simulation(lab: session.lab, wire: session.wire, faults: session.faults), clock: session.clock,
            secrets: secrets, zones: SystemTimeZones.shared)
    }

    /// Converts trace entries of a lab to events of the run.
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
            // Requests for the trace itself are not part of the run.
            guard !(place.contains("/lab/sessions/") && place.hasSuffix("/trace")) else { return }
            trace(.core(CoreEvent(time: clock.now, area: .hub, text: "\(place) \(what)")))
        }
    }
}

extension Audience {
    /// The audience as shown in a question.
    fileprivate var phrase: String {
        switch self {
        case .everyone: "everyone"
        case .expression(let expression): "\"\(expression)\""
        case .device: "one device"
        case .devices(let handles): "\(handles.count) devices"
        }
    }
}
