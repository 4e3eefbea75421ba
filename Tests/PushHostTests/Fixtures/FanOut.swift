import Foundation
import PushCore
import Storage
import Synchronization
import Testing

@testable import PushHost

/// A hub server with many iPhones that sends to `pushhost simulate apns`: HTTP/2 over TLS, all of it in processes of their own, which
/// are killed, stopped and started again on the same data and ports.
final class FanOut: Sendable {
    let devices: Int
    let folder: ScriptFolder
    private let simulatorPort: Int
    private let controlPort: Int
    private let simulatorArguments: [String]
    private let variables: [String: String]
    private let processes: Mutex<(simulator: Dialogue, server: Dialogue?)>

    /// - Parameters:
    ///   - simulator: more of its options. It counts what phones get, in memory; with a ledger it knows it after a kill as well.
    ///   - variables: settings of the server.
    init(devices: Int, simulator arguments: [String] = [], variables: [String: String] = [:]) async throws {
        self.devices = devices
        folder = try ScriptFolder(["payload.json": #"{"aps":{"alert":"Hello"}}"#])
        (simulatorPort, controlPort) = (try FreePort.any(), try FreePort.any())
        simulatorArguments = arguments
        let simulator = try Self.simulator(arguments, ports: (simulatorPort, controlPort), in: folder)
        processes = Mutex((simulator, nil))
        try await simulator.hear("Ctrl-C ends it.")
        let credentials = try #require(try await Self.get("/credentials", controlPort)["apns"])
        func text(_ name: String) throws -> String { try #require(credentials[name]?.string) }
        try folder.write("key.p8", Data(try text("private_key").utf8))
        self.variables = [
            "PUSHHOST_LOG_LEVEL": "warning", "PUSHHOST_APNS_KEY": "key.p8", "PUSHHOST_APNS_KEY_ID": try text("key_id"),
            "PUSHHOST_APNS_TEAM_ID": try text("team_id"), "PUSHHOST_APNS_TOPIC": try text("topic"),
            "PUSHHOST_APNS_ADDRESS": "https://127.0.0.1:\(simulatorPort)", "PUSHHOST_APNS_ROOTS": "sim/certificate.pem",
        ].merging(variables) { $1 }
        // The hub is the server's, its devices are written beside it.
        try await startServer()
        _ = await end(SIGTERM)
        try await register()
        try await startServer()
    }

    private func register() async throws {
        let storage = try await SQLiteStorage.open(folder.url.appending(path: "data/pushhost.sqlite").path)
        let (store, random, now) = (storage.namespace.store(ofHub: 1), SeededRandom(seed: 7), SystemClock().now)
        for first in stride(from: 0, to: devices, by: 5_000) {
            var change = RegistrationChange()
            for number in first..<min(first + 5_000, devices) {
                let registration = Registration(
                    id: RegistrationID(random: random), etag: 1, expiration: .distantFuture, updatedAt: now,
                    handle: .apns(token: random.hex(64).uppercased()), tags: [try Tag("half:\(number % 2)")])
                change.puts.append(PlacedRegistration(place: UInt32(number), registration: registration))
            }
            try await store.commit(change)
            await Task.yield()
        }
        try await storage.close()
    }

    // MARK: - Server

    /// - Parameter line: of a shell, which starts the program with its arguments.
    func startServer(line: String = #"exec "$0" "$@""#) async throws {
        let server = try Dialogue(
            ["-c", line, Program.executable.path, "serve", "--data", "data", "--port", "0", "--tls-port", "none"], tool: "/bin/sh",
            in: folder.url, environment: variables)
        processes.withLock { $0.server = server }
        try await server.hear("Ctrl-C ends it.")
    }

    /// Ends the server with a signal, and answers its exit code.
    @discardableResult
    func end(_ signal: Int32) async -> Int32 {
        guard let server = processes.withLock({ $0.server }) else { return 0 }
        server.signal(signal)
        return await server.end(closingInput: false).status
    }

    var serverID: pid_t { processes.withLock { $0.server?.id ?? 0 } }

    /// Waits until the server's log says this.
    func hear(_ text: String) async throws { try await processes.withLock { $0.server }?.hear(text) }

    /// Sends to everybody, in the background: its sender may lose its server.
    /// - Parameter pace: slow enough that it is still under way when something is to befall it.
    func broadcast(pace: String? = nil) throws -> Dialogue {
        let options = pace.map { ["--pace", $0] } ?? []
        return try Dialogue(
            ["send", "--broadcast", "--yes", "--native", "apns", "payload.json", "--data", "data"] + options, in: folder.url)
    }

    /// Asks until every notification has come to its end, and answers them.
    func ends() async throws -> [JSON] {
        while true {
            let program = try await Program.run(["notification", "list", "--data", "data", "--json"], in: folder.url)
            try #require(program.status == 0, "\(program.errors)")
            let found = try #require(try JSON(parsing: program.output)["result"]?["items"]?.array)
            if !found.contains(where: { ["Enqueued", "Processing"].contains($0["state"]?.string) }) { return found }
        }
    }

    var rows: KeptRows { KeptRows(file: folder.url.appending(path: "data/pushhost.sqlite")) }

    // MARK: - Simulator

    func startSimulator() async throws {
        let simulator = try Self.simulator(simulatorArguments, ports: (simulatorPort, controlPort), in: folder)
        processes.withLock { $0.simulator = simulator }
        try await simulator.hear("Ctrl-C ends it.")
    }

    func signalSimulator(_ signal: Int32) { processes.withLock { $0.simulator }.signal(signal) }

    @discardableResult
    func endSimulator(_ signal: Int32) async -> Int32 {
        let simulator = processes.withLock { $0.simulator }
        simulator.signal(signal)
        return await simulator.end(closingInput: false).status
    }

    func control(_ method: String, _ path: String, _ body: String) async throws {
        let program = try await Program.shell("curl -sS -X \(method) 'http://127.0.0.1:\(controlPort)\(path)' -d '\(body)'")
        try #require(program.status == 0 && !program.output.contains("error"), "\(program.errors)\(program.output)")
    }

    /// Waits until the simulator has taken so many requests.
    func taken(_ count: Int) async throws {
        while try #require(try await Self.get("/connections", controlPort)["requests"]?.int) < count {}
    }

    /// How many phones got anything, and how many pushes there were.
    func census() async throws -> (phones: Int, pushes: Int) {
        let census = try await Self.get("/crowd", controlPort)
        return (try #require(census["phones"]?.int), try #require(census["pushes"]?.int))
    }

    /// The same from the ledger, which outlives the simulator.
    func ledger() throws -> (phones: Int, pushes: Int) {
        let lines = try String(contentsOf: folder.url.appending(path: "ledger.jsonl"), encoding: .utf8).split(separator: "\n")
        let handles = try lines.map { try JSON(parsing: String($0)) }.filter { $0["reason"] == .null }.map { $0["handle"]?.string }
        return (Set(handles).count, handles.count)
    }

    private static func get(_ path: String, _ port: Int) async throws -> JSON {
        let answer = try await WireAnswer.exchange("GET", path, [], body: [], port: port)
        return try JSON(parsing: answer.body)
    }

    private static func simulator(_ arguments: [String], ports: (Int, Int), in folder: ScriptFolder) throws -> Dialogue {
        try Dialogue(
            [
                "simulate", "apns", "--port", "\(ports.0)", "--control-port", "\(ports.1)", "--data", "sim", "--adopt", "--inboxes", "0",
            ] + arguments, in: folder.url)
    }
}
