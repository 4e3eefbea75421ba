import Foundation
import HostSupport
import HubWire
import PushModel
import PushRuntime
import Storage
import Support
import Synchronization
import Testing

/// `pushhost serve` in its own process, with a hub named `hub`, reached over the network.
final class ServedHub: Sendable {
    /// The key that signs a request.
    enum Signer: String {
        case listen = "DefaultListenSharedAccessSignature"
        case full = "DefaultFullSharedAccessSignature"
        /// The key of the whole server.
        case root = "RootManageSharedAccessKey"
    }

    let port: Int
    let tlsPort: Int
    /// The port of the simulators' control plane; nil without simulators.
    var simulatorPort: Int? { simulators?.port }
    private let folder: ScriptFolder
    private let dialogue: Dialogue
    private let simulators: SimulatorBench?
    private let keys: [String: Secret]
    private let log = Mutex("")
    var processIdentifier: pid_t { dialogue.id }

    /// The data folder.
    var data: URL { folder.url.appending(path: "data") }

    /// Runs a command against this server, in the parent of its data folder.
    func command(_ arguments: [String], environment: [String: String] = [:]) async throws -> BuiltProgram {
        try await BuiltProgram.run(arguments + ["--data", "data"], in: folder.url, environment: environment)
    }

    /// The startup banner, keys included.
    let screen: String

    /// The certificate authority that TLS clients must trust.
    var authority: String { folder.url.appending(path: "data/tls/authority.pem").path }

    /// Marks payloads and handles that must not appear in the log.
    static let unspeakable = "UNSPEAKABLE"

    /// - Parameters:
    ///   - simulators: the simulators that it sends to and ends with itself; nil to send nowhere.
    ///   - settings: environment variables.
    ///   - line: the shell line that starts the program with its arguments.
    private init(simulators: SimulatorBench?, settings: [String: String], line: String) async throws {
        self.simulators = simulators
        folder = try ScriptFolder()
        let data = folder.url.appending(path: "data")
        let root = try await Self.putRootRule(in: data)
        var arguments = ["serve", "--port", "0", "--tls-port", "0", "--data", data.path, "--reveal"]
        if let simulators { arguments += ["--simulators", "http://127.0.0.1:\(simulators.port)"] }
        dialogue = try Dialogue(
            ["-c", line, BuiltProgram.executable.path] + arguments, tool: "/bin/sh", in: folder.url,
            environment: ["PUSHHOST_LOG_LEVEL": "error"].merging(settings) { $1 })
        screen = try await dialogue.hear("Press Ctrl-C to stop.")
        port = try #require(screen.firstMatch(of: /http:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
        tlsPort = try #require(screen.firstMatch(of: /https:\/\/localhost:(\d+)/).flatMap { Int($0.1) })
        var keys = [root.name: root.primaryKey]
        for match in screen.matches(of: /SharedAccessKeyName=(\w+);SharedAccessKey=(\S+)/) {
            keys[String(match.1)] = Secret(String(match.2))
        }
        self.keys = keys
    }

    /// Serves while `body` runs.
    /// - Parameters:
    ///   - isSimulated: whether it sends to `pushhost simulate --adopt`, which turns every handle into a phone.
    ///   - settings: environment variables.
    ///   - line: the shell line that starts the program with its arguments.
    static func serving(
        isSimulated: Bool = false, settings: [String: String] = [:], line: String = #"exec "$0" "$@""#,
        _ body: (ServedHub) async throws -> Void
    ) async throws {
        _ = OpenFileLimit.raised
        let simulators = isSimulated ? try await SimulatorBench(["--adopt"]) : nil
        do {
            let hub = try await ServedHub(simulators: simulators, settings: settings, line: line)
            do {
                try await body(hub)
            } catch {
                _ = await hub.end()
                throw error
            }
            let status = await hub.end()
            #expect(status == 0, "\(hub.log.withLock { String($0.suffix(2000)) })")
            hub.checkLog()
        } catch {
            _ = await simulators?.end()
            throw error
        }
        _ = await simulators?.end()
    }

    /// The exit code.
    private func end() async -> Int32 {
        dialogue.signal(SIGTERM)
        let (output, status) = await dialogue.end(closingInput: false)
        log.withLock { $0 += output }
        return status
    }

    /// Waits until the log contains this text. Returns the unread log up to and including it.
    @discardableResult
    func hear(_ text: String) async throws -> String {
        let heard = try await dialogue.hear(text)
        log.withLock { $0 += heard }
        return heard
    }

    /// Runs `body` while the server is stopped: connections are accepted but requests get no response.
    func standing(_ body: () async throws -> Void) async throws {
        dialogue.signal(SIGSTOP)
        defer { dialogue.signal(SIGCONT) }
        try await body()
    }

    /// Checks that the output after the startup banner contains no key, no signature and no marked text.
    private func checkLog() {
        let log = log.withLock { $0 }
        for secret in keys.values.map({ $0.reveal() }) + ["SharedAccessSignature sr", "sig=", Self.unspeakable] {
            #expect(!log.contains(secret))
        }
    }

    /// The connection string of the startup banner, for TLS.
    func connectionString(_ signer: Signer = .full) throws -> String {
        ConnectionString(host: "localhost:\(tlsPort)", keyName: signer.rawValue, key: try key(signer)).reveal()
    }

    /// The same connection string for plain HTTP, which only some clients can parse.
    func plainConnectionString(_ signer: Signer = .full) throws -> String {
        ConnectionString(host: "localhost:\(port)", keyName: signer.rawValue, key: try key(signer)).reveal()
            .replacing("sb://", with: "http://")
    }

    func key(_ signer: Signer) throws -> Secret { try #require(keys[signer.rawValue]) }

    /// The value of the `Authorization` header.
    /// - Parameters:
    ///   - resource: not yet encoded; nil for the hub.
    ///   - key: overrides the signer's key.
    ///   - seconds: lifetime of the token from now.
    func token(_ signer: Signer, resource: String? = nil, key: Secret? = nil, seconds: Int64 = 1200) throws -> String {
        let now = SystemClock().now
        let rule = AuthorizationRule(
            name: signer.rawValue, rights: [], primaryKey: try key ?? self.key(signer), secondaryKey: Secret(""), createdAt: now,
            modifiedAt: now)
        return SASToken(minting: resource ?? "sb://localhost:\(port)", rule: rule, expiration: now + .seconds(seconds)).header
    }

    /// Sends a signed request over plain HTTP.
    func call(
        _ method: String, _ path: String, _ headers: KeyValuePairs<String, String> = [:], body: String = "", by signer: Signer? = .full
    ) async throws -> WireAnswer {
        var lines = headers.map { "\($0.key): \($0.value)" }
        if let signer { lines.append("Authorization: \(try token(signer))") }
        return try await WireAnswer.exchange(method, path, lines, body: Array(body.utf8), port: port)
    }

    /// Stores a root key that the test has made, because the server never shows its own.
    private static func putRootRule(in data: URL) async throws -> AuthorizationRule {
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        let (now, random) = (SystemClock().now, SystemRandom())
        let rule = AuthorizationRule(
            name: Signer.root.rawValue, rights: [.listen, .manage, .send], primaryKey: SharedAccessKey.make(random),
            secondaryKey: SharedAccessKey.make(random), createdAt: now, modifiedAt: now)
        let storage = try await SQLiteStorage.ofServer(in: data)
        try await storage.namespace.putRules([rule])
        try await storage.close()
        return rule
    }
}
