import Bindings
import Foundation
import HubWire
import Logging
import PushLab
import PushModel
import PushRuntime
import ServiceLifecycle
import Support
import Testing

@testable import PushServer

/// A server on a port and on its control socket, with a lab, flows and a plugin, and every kind of credential for it.
///
/// The hub `hub` has keys with Listen, with Send and with all rights; `alice` and `bob` are users of the app backend. Used by one task.
final class AuthorizationBench {
    /// The credentials, by the columns of the page. Nil for none.
    private(set) var credentials: [String: String?] = ["none": nil, "owner": nil, "lab": "Bearer \(LabBench.key.reveal())"]
    /// What placeholders stand for.
    private(set) var values: [String: String] = [:]
    let database: DatabaseReader
    let lab: Lab
    private let folder: ScriptFolder
    private let server: RunningServer
    private let group: ServiceGroup
    private let running: Task<Void, Never>
    private let port: Int
    private let socket: String
    /// The open connections, to the port and to the socket.
    private var connections: [Bool: PlainConnection] = [:]
    private var names = 0

    /// Runs `work` with a server, then ends the server.
    static func with(_ work: (AuthorizationBench) async throws -> Void) async throws {
        let bench = try await AuthorizationBench()
        let result: Result<Void, any Error>
        do {
            try await bench.makeCredentials()
            result = .success(try await work(bench))
        } catch {
            result = .failure(error)
        }
        await bench.end()
        try result.get()
    }

