import Bindings
import Crypto
import Delivery
import Glibc
import Hummingbird
import Logging
import Metrics
import NIOCore
import PushBackend
import PushHub
import PushLab
import PushModel
import PushRuntime
import RemoteHub
import ServiceLifecycle
import Storage
import Synchronization
import WebAPI

/// A running hub server with its storage, interfaces and connectors. Opened once, run once, stopped once.
package final class RunningServer: Sendable {
    package let namespace: Namespace
    let storage: any StorageEngine
    /// The users of the app backend.
    let accounts: AccountService
    private let backend: BackendServices
    private let folder: DataFolder
    private let clock: SystemClock
    private let random: SystemRandom
    let log: Logger
    let metrics: PrometheusRegistry
    /// The audit log.
    let audit: AuditLog
    let sendGuard: SendGuard
    let connectors: HubConnectors
    package let plugins: ServerPlugins
    package let flows: FlowDispatcher
    private let jobPlaces: JobLocations
    private let socket: ControlSocket
    private let current: Mutex<ServerSettings>
    private let transports: [HTTPClientTransport]
    private let lab: LabInterface?
    private let throttles: Throttles
    private let connections: ServerConnections
    package let database: DatabaseHealth
    private let isStopping = Mutex(false)
    private let listening = Mutex(ListeningPorts())
    /// The current failure of the webhook; nil while it works.
    let webhookTrouble = Mutex<WebhookIssue?>(nil)

    /// Maximum number of devices in delivery. Each needs about 1.3 kB for its payload and result.
    private static let concurrentDevices = 200_000

    /// Opens the storage and resumes accepted notifications. On failure everything is closed again.
    package static func opening(
        _ settings: ServerSettings, folder: DataFolder, lab: Lab? = nil, log: Logger, metrics: PrometheusRegistry
    ) async throws(PushError) -> RunningServer {
        let (clock, random) = (SystemClock(), SystemRandom())
        if let keys = settings.backend.keys { try await IssuerKeySource(keys)?.checkFile() }
        let database = try await FolderDatabase.preparing(folder)
        let keyFile = PayloadKeyFile(settings)
        let payloadKey = try keyFile.key()
        let route = try settings.simulatorRoute
        let apnsTransport = try settings.delivery.transport(random: random)
        let network = settings.allowsPrivate ? nil : PublicNetwork()
        let channelTransport = try settings.delivery.channelTransport(network)
        let trust = try ServiceTransports.Trust(settings.delivery)
        let socket = try ControlSocket(folder: settings.data)
        let storage = try await database.open(keyFile, seal: PayloadKeyFile.seal(of: payloadKey)) { log.warning("\($0)") }
        if let residue = storage.residue { log.warning("\(PayloadKeyFile.residue); \(residue.message); \(PayloadKeyFile.erasing)") }
        let services = ServiceTransports(settings.delivery, trust, network: network, clock: clock, random: random)
        let routed = route.map { HTTPClientTransport(route: $0) }
        let issuerTransport = HTTPClientTransport(limits: .init(answerBody: IssuerKeySource.largestDocument))
        let jobPlaces = JobLocations(
            folders: settings.jobFolders, hosts: settings.jobHosts, isPublicOnly: !settings.allowsPrivate, spool: settings.data,
            random: random)
        let wires = lab.flatMap { lab in routed.map { RecordedLabTransport(lab: lab, base: $0) } }
        let hubClock: any HubClock = lab?.clock ?? clock
        let tokens = ProviderTokenCache(store: lab?.forLab(storage.providerTokens) ?? storage.providerTokens, clock: hubClock)
        let simulators = route.flatMap { route in
            routed.map {
                SimulatedConnectors(authority: route.authority, transport: wires ?? $0, clock: hubClock, random: random, tokens: tokens)
            }
        }
        let senders = APNsSenders(
            pushes: apnsTransport, connect: channelTransport, clock: hubClock, random: random, tokens: tokens)
        let watched = settings.credentialSources.map { WatchedCredential($0) }
        let connectors = HubConnectors(
            transports: services, delivery: settings.delivery, clock: hubClock, random: random, simulators: simulators,
            isLab: settings.isLab, senders: senders, watched: watched, log: log)
        for credential in watched {
            guard let fault = credential.fault else { continue }
            log.error("cannot send to \(credential.serviceName): \(fault.message); \(fault.hint ?? "")")
        }
        let audit = AuditLog(storage.auditTrail, clock: hubClock, log)
        let sendGuard = SendGuard(
            store: storage.approvals, audit: audit, clock: hubClock, random: random, limits: settings.sendGuard.limits)
        let (hooks, events) = (LateBoundHooks(), HubEvents())
        var opening: ServerPlugins?
        let environment = HubEnvironment(
            clock: hubClock, random: random, start: { work in lab?.thread.start(work) ?? Task { await work() } },
            observer: { event in
                lab?.trace.note(event)
                log.log(level: event.isWarning ? .warning : .debug, "\(event.text)", metadata: ["area": "\(event.area.rawValue)"])
            }, isWatched: { lab != nil || log.logLevel <= .debug }, hooks: hooks, events: events, witness: lab?.witness)
        do throws(PushError) {
            let plugins = try ServerPlugins(
                settings, data: folder, storage: storage, audit: audit, sendGuard, clock: hubClock, lab: lab, log: log)
            hooks.connect(plugins.host)
            opening = plugins
            // Load plugins before hubs resume accepted notifications, which may call hooks.
            try await plugins.supervisor.begin()
            let backend = try settings.backendServices(environment, storage, payloadKey, issuerTransport).guarded(by: sendGuard)
            let flows = try ServerFlows.dispatcher(
                settings, storage, plugins.hubs, backend, events: events, clock: hubClock, random: random, lab: lab, log: log)
            if settings.isLab { try await Lab.check(storage.namespace) }
            let namespace = try await Namespace(
                environment: environment, store: lab?.forLab(storage.namespace) ?? storage.namespace,
                settings: HubSettings(
                    naming: .unique, refusesLargePayloads: false, concurrentNotifications: settings.concurrentNotifications,
                    concurrentDevices: Self.concurrentDevices, isConcurrent: true, comparableTags: 2_000,
                    retryWindow: settings.delivery.retryWindow, retryJitter: settings.isLab ? 0 : 0.25,
                    prunedRetention: settings.delivery.prunedRetention, notifiesPruned: settings.feedback.webhook != nil,
                    maxRemovedShare: settings.feedback.maxRemovedShare, planRetention: settings.delivery.planRetention),
                jobTools: JobService.Tools(files: jobPlaces, codec: RegistrationLines()),
                admits: { description, before throws(PushError) in
                    if settings.isLab { try Lab.admit(description) }
                    try description.checkCredentials(before: before, now: hubClock.now)
                },
                connectors: connectors.connectors(of:))
            let sessions = lab.flatMap { lab in wires.map { LabSessions(lab: lab, namespace: namespace, wires: $0, log: log) } }
            let server = RunningServer(
                settings: settings, namespace: namespace, storage: storage, backend: backend, folder: folder, socket: socket,
                clock: clock, random: random, log: log, metrics: metrics, audit: audit, sendGuard, connectors: connectors,
                jobPlaces: jobPlaces,
                transports: [issuerTransport] + (routed.map { [$0] } ?? []),
                plugins: plugins, flows: flows,
                lab: sessions.map {
                    LabInterface(sessions: $0) { name, password throws(PushError) in
                        try await backend.accounts.ensureAccount(username: name, password: password) == .created
                    }
                })
            do throws(PushError) {
                if let sessions {
                    await sessions.removeLeftovers()
                } else {
                    await AbandonedSessions.remove(recordedIn: folder.file("lab"), namespace, log)
                }
                if namespace.hubs.isEmpty { _ = try await namespace.create(settings.hub, HubDescription()) }
                plugins.open(namespace)
                await server.maintainApprovals()
                try await flows.begin(settings.flows)
            } catch {
                await flows.stop()
                await plugins.stop()
                await namespace.stop()
                throw error
            }
            return server
        } catch {
            await opening?.stop()
            await jobPlaces.shutdown()
            await services.shutdown()
            await senders.shutdown()
            await routed?.shutdown()
            await issuerTransport.shutdown()
            try? await storage.close()
            throw error
        }
    }

    private init(
        settings: ServerSettings, namespace: Namespace, storage: any StorageEngine, backend: BackendServices, folder: DataFolder,
        socket: ControlSocket, clock: SystemClock, random: SystemRandom, log: Logger, metrics: PrometheusRegistry,
        audit: AuditLog, _ sendGuard: SendGuard, connectors: HubConnectors, jobPlaces: JobLocations, transports: [HTTPClientTransport],
        plugins: ServerPlugins, flows: FlowDispatcher, lab: LabInterface?
    ) {
        current = Mutex(settings)
        (self.namespace, self.storage, self.folder) = (namespace, storage, folder)
        (self.backend, accounts) = (backend, backend.accounts)
        (self.clock, self.random, self.log, self.metrics, self.connectors) = (clock, random, log, metrics, connectors)
        (self.jobPlaces, self.transports, self.socket, self.lab) = (jobPlaces, transports, socket, lab)
        (self.plugins, self.flows, self.audit, self.sendGuard) = (plugins, flows, audit, sendGuard)
        throttles = Throttles(requestsPerMinute: settings.requestsPerMinute, testSendsPerMinute: settings.testSendsPerMinute)
        connections = ServerConnections(settings, clock, log)
        database = DatabaseHealth(storage, at: folder.database, clock: clock, log: log)
    }

    /// Creates the service on one port. `onRunning` is called with the actual port when it accepts requests.
    package func application(
        port: Int, tls: TLSIdentity?, onRunning: @escaping @Sendable (Int) async -> Void
    ) throws(PushError) -> any Service {
        let settings = settings
        let web = WebSettings(isSecure: tls != nil, publicURL: settings.publicURL, policy: settings.clients)
        return try WebServer(
            address: .hostname(settings.host, port: port), responder: responder(web, throttles), tls: tls,
            limits: connections.limits, connections: connections.ofPorts, log: log
        ) { [self] port in
            listening.withLock { tls == nil ? ($0.http = port) : ($0.tls = port) }
            await onRunning(port)
        }.service
    }

    /// Creates the service on the control socket in the data folder, which requires no key.
    package func controlApplication(onRunning: @escaping @Sendable () -> Void) throws(PushError) -> any Service {
        let responder = responder(WebSettings(isTrusted: true, policy: settings.clients), Throttles())
        return try WebServer(
            address: .unixDomainSocket(path: socket.address), responder: responder, tls: nil,
            limits: connections.limits, connections: connections.ofCommands, log: log
        ) { [socket] _ in
            socket.restrictToOwner()
            onRunning()
        }.service
    }

    private func responder(_ web: WebSettings, _ throttles: Throttles) -> HubResponder {
        HubResponder(
            namespace: namespace, clock: clock, random: random, log: log, settings: web, throttles: throttles,
            system: SystemRoutes(
                isReady: { [self] in await reasonNotReady() }, metrics: { [self] in await metricsText() },
                about: ServerDescription(version: Release.version, hasLab: settings.isLab).json),
            backend: backend, credentials: connectors.services, audit: audit, sendGuard: sendGuard,
            control: ControlRoutes(
                backup: { [self] name throws(PushError) in try await backup(to: folder.file(name)) },
                restore: { [self] name, renews throws(PushError) in try await restore(folder.file(name), renewing: renews).json },
                channels: { [self] order throws(PushError) in try await channels(order) }, server: { [self] in await description },
                plugins: { [self] in await plugins.supervisor.json }),
            lab: lab?.routes, plugins: PluginRouteServices(routing: plugins.host, spaces: storage.keyValues), flows: flows,
            executor: lab?.lab.thread)
    }

    /// The state of the server for the owner's commands.
    private var description: JSON {
        get async {
            let ports = listening.withLock { $0 }
            func number(_ port: Int?) -> JSON { port.map { .integer(Int64($0)) } ?? .null }
            var members = JSONObject([("clientURL", settings.clientURL(ports).map(JSON.string) ?? .null)])
            members.append("httpPort", number(ports.http))
            members.append("tlsPort", number(ports.tls))
            members.append("troubles", .array(await troubles.map(\.json)))
            members.append("heldRemovals", .array(await heldRemovals.map(\.json)))
            members.append("credentials", .array(connectors.credentialStates(of: namespace.hubs.map(\.record)).map(\.json)))
            members.append("webhook", await webhook?.json ?? .null)
            for (name, value) in lab?.lab.description ?? [] { members.append(name, value) }
            return .object(members)
        }
    }

    /// Logs what the app backend cannot do with the current settings and keys.
    package func checkBackend() async {
        if let name = settings.backend.hub, namespace.hub(name) == nil {
            let absence = BackendSettings.absence(of: name, among: namespace.hubs.map(\.record.name))
            log.warning("\(absence.finding); \(absence.hint)")
        }
        do throws(PushError) {
            let count = try await backend.securePayloads.sealedWithOtherKey()
            if count > 0 { log.warning("\(PayloadKeyFile(settings).warning(count)); \(PayloadKeyFile.remedy)") }
        } catch {
            log.warning("cannot check whether secure payloads can be opened: \(error.message)")
        }
        do throws(PushError) {
            let count = try await accounts.countWeakHashes()
            if count > 0 { log.warning("\(WeakPasswordHashes.finding(count)); \(WeakPasswordHashes.remedy)") }
        } catch {
            log.warning("cannot check for accounts of a lab: \(error.message)")
        }
    }

    /// The current settings.
    package var settings: ServerSettings { current.withLock { $0 } }

    /// Applies the settings that can change while the server runs.
    func change(_ settings: ServerSettings) async {
        current.withLock { $0 = settings }
        throttles.change(requestsPerMinute: settings.requestsPerMinute, testSendsPerMinute: settings.testSendsPerMinute)
        sendGuard.change(settings.sendGuard.limits)
        jobPlaces.change(folders: settings.jobFolders, hosts: settings.jobHosts)
        await backend.securePayloads.change(retention: settings.keepSecurePayloads)
        await namespace.change(concurrentNotifications: settings.concurrentNotifications)
        await namespace.change(maxRemovedShare: settings.feedback.maxRemovedShare)
        await flows.change(limit: settings.concurrentFlows)
        do throws(PushError) {
            if await flows.served != settings.flows.sorted(by: { $0.name < $1.name }) { try await flows.configure(settings.flows) }
        } catch {
            log.error("the previous flows stay in effect: \(error.message)")
        }
        await checkFlows()
    }

    /// The sessions of the lab; nil without a lab.
    var labSessions: LabSessions? { lab?.sessions }

    /// Ends lab sessions without activity, until cancelled.
    package func endIdleLabSessions() async { await lab?.sessions.keepUp() }

    /// Deletes expired data in small steps. Called periodically.
    package func removeOld() async {
        do throws(PushError) {
            try await accounts.sweep()
            try await backend.securePayloads.sweep()
            try await flows.forget(endedBefore: clock.now - settings.keepRuns)
            while !Task.isCancelled, try await storage.keyValues.removeExpired(now: clock.now, limit: 1000) == 1000 {}
        } catch {
            log.warning("cannot delete expired sessions and secure payloads: \(error.message)")
        }
        await audit.flush()
        await maintainApprovals()
        let (now, settings) = (clock.now, settings)
        // Hubs of a lab run on the lab's thread.
        await withTaskExecutorPreference(lab?.lab.thread) {
            for hub in namespace.hubs where !Task.isCancelled {
                do throws(PushError) {
                    try await hub.service.removeOld(
                        notificationsBefore: now - settings.keepNotifications, departuresBefore: now - settings.keepDepartures)
                } catch {
                    log.warning("cannot delete expired notifications: \(error.message)")
                }
            }
        }
    }

    /// Stops the server: accepts no more work, finishes work in progress, and closes the files.
    package func stop() async {
        isStopping.withLock { $0 = true }
        await flows.stop()
        await plugins.stop()
        await lab?.sessions.endAll()
        await namespace.stop()
        await jobPlaces.shutdown()
        for transport in transports { await transport.shutdown() }
        await connectors.transports.shutdown()
        await connectors.senders.shutdown()
        await audit.flush(all: true)
        do throws(PushError) {
            try await storage.close()
        } catch {
            log.error("\(error.message)")
        }
        folder.release()
    }

    /// Runs `work` on the executor of the hubs: the lab's thread, if there is a lab.
    func onHubs<Answer: Sendable, Failure: Error>(_ work: @Sendable () async throws(Failure) -> Answer) async throws(Failure) -> Answer {
        try await withTaskExecutorPreference(lab?.lab.thread) { () async throws(Failure) in try await work() }
    }

    private func metricsText() async -> String {
        connections.measure(metrics)
        database.measure()
        for hub in namespace.hubs {
            let (registrations, installations, backlog) = await withTaskExecutorPreference(lab?.lab.thread) {
                let size = await hub.service.size()
                return (size.registrations, size.installations, await hub.service.backlog)
            }
            for (label, value) in [
                ("pushhost_registrations", registrations), ("pushhost_installations", installations),
                ("pushhost_notifications_waiting", backlog),
            ] {
                Meter(label: label, dimensions: [("hub", hub.record.name)]).set(value)
            }
        }
        measureCredentials()
        measure(await troubles)
        await measureWebhook()
        await measureHeldRemovals()
        measure(plugins.host.statuses)
        await updateAutomationMetrics()
        return metrics.text
    }

    private func reasonNotReady() async -> String? {
        if isStopping.withLock({ $0 }) { return "the server is stopping" }
        if namespace.isClosed { return "a backup is being restored" }
        return await database.reasonNotReady
    }
}

extension Timestamp {
    fileprivate static func - (moment: Timestamp, duration: Duration) -> Timestamp { moment + (.zero - duration) }
}
