import Delivery
import Foundation
import HTTPTypes
import HubWire
import PushModel
import PushRuntime
import Support
import Synchronization
import Testing

/// A hub server that is killed repeatedly, each time after a number of responses, and restarted on the same data and port. The
/// simulators that it sends to keep running.
final class KillBench: Sendable {
    /// How many notifications the server delivers at the same time.
    static let concurrentNotifications = 8

    let simulators: SimulatorBench
    private let folder: ScriptFolder
    private let port: Int
    private let token: String
    private let state: Mutex<State>

    private struct State {
        var server: Dialogue
        var transport: HTTPClientTransport
        /// The number of servers before this one.
        var kills = 0
        /// For each server, the number of responses after which it is killed. Empty once the remaining server is to stay up.
        var lives: ArraySlice<Int>
        var answers = 0
        var isDown = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// - Parameter lives: the number of responses after which each server is killed, in order.
    init(lives: [Int]) async throws {
        folder = try ScriptFolder()
        simulators = try await SimulatorBench(["--adopt", "--ledger", "ledger.jsonl"], in: folder.url)
        port = try FreePort.any()
        let server = try Self.server(in: folder, port: port, simulators: simulators.port)
        try await server.hear("  full ")
        try await server.hear("SharedAccessKeyName=")
        let name = String(try await server.hear(";").dropLast())
        try await server.hear("SharedAccessKey=")
        let key = String(try await server.hear("\n").dropLast())
        try await server.hear("Press Ctrl-C to stop.")
        let now = SystemClock().now
        let rule = AuthorizationRule(
            name: name, rights: [.manage, .send, .listen], primaryKey: Secret(key), secondaryKey: Secret(key), createdAt: now,
            modifiedAt: now)
        token = SASToken(minting: "sb://127.0.0.1/hub", rule: rule, expiration: now + .seconds(3600)).header
        state = Mutex(State(server: server, transport: Self.transport(to: port), lives: lives[...]))
    }

    /// The number of servers killed.
    var kills: Int { state.withLock { $0.kills } }

    /// Repeats a request until the hub responds: a request that a killed server did not answer is sent to the next one.
    func ask(
        _ method: HTTPRequest.Method, _ path: String, _ fields: [(String, String)] = [], _ body: String = ""
    ) async throws -> PushResponse {
        var request = HTTPRequest(
            method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: "/hub/\(path)?api-version=2015-01")
        for (name, value) in fields + [("Authorization", token)] {
            request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        while true {
            await up()
            let (transport, life) = state.withLock { ($0.transport, $0.kills) }
            do {
                let response = try await transport.exchange(request, body: Array(body.utf8))
                try await answered()
                return response
            } catch let error as TransportError {
                let wasKilled = state.withLock { $0.isDown || $0.kills != life }
                if !wasKilled { throw error }
            }
        }
    }

    private func up() async {
        await withCheckedContinuation { continuation in
            let isUp = state.withLock { state in
                if state.isDown { state.waiting.append(continuation) }
                return !state.isDown
            }
            if isUp { continuation.resume() }
        }
    }

    /// Counts a response. The caller with the last response of a server kills that server immediately and starts the next.
    private func answered() async throws {
        let isLast = state.withLock { state in
            guard !state.isDown, let life = state.lives.first else { return false }
            state.answers += 1
            guard state.answers >= life else { return false }
            state.isDown = true
            state.lives.removeFirst()
            state.answers = 0
            state.server.signal(SIGKILL)
            return true
        }
        if isLast { try await startAgain() }
    }

    private func startAgain() async throws {
        let (dead, transport) = state.withLock { ($0.server, $0.transport) }
        _ = await dead.end(closingInput: false)
        await transport.shutdown()
        defer {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                (state.isDown, state.kills) = (false, state.kills + 1)
                return state.waiting
            }
            for waiter in waiting { waiter.resume() }
        }
        let server = try Self.server(in: folder, port: port, simulators: simulators.port)
        state.withLock { ($0.server, $0.transport) = (server, Self.transport(to: port)) }
        try await server.hear("Press Ctrl-C to stop.")
    }

    /// Ends the server, which then saves the results, and the simulators. Returns the handles that each alert reached, repetitions
    /// included.
    func end() async throws -> [String: [String]] {
        let (server, transport) = state.withLock { ($0.server, $0.transport) }
        await transport.shutdown()
        server.signal(SIGTERM)
        _ = await server.end(closingInput: false)
        _ = await simulators.end()
        var reached: [String: [String]] = [:]
        let lines = try String(contentsOf: folder.url.appending(path: "ledger.jsonl"), encoding: .utf8).split(separator: "\n")
        for line in try lines.map({ try JSON(parsing: String($0)) }) {
            let payload = try JSON(parsing: try #require(line["payload"]?.string))
            let alert = try #require(payload["message"]?["notification"]?["body"]?.string)
            reached[alert, default: []].append(try #require(line["handle"]?.string))
            #expect(line["reason"] == .null)
        }
        return reached
    }

    /// The first column of a query's result. Only after the server has ended.
    func rows(_ sql: String) throws -> [String] { try DatabaseRows(file: folder.url.appending(path: "data/pushhost.sqlite"))(sql) }

    // MARK: - Parts

    private static func server(in folder: ScriptFolder, port: Int, simulators: Int) throws -> Dialogue {
        // The log goes unread while the server is up.
        let variables = ["PUSHHOST_LOG_LEVEL": "error", "PUSHHOST_LIMITS_CONCURRENT_NOTIFICATIONS": "\(concurrentNotifications)"]
        return try Dialogue(
            [
                "serve", "--data", "data", "--port", "\(port)", "--tls-port", "none", "--reveal", "--simulators",
                "http://127.0.0.1:\(simulators)",
            ], in: folder.url, environment: variables)
    }

    private static func transport(to port: Int) -> HTTPClientTransport {
        HTTPClientTransport(
            route: WebAddress("http://127.0.0.1:\(port)"), limits: .init(connect: .seconds(300), exchange: .seconds(300)))
    }
}
