import HubWire
import HummingbirdCore
import Logging
import PushBackend
import PushHub
import PushModel
import RemoteHub
import ServiceLifecycle
import Storage
import Support
import WebAPI

/// A namespace with one hub, `hub`, that is served on a real port, and clients of it.
struct ServedNamespace {
    let namespace: Namespace
    let connector: ScriptedConnector
    let accounts: AccountService
    let clock: VirtualClock
    let port: Int
    let connection: RemoteConnection

    /// Serves while `body` runs.
    static func serving(_ body: (ServedNamespace) async throws -> Void) async throws {
        let bench = try HubBench()
        let namespace = try await Namespace(
            environment: bench.environment, store: MemoryNamespaceStore(),
            settings: HubSettings(acceptance: HubSettings.Acceptance(naming: .unique)),
            jobTools: JobService.Tools(files: NoFiles(), codec: RegistrationLines()), connectors: { _ in [bench.connector] })
        try await namespace.resume()
        _ = try await namespace.create("hub", HubDescription())
        let responder = HubResponder(
            settings: WebSettings(),
            environment: WebEnvironment(
                clock: bench.clock, random: bench.random, uptime: { .zero }, log: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() }),
            hubs: HubServices(namespace, throttles: Throttles()),
            server: ServerRoutes(system: SystemRoutes(isReady: { nil }, metrics: { "" })),
            backend: BackendServices(
                environment: bench.environment, accounts: bench.accounts, securePayloads: bench.securePayloads, hub: "hub"))
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        // On a busy machine a test may continue only long after it has connected.
        let limits = ConnectionLimits(head: .seconds(600), body: .seconds(600), idle: .seconds(600))
        let server = try WebServer(
            address: .hostname("127.0.0.1", port: 0), responder: responder, tls: nil, limits: limits,
            connections: Connections(limit: limits.connections), log: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() },
            onRunning: { port.yield($0) })
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: server.service)], logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() }))
        let running = Task { try await group.run() }
        let connection = try RemoteConnection(connect: .seconds(600), timeout: .seconds(600))
        var iterator = ports.makeAsyncIterator()
        let served = ServedNamespace(
            namespace: namespace, connector: bench.connector, accounts: bench.accounts, clock: bench.clock,
            port: await iterator.next() ?? 0, connection: connection)
        do {
            try await body(served)
        } catch {
            await served.end(group, running)
            throw error
        }
        await served.end(group, running)
    }

    private func end(_ group: ServiceGroup, _ running: Task<Void, any Error>) async {
        await connection.shutdown()
        await group.triggerGracefulShutdown()
        _ = await running.result
        await namespace.stop()
    }

    /// The hub as seen by a client.
    func hub(
        rule: String = Namespace.fullRule, key: String? = nil, isPushHost: Bool = true, usesJSONInterface: Bool = false,
        clock: (any HubClock)? = nil,
        retry: RequestRetryPolicy = .none
    ) throws -> RemoteNotificationHub {
        let rules = namespace.hub("hub")?.record.description.rules ?? []
        let key = key ?? rules.first { $0.name == rule }?.primaryKey.reveal() ?? ""
        let text = "Endpoint=http://127.0.0.1:\(port)/;SharedAccessKeyName=\(rule);SharedAccessKey=\(key)"
        let clock = clock ?? BriskClock(base: self.clock)
        return RemoteNotificationHub(
            address: try HubAddress(ConnectionString(parsing: text), hub: "hub"),
            client: RemoteClient(connection: connection, clock: clock, random: SeededRandom(seed: 7), retry: retry), clock: clock,
            options: .init(isPushHost: isPushHost, usesJSONInterface: usesJSONInterface, outcomeWait: nil))
    }
}

extension ServedNamespace {
    /// The hub's app backend as seen by a client.
    func backend() throws -> RemoteBackend {
        let clock = BriskClock(base: self.clock)
        return RemoteBackend(
            base: "http://127.0.0.1:\(port)/hub",
            client: RemoteClient(connection: connection, clock: clock, random: SeededRandom(seed: 8), retry: .none), hub: try hub())
    }
}

/// A clock with the time of another one, on which sleeping ends immediately.
struct BriskClock: HubClock {
    let base: any HubClock
    var ahead: Duration = .zero

    var now: Timestamp { base.now + ahead }

    func sleep(until deadline: Timestamp) async throws {
        try Task.checkCancellation()
        await Task.yield()
    }
}
