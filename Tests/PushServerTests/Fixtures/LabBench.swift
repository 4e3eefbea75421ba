import Bindings
import Crypto
import Delivery
import Foundation
import HTTPTypes
import HostSupport
import Hummingbird
import Logging
import Lua
import PushBackend
import PushHub
import PushLab
import PushModel
import PushRuntime
import RemoteHub
import ServiceLifecycle
import Storage
import Support
import Synchronization
import Testing
import WebAPI

@testable import PushServer

/// A server with a lab in this process, reached over a real socket.
final class LabBench: Sendable {
    let lab: Lab
    let server: RunningServer
    let port: Int
    let log = Logger(label: "lab") { _ in SwiftLogNoOpLogHandler() }
    let folder: ScriptFolder
    private let group: ServiceGroup
    private let running: Task<Void, Never>
    private let client: HTTPClientTransport

    static let key = Secret("key-of-the-lab")

    var namespace: Namespace { server.namespace }
    var hub: NotificationHub { get throws { try #require(namespace.hub("hub")).service } }

    init(in folder: ScriptFolder? = nil) async throws {
        let folder = try folder ?? ScriptFolder()
        self.folder = folder
        var settings = ServerSettings()
        settings.data = folder.url.appending(path: "data").path
        settings.lab = true
        // Its clients do not retry when an idle connection is closed just before a request.
        settings.idleTimeout = .seconds(3600)
        let data = try DataFolder(path: settings.data)
        lab = try await Lab.starting(port: 0, folder: data.file("lab"), key: Self.key)
        settings.simulators = lab.address
        server = try await RunningServer.opening(settings, HostProgram(), folder: data, lab: lab, log: log, metrics: PrometheusRegistry())
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = try server.listeners.application(port: 0, tls: nil) { port.yield($0) }
        let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: [.init(service: application)], logger: log))
        self.group = group
        running = Task { try? await group.run() }
        var found = 0
        for await number in ports {
            found = number
            break
        }
        self.port = found
        client = HTTPClientTransport(limits: .init(exchange: .seconds(300), answerBody: 64 << 20))
    }

    /// Runs `work` with a server, then ends the server.
    static func with(_ work: (LabBench) async throws -> Void) async throws {
        let bench = try await LabBench()
        do {
            try await work(bench)
        } catch {
            await bench.end()
            throw error
        }
        await bench.end()
    }

    func end() async {
        await client.shutdown()
        await group.triggerGracefulShutdown()
        await running.value
        await server.stop()
        await lab.stop()
    }

    /// Sends a request. Returns the status and the JSON, null if there is none.
    func call(
        _ method: String, _ path: String, _ body: String? = nil, key: String? = "Bearer \(LabBench.key.reveal())"
    ) async throws -> (status: Int, json: JSON) {
        var request = HTTPRequest(
            method: try #require(HTTPRequest.Method(method)), scheme: "http", authority: "127.0.0.1:\(port)", path: path)
        if let key { request.headerFields[.authorization] = key }
        let response = try await client.exchange(request, body: Array((body ?? "").utf8))
        return (response.status.code, (try? JSON(parsing: response.body)) ?? .null)
    }

    /// Opens a session with a plain request and returns its path.
    func session() async throws -> String {
        let answer = try await call("POST", "/lab/sessions", #"{"hub":"hub","run":"r-0001"}"#)
        #expect(answer.status == 201)
        return "/lab/sessions/\(try #require(answer.json["id"]?.string))"
    }

    // MARK: - Runs

    /// The environment of a remote run: phones, wire, faults and time are the lab's, the hub is the server's.
    func world(of session: LabSessionClient, on thread: LuaThread) throws -> FlowWorld {
        let environment = HubEnvironment(
            clock: session.clock, random: SeededRandom(seed: 1),
            start: { work in Task(executorPreference: thread) { await work() } })
        let hub = LabHub(hub: try self.hub, clock: session.clock, thread: lab.thread)
        let backend = AppBackend(
            environment: environment,
            accounts: try AccountService(environment: environment, store: MemoryAccountStore(), cost: .rehearsal, isTutorialMode: false),
            hub: hub,
            securePayloads: try SecurePayloadService(
                environment: environment, store: MemorySecurePayloadStore(), key: SymmetricKey(size: .bits256)))
        return FlowWorld(
            target: FlowWorld.Target(name: "lab", isSimulated: true, outlivesRuns: true), module: BindingRegistry.standard, hub: hub,
            backend: backend, simulation: FlowWorld.Simulation(lab: session.lab, wire: session.wire, faults: session.faults),
            clock: session.clock, secrets: TestSecrets(), zones: SystemTimeZones.shared)
    }

    /// Runs a script as a remote client of the server.
    func rehearse(_ lua: String) async throws -> Rehearsal {
        let thread = LuaThread(name: "remote")
        defer { thread.stop() }
        let session = try await open(on: thread)
        let events = Mutex<[FlowEvent]>([])
        let source = flowOpening + lua
        let runner = FlowRunner(world: try world(of: session, on: thread), thread: thread, limits: LuaLimits(), seed: 1)
        let report = await runner.run(
            FlowScript(name: "flow.lua", source: Array(source.utf8), version: "abc123"), run: "r-0001"
        ) { event in events.withLock { $0.append(event) } }
        try await session.close()
        return Rehearsal(report: report, events: events.withLock { $0 }, source: source)
    }

    func open(on thread: LuaThread) async throws -> LabSessionClient {
        try await LabSessionClient.open(Connection(bench: self), hub: "hub", run: "r-0001", system: SystemClock()) { work in
            Task(executorPreference: thread) { await work() }
        }
    }

    private struct Connection: LabConnection {
        let bench: LabBench

        func call(_ method: String, _ path: String, _ body: JSON?) async throws(PushError) -> JSON {
            let answer: (status: Int, json: JSON)
            do {
                answer = try await bench.call(method, path, body?.text())
            } catch {
                throw PushError("target.unreachable", "\(error)")
            }
            guard answer.status < 300 else {
                throw PushError(
                    answer.json["code"]?.string ?? "", answer.json["detail"]?.string ?? "", hint: answer.json["hint"]?.string,
                    status: answer.status)
            }
            return answer.json
        }
    }
}