    private init() async throws {
        let log = Logger(label: "authorization") { _ in SwiftLogNoOpLogHandler() }
        let folder = try ScriptFolder([
            "flow.lua": "return 1\n", "plugins/plugins.yaml": "- name: matrix\n", "plugins/matrix/init.lua": AuthorizationWorld.plugin,
            "jobs/empty": "",
        ])
        self.folder = folder
        var settings = try ServerSettings(
            file: ("pushhost.yaml", AuthorizationWorld.settings(in: folder.url.path)), environment: [:], flags: [:])
        settings.idleTimeout = .seconds(3600)
        let data = try DataFolder(path: settings.data)
        lab = try await Lab.starting(port: 0, folder: data.file("lab"), key: LabBench.key)
        settings.simulators = lab.address
        server = try await RunningServer.opening(settings, HostProgram(), folder: data, lab: lab, log: log, metrics: PrometheusRegistry())
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = try server.listeners.application(port: 0, tls: nil) { port.yield($0) }
        let control = try server.listeners.controlApplication { port.yield(0) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: application), .init(service: control)], logger: log))
        self.group = group
        running = Task { try? await group.run() }
        var numbers: [Int] = []
        for await number in ports {
            numbers.append(number)
            if numbers.count == 2 { break }
        }
        self.port = numbers.max() ?? 0
        socket = data.file(ControlSocket.name)
        database = try DatabaseReader(data.database)
    }

    private func end() async {
        connections = [:]
        await group.triggerGracefulShutdown()
        await running.value
        await server.stop()
        await lab.stop()
    }

    // MARK: - Requests

    /// Sends a request with a credential.
    func call(
        _ credential: String, _ method: String, _ path: String, _ headers: [(name: String, value: String)] = [], body: String? = nil
    ) async throws -> PlainConnection.Answer {
        let authorization = try #require(credentials[credential], "unknown credential \(credential)")
        var lines = ["\(method) \(path.replacing(" ", with: "%20")) HTTP/1.1", "Host: localhost", "TrackingId: t"]
        lines += headers.map { "\($0.name): \($0.value)" }
        if let authorization { lines.append("Authorization: \(authorization)") }
        let bytes = Array((body ?? "").utf8)
        if body != nil || ["POST", "PUT", "PATCH"].contains(method) { lines.append("Content-Length: \(bytes.count)") }
        let request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + bytes
        let isOwner = credential == "owner"
        let connection = try connections[isOwner] ?? (isOwner ? PlainConnection(path: socket) : PlainConnection(port: port))
        connections[isOwner] = connection
        let answer = try await connection.exchange(request)
        // A refused request may be answered before its body is read.
        if answer.headers["connection"]?.lowercased() == "close" { connections[isOwner] = nil }
        return answer
    }

    /// Replaces the placeholders of a text.
    /// - Parameter other: Values that apply instead of the bench's.
    func filled(_ text: String, _ other: [String: String] = [:]) -> String {
        text.replacing(/\{(\w+)\}/) { match in
            switch String(match.1) {
            case "new":
                names += 1
                return "new-\(names)"
            case "soon": return (SystemClock().now + .seconds(3600)).iso8601(fraction: false)
            case let name: return (other[name] ?? values[name]).map { filled($0, other) } ?? String(match.0)
            }
        }
    }

    /// Creates an object. The placeholder becomes its id in the response, or its own name if there is none.
    /// - Parameter caller: The credential of the request that follows.
    func make(_ making: AuthorizationRequest.Making, for caller: String) async throws {
        let credential = making.credential == "caller" ? caller : making.credential == "asker" ? "requester" : making.credential
        let answer = try await call(
            credential, making.method, filled(making.path), body: making.method == "GET" ? nil : filled(making.body))
        let id = Self.id(in: answer)
        // The object may exist already, and a large send is refused with the id of its request.
        #expect(answer.status < 400 || answer.status == 409 || id != nil, "\(making): \(answer.status) \(answer.body)")
        values[making.name] = id ?? values[making.name] ?? making.name
    }

    private static func id(in answer: PlainConnection.Answer) -> String? {
        if let match = answer.body.firstMatch(of: /<RegistrationId>([^<]+)/) { return String(match.1) }
        if let location = answer.headers["location"] {
            return location.prefix { $0 != "?" }.split(separator: "/").last.map(String.init)
        }
        if let link = answer.body.firstMatch(of: /\?(se=.*)/) { return String(link.1) }
        guard let json = try? JSON(parsing: answer.body) else { return nil }
        if let text = json.string { return text }
        let id = json["approvalId"] ?? json["runId"] ?? json["id"]
        return id?.string ?? id?.int.map { String($0) }
    }

    // MARK: - The world

    private func makeCredentials() async throws {
        values = AuthorizationWorld.values(jobs: folder.url.appending(path: "jobs").path)
        let hub = try await call("owner", "PUT", "/hub", [("If-Match", "*")], body: filled("{hubXML}"))
        let other = try await call("owner", "PUT", "/other", body: filled("{otherHubXML}"))
        #expect(hub.status == 200 && other.status == 201, "\(hub.body) \(other.body)")
        for (number, rule) in AuthorizationWorld.hubRules.enumerated() {
            credentials["hub \(rule.name)"] = token("hub-\(rule.name)", AuthorizationWorld.key(number + 1))
        }
        credentials["other hub"] = token("other", AuthorizationWorld.key(4))
        for (name, rights) in AuthorizationWorld.serverRules {
            let made = try await call("owner", "POST", "/api/v1/keys", body: #"{"name": "\#(name)", "rights": \#(rights)}"#)
            let key = Secret(try #require(try JSON(parsing: made.body)["primaryKey"]?.string))
            switch name {
            case "asker": credentials["requester"] = token(name, key)
            case "gone": credentials["revoked"] = token(name, key)
            default: credentials["server \(name)"] = token(name, key)
            }
            guard name == "manage" else { continue }
            credentials["expired"] = token(name, key, lifetime: .seconds(-3600))
            credentials["elsewhere"] = token(name, key, for: "sb://localhost/other")
        }
        credentials["forged"] = token("manage", AuthorizationWorld.key(9))
        #expect(try await call("owner", "DELETE", "/api/v1/keys/gone").status == 204)
        credentials["ended"] = try await newUser("alice")
        credentials["user"] = try await login("alice")
        credentials["other user"] = try await newUser("bob")
        #expect(try await call("ended", "POST", "/api/logout").status == 204)
    }

    private func newUser(_ name: String) async throws -> String {
        let made = try await call("owner", "POST", "/api/v1/users", body: #"{"username": "\#(name)", "password": "words of \#(name)"}"#)
        #expect(made.status == 201)
        return try await login(name)
    }

    private func login(_ name: String) async throws -> String {
        let answer = try await call("none", "POST", "/api/login", body: #"{"username": "\#(name)", "password": "words of \#(name)"}"#)
        return "Bearer \(try #require(try JSON(parsing: answer.body)["token"]?.string))"
    }

    private func token(
        _ name: String, _ key: Secret, for resource: String = "sb://localhost/", lifetime: Duration = .seconds(3600)
    ) -> String {
        let now = SystemClock().now
        let rule = AuthorizationRule(
            name: name, rights: [], primaryKey: key, secondaryKey: Secret(""), createdAt: now, modifiedAt: now)
        return SASToken(minting: resource, rule: rule, expiration: now + lifetime).header
    }

    /// Waits until the server does nothing by itself.
    func settle() async throws {
        try await until {
            let run = try await self.call("owner", "GET", self.filled("/api/v1/runs/{run}"))
            let jobs = try await self.call("owner", "GET", "/hub/jobs")
            let isWorking = ["<Status>Started", "<Status>Running"].contains { jobs.body.contains($0) }
            return !isWorking && run.body.contains(#""state":"completed""#)
        }
        await lab.thread.settle()
    }
}
