import Foundation
import HostSupport
import PushModel
import Support
import Synchronization
import Testing

/// `pushhost simulate` in its own process. It can be killed, stopped and restarted on the same ports, with the same keys, certificate
/// and ledger.
final class FanOutSimulator: Sendable {
    let services: [FanOutService]
    let port: Int
    private let controlPort: Int
    private let folder: ScriptFolder
    /// The name used in its file names.
    private let label: String
    private let arguments: [String]
    private let process: Mutex<Dialogue>

    /// Serves a single service alone, or several as `pushhost simulate all` does.
    init(_ services: [FanOutService], _ arguments: [String], in folder: ScriptFolder) async throws {
        self.services = services
        self.folder = folder
        (port, controlPort) = (try FreePort.any(), try FreePort.any())
        let word = services.count == 1 ? services[0].word : "all"
        label = services.count == 1 ? services[0].label : "all"
        self.arguments =
            [
                "simulate", word, "--port", "\(port)", "--control-port", "\(controlPort)", "--data", "sim-\(label)", "--ledger",
                "\(label).jsonl", "--adopt",
            ] + (word == "apns" ? ["--inboxes", "0"] : []) + arguments
        process = Mutex(try Dialogue(self.arguments, in: folder.url))
        try await hearStart()
    }

    func start() async throws {
        let next = try Dialogue(arguments, in: folder.url)
        process.withLock { $0 = next }
        try await hearStart()
    }

    private func hearStart() async throws { try await process.withLock { $0 }.hear("Press Ctrl-C to stop.") }

    func signal(_ number: Int32) { process.withLock { $0 }.signal(number) }

    /// The exit code.
    @discardableResult
    func end(_ number: Int32 = SIGINT) async -> Int32 {
        let simulator = process.withLock { $0 }
        simulator.signal(number)
        return await simulator.end(closingInput: false).status
    }

    /// The settings that make a server send to this simulator.
    func settings() async throws -> [String: String] {
        let credentials = try await get("/credentials")
        return try services.reduce(into: [:]) { settings, service in
            let more = try service.settings(credentials, port: port, certificate: "sim-\(label)/certificate.pem", in: folder)
            settings.merge(more) { $1 }
        }
    }

    func control(_ method: String, _ path: String, _ body: String = "") async throws {
        let program = try await BuiltProgram.shell(
            "curl -sS --fail-with-body -X \(method) 'http://127.0.0.1:\(controlPort)\(path)' -d '\(body)'")
        try #require(program.status == 0, "\(program.errors)\(program.output)")
    }

    /// Waits until the simulator has received this many requests since its start, requests for access tokens included.
    func taken(_ count: Int) async throws {
        while try #require(try await get("/connections")["requests"]?.int) < count {}
    }

    private func get(_ path: String) async throws -> JSON {
        try JSON(parsing: try await WireAnswer.exchange("GET", path, [], body: [], port: controlPort).body)
    }

    private var ledger: URL { folder.url.appending(path: "\(label).jsonl") }

    /// Empties the ledger. The simulator appends at the current end of the file.
    func clearLedger() throws { try #require(truncate(ledger.path, 0) == 0) }

    private struct Line: Decodable {
        let service: String
        let handle: String
        let reason: String?
    }

    /// The number of phones of a service that received anything since the ledger was cleared, and the number of pushes. Restarts do not
    /// matter: each push is in the ledger before its response is sent.
    func statistics(of service: FanOutService) throws -> (phones: Int, pushes: Int) {
        let ledger = try Data(contentsOf: ledger)
        let decoder = JSONDecoder()
        var (handles, pushes) = (Set<String>(), 0)
        // The last line may be incomplete.
        for text in ledger.prefix(upTo: ledger.lastIndex(of: 0x0a) ?? ledger.startIndex).split(separator: 0x0a) {
            let line = try decoder.decode(Line.self, from: text)
            guard line.service == service.account, line.reason == nil else { continue }
            handles.insert(line.handle)
            pushes += 1
        }
        return (handles.count, pushes)
    }
}

/// How a push service is unavailable.
enum Absence: CaseIterable {
    /// Nothing listens on the port.
    case dead
    /// Connections are accepted but requests get no response.
    case frozen

    func begin(_ simulator: FanOutSimulator) async {
        switch self {
        case .dead: await simulator.end(SIGKILL)
        case .frozen: simulator.signal(SIGSTOP)
        }
    }

    func end(_ simulator: FanOutSimulator) async throws {
        switch self {
        case .dead: try await simulator.start()
        case .frozen: simulator.signal(SIGCONT)
        }
    }
}
