import Bindings
import Foundation
import GRDBSQLite
import Logging
import PushModel
import ServiceLifecycle
import Simulators
import Support
import Testing

@testable import PushHost
@testable import PushHub
@testable import PushLab
@testable import PushRuntime
@testable import PushServer

/// Servers whose start fails halfway: nothing keeps running, and nothing stays open.
@Suite struct FailedStartTests {
    /// A database that a server can open and with which it cannot start.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let mend: String
    }

    private static let faults = [
        Fault(
            testDescription: "a hub that cannot be loaded", sql: "UPDATE hub SET description = '[' || description WHERE name = 'z'",
            mend: "UPDATE hub SET description = substr(description, 2) WHERE name = 'z'"),
        Fault(
            testDescription: "a hub that cannot continue",
            sql: """
                INSERT INTO job (hub, id, kind, status, is_final, progress, created_at, updated_at, content, secrets)
                SELECT number, 'broken', 'Unknown', 'Started', 0, 0, 0, 0, '', x'' FROM hub WHERE name = 'z'
                """, mend: "DELETE FROM job"),
        Fault(
            testDescription: "a run of a flow that cannot be read",
            sql: """
                INSERT INTO run (flow, state, is_final, trigger, queued_at, content) VALUES ('hello', 'unknown', 0, 'unknown', 0, '[')
                """, mend: "DELETE FROM run"),
    ]

    private let folder: ScriptFolder
    private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws { folder = try ScriptFolder() }

    private var data: String { folder.url.appending(path: "data").path }

    /// The settings of a server with a lab.
    private func settings() -> ServerSettings {
        var settings = ServerSettings()
        settings.data = data
        settings.lab = true
        return settings
    }

    private func server(_ data: DataFolder, _ lab: Lab) async throws(PushError) -> RunningServer {
        var settings = settings()
        settings.simulators = lab.address
        return try await RunningServer.opening(settings, HostProgram(), folder: data, lab: lab, log: log, metrics: PrometheusRegistry())
    }

    private func lab(in data: DataFolder, port: Int = 0, tlsPort: Int? = nil) async throws(PushError) -> Lab {
        try await Lab.starting(port: port, tlsPort: tlsPort, folder: data.file("lab"), key: Secret("key-of-the-lab"))
    }

    /// Starts a server, calls `work`, and stops the server.
    private func serving(_ work: (RunningServer) async throws -> Void) async throws {
        let data = try DataFolder(path: data)
        let lab = try await lab(in: data)
        do {
            let server = try await server(data, lab)
            do {
                try await work(server)
            } catch {
                await server.stop()
                throw error
            }
            await server.stop()
        } catch {
            await lab.stop()
            throw error
        }
        await lab.stop()
    }

    /// Hubs `hub` and `z`. The first has a notification that is due in an hour; its id is returned.
    private func prepare() async throws -> String {
        var id = ""
        try await serving { server in
            _ = try await server.namespace.create("z", HubDescription())
            let hub = try #require(server.namespace.hub("hub")).service
            id = try await hub.accept(.alert(), at: SystemClock().now + .seconds(3600)).outcome.id
        }
        return id
    }

    private func execute(_ sql: String) throws {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        try #require(sqlite3_open_v2("\(data)/pushhost.sqlite", &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        sqlite3_busy_timeout(database, 300_000)
        try #require(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(database)))")
    }

    /// The files of the server's database that this process has open.
    private var openDatabases: [String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .filter { $0.hasPrefix("\(data)/\(DataFolder.databaseName)") }
    }

    // MARK: - In the components

    @Test(arguments: faults)
    func `after a failed start nothing runs, the database is closed, and a second start works`(fault: Fault) async throws {
        let id = try await prepare()
        try execute(fault.sql)
        try await fail()
        try execute(fault.mend)
        try await serving { server in
            #expect(server.namespace.hubs.map(\.record.name) == ["hub", "z"])
            let outcome = try await server.namespace.hub("hub")?.service.outcome(of: id)
            #expect(outcome?.state == .scheduled)
        }
    }

    private func fail() async throws {
        let data = try DataFolder(path: data)
        let lab = try await lab(in: data)
        let failure = await refusal { try await server(data, lab) }
        #expect(failure != nil)
        #expect(openDatabases == [])
        // The hubs run on the lab's thread and sleep on its clock.
        await lab.thread.settle()
        #expect(lab.clock.sleepingTaskCount == 0)
        await lab.stop()
    }

    // MARK: - At the ports

    @Test func `a port that is in use ends the server, and it starts on the same folder with another port`() async throws {
        _ = try await prepare()
        let taken = try BusyPort()
        try await serving { server in
            let failure = try await Self.run(server, port: taken.number)
            #expect(failure?.code == "serve.port")
        }
        #expect(openDatabases == [])
        try await serving { server in
            #expect(server.namespace.hubs.count == 2)
        }
    }

    /// Listens as `pushhost serve` does. Returns the error.
    private static func run(_ server: RunningServer, port: Int) async throws -> PushError? {
        let listener = PortService(
            base: try server.listeners.application(port: port, tls: nil) { _ in }, setting: "listen.port", host: "127.0.0.1", port: port)
        let command = try server.listeners.controlApplication {}
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: command), .init(service: listener)],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        do {
            try await group.run()
            return nil
        } catch {
            return error as? PushError
        }
    }

    @Test func `a lab whose port is in use closes its TLS port, and a second start works`() async throws {
        let (taken, free) = (try BusyPort(), try FreePort.any())
        try await failLab(taken.number, free)
        let data = try DataFolder(path: data)
        let lab = try await lab(in: data, tlsPort: free)
        #expect(lab.listener?.port == free)
        let server = try await server(data, lab)
        #expect(server.namespace.hubs.count == 1)
        await server.stop()
        await lab.stop()
    }

    private func failLab(_ taken: Int, _ free: Int) async throws {
        let data = try DataFolder(path: data)
        let failure = await refusal { try await lab(in: data, port: taken, tlsPort: free) }
        #expect(failure?.code == "lab.port")
    }
}
