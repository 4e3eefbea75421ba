import Foundation
import HubWire
import HummingbirdCore
import Logging
import PushBackend
import PushHub
import PushModel
import ServiceLifecycle
import Storage
import Support
import WebAPI

/// A server with plugins on a real port: a hub, `hub`, and a user, `alice`, whose password is `a:b`.
struct ServedPlugins {
    let bench: HubBench
    let namespace: Namespace
    let store: MemoryNamespaceStore
    let port: Int
    /// The lines of the log.
    let lines: Happenings

    /// Serves while `body` runs.
    /// - Parameters:
    ///   - routing: nil for a server without plugins.
    ///   - buffers: the memory that clients may use.
    static func serving(
        _ routing: (any PluginRouting)?, spaces: any KeyValueSpaces = MemoryKeyValueSpaces(), buffers: ClientBuffers = ClientBuffers(),
        _ body: (ServedPlugins) async throws -> Void
    ) async throws {
        let (bench, store, lines) = (try HubBench(), MemoryNamespaceStore(), Happenings())
        let namespace = try await Namespace(
            environment: bench.environment, store: store, settings: HubSettings(acceptance: HubSettings.Acceptance(naming: .unique)),
            jobTools: JobService.Tools(files: NoFiles(), codec: RegistrationLines()), connectors: { _ in [bench.connector] })
        try await namespace.resume()
        _ = try await namespace.create("hub", HubDescription())
        try await bench.accounts.add(username: "alice", password: Secret("a:b"))
        let responder = HubResponder(
            settings: WebSettings(),
            environment: WebEnvironment(
                clock: bench.clock, random: bench.random, uptime: { .zero }, log: Logger(label: "t") { _ in NotingHandler(lines: lines) }),
            hubs: HubServices(namespace, throttles: Throttles()),
            server: ServerRoutes(system: SystemRoutes(isReady: { nil }, metrics: { "" })),
            backend: BackendServices(
                environment: bench.environment, accounts: bench.accounts, securePayloads: bench.securePayloads, hub: "hub"),
            plugins: routing.map { PluginRouteServices(routing: $0, spaces: spaces) })
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        // On a busy machine a test may continue only long after it has connected.
        let limits = ConnectionLimits(head: .seconds(600), body: .seconds(600), idle: .seconds(600))
        let silent = Logger(label: "t") { _ in SwiftLogNoOpLogHandler() }
        let server = try WebServer(
            address: .hostname("127.0.0.1", port: 0), responder: responder, tls: nil, limits: limits,
            connections: Connections(limit: limits.connections, buffers: buffers), log: silent, onRunning: { port.yield($0) })
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [.init(service: server.service)], logger: silent))
        let running = Task { try await group.run() }
        var iterator = ports.makeAsyncIterator()
        let served = ServedPlugins(
            bench: bench, namespace: namespace, store: store, port: await iterator.next() ?? 0, lines: lines)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(served))
        } catch {
            result = .failure(error)
        }
        await group.triggerGracefulShutdown()
        _ = await running.result
        await namespace.stop()
        try result.get()
    }

    /// - Parameter target: the raw path with its query.
    func ask(
        _ method: String, _ target: String, _ headers: [(String, String)] = [], _ body: [UInt8] = []
    ) async throws -> PlainAnswer {
        let length = body.isEmpty ? [] : [("Content-Length", "\(body.count)")]
        return try await send(method, target, headers + length, body)
    }

    /// Sends a head and then bytes, whatever length the head states.
    func send(_ method: String, _ target: String, _ headers: [(String, String)], _ rest: [UInt8] = []) async throws -> PlainAnswer {
        let caller = try await PlainCaller(port: port)
        try await caller.write(Self.head(method, target, headers + [("Connection", "close")]) + rest)
        return try PlainAnswer(try await caller.all())
    }

    static func head(_ method: String, _ target: String, _ headers: [(String, String)] = []) -> [UInt8] {
        let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
        return Array("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n".utf8)
    }

    /// The header with a token signed by a rule of the hub; nil for a rule of the server.
    func token(_ rule: String?, for resource: String = "sb://localhost/") throws -> (String, String) {
        let rules = rule == nil ? namespace.rules : namespace.hub("hub")?.record.description.rules ?? []
        guard let rule = rules.first(where: { rule == nil || $0.name == rule }) else {
            throw PushError("test.rule", "there is no such rule")
        }
        return ("Authorization", SASToken(minting: resource, rule: rule, expiration: HubBench.startTime + .seconds(60)).header)
    }
}

extension PlainAnswer {
    /// The body as JSON; null if it is not.
    var json: JSON { (try? JSON(parsing: body)) ?? .null }

    /// The error code of a problem document.
    var code: String? { json["code"]?.string }
}

/// Records the message of each line, with its plugin and version.
private struct NotingHandler: LogHandler {
    let lines: Happenings
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let beside = ["plugin", "version"].compactMap { event.metadata?[$0] }.map { " [\($0)]" }
        lines.note("\(event.message)\(beside.joined())")
    }
}
