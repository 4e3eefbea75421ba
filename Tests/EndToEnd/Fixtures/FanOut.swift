import Foundation
import HostSupport
import PushModel
import PushRuntime
import Storage
import Support
import Synchronization
import Testing

/// A hub server with many devices that sends to `pushhost simulate` over TLS, as it would to the real services. Each runs in its own
/// process and can be killed, stopped and restarted on the same data and ports.
final class FanOut: Sendable {
    let services: [FanOutService]
    /// Number of devices of each service.
    let devices: Int
    let folder: ScriptFolder
    /// The simulator that serves the first service alone.
    let simulator: FanOutSimulator
    /// The simulator of all other services; nil if there are none.
    let others: FanOutSimulator?
    private let variables: [String: String]
    private let server: Mutex<Dialogue?>

    /// - Parameters:
    ///   - service: the service with its own simulator.
    ///   - others: further services, on a second simulator; one of the same platform has the same keys and certificate.
    ///   - arguments: additional options for the first service's simulator.
    ///   - variables: settings of the server.
    init(
        devices: Int, of service: FanOutService = .apns, beside others: [FanOutService] = [], simulator arguments: [String] = [],
        variables: [String: String] = [:]
    ) async throws {
        self.devices = devices
        services = [service] + others
        folder = try ScriptFolder(["payload": service.payload])
        simulator = try await FanOutSimulator([service], arguments, in: folder)
        if let duplicate = others.first(where: { $0.word == service.word }) {
            let (one, other) = ("sim-\(service.label)", "sim-\(duplicate.label)")
            try FileManager.default.copyItem(at: folder.url.appending(path: one), to: folder.url.appending(path: other))
        }
        self.others = others.isEmpty ? nil : try await FanOutSimulator(others, [], in: folder)
        var settings = ["PUSHHOST_LOG_LEVEL": "warning"]
        for simulator in [simulator, self.others].compactMap(\.self) {
            let (more, origins) = (try await simulator.settings(), "PUSHHOST_WEBPUSH_ORIGINS")
            // The origins of both simulators are allowed for Web Push.
            let both = [settings[origins], more[origins]].compactMap(\.self).joined(separator: ",")
            settings.merge(more) { $1 }
            if !both.isEmpty { settings[origins] = both }
        }
        self.variables = settings.merging(variables) { $1 }
        server = Mutex(nil)
        // The server creates the hub. The devices are then written directly into its database.
        try await startServer()
        _ = await end(SIGTERM)
        try await register()
        try await startServer()
    }

    /// The simulator of a service.
    private func simulator(of service: FanOutService) -> FanOutSimulator {
        guard let others, others.services.contains(where: { $0.label == service.label }) else { return simulator }
        return others
    }

    private func register() async throws {
        let storage = try await SQLiteStorage.ofServer(in: folder.url.appending(path: "data"))
        let (store, random, now) = (storage.namespace.store(ofHub: 1), SeededRandom(seed: 7), SystemClock().now)
        for (index, service) in services.enumerated() {
            let port = simulator(of: service).port
            // A notification for several platforms needs templates.
            let template = try services.count == 1 ? nil : RegistrationTemplate(body: service.template, platform: service.platform)
            for first in stride(from: 0, to: devices, by: 5_000) {
                var change = RegistrationChange()
                for number in first..<min(first + 5_000, devices) {
                    let registration = Registration(
                        id: RegistrationID(random: random), etag: 1, expiration: .distantFuture, updatedAt: now,
                        description: RegistrationDescription(
                            handle: try service.handle(random, port: port), tags: [try Tag("half:\(number % 2)")], template: template))
                    change.puts.append(RegistrationRow(row: UInt32(index * devices + number), registration: registration))
                }
                try await store.commit(change)
                await Task.yield()
            }
        }
        try await storage.close()
    }

    // MARK: - Server

    /// - Parameter line: the shell line that starts the program with its arguments.
    func startServer(line: String = #"exec "$0" "$@""#) async throws {
        let server = try Dialogue(
            ["-c", line, BuiltProgram.executable.path, "serve", "--data", "data", "--port", "0", "--tls-port", "none"], tool: "/bin/sh",
            in: folder.url, environment: variables)
        self.server.withLock { $0 = server }
        try await server.hear("Press Ctrl-C to stop.")
    }

    /// Ends the server with a signal and returns its exit code.
    @discardableResult
    func end(_ signal: Int32) async -> Int32 {
        guard let server = server.withLock({ $0 }) else { return 0 }
        server.signal(signal)
        return await server.end(closingInput: false).status
    }

    var serverID: pid_t { server.withLock { $0?.id ?? 0 } }

    /// Waits until the server's log contains this text.
    func hear(_ text: String) async throws { try await server.withLock { $0 }?.hear(text) }

    /// Sends to every device in the background, because the server may die under the sender.
    /// - Parameter pace: a rate slow enough for the send to be in progress when the fault begins.
    func broadcast(pace: String? = nil) throws -> Dialogue {
        let content = services.count == 1 ? ["--native", services[0].account, "payload"] : ["Hello"]
        let options = pace.map { ["--pace", $0] } ?? []
        return try Dialogue(["send", "--broadcast", "--yes"] + content + ["--data", "data"] + options, in: folder.url)
    }

    /// Runs a command against the server and returns what it prints.
    func program(_ command: [String]) async throws -> String {
        let program = try await BuiltProgram.run(command + ["--data", "data"], in: folder.url)
        try #require(program.status == 0, "\(program.errors)")
        return program.output
    }

    /// The server's list of notifications.
    func notifications() async throws -> [JSON] {
        try #require(try JSON(parsing: try await program(["notification", "list", "--json"]))["result"]?["items"]?.array)
    }

    /// Polls until every notification has ended, then returns them all.
    func ends() async throws -> [JSON] {
        while true {
            let found = try await notifications()
            if !found.contains(where: { ["Enqueued", "Processing"].contains($0["state"]?.string) }) { return found }
        }
    }

    /// The number of devices of a service that the server reports as successful.
    func successes(of service: FanOutService, in notification: JSON?) -> Int {
        notification?["outcomes"]?[service.account]?["Success"]?.int ?? 0
    }

    /// The number of phones of a service that received anything, and the number of pushes, from the simulator's ledger.
    func statistics(of service: FanOutService) throws -> (phones: Int, pushes: Int) {
        try simulator(of: service).statistics(of: service)
    }

    var rows: DatabaseRows { DatabaseRows(file: folder.url.appending(path: "data/pushhost.sqlite")) }
}
