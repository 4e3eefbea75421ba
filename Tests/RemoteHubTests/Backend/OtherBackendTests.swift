import HubWire
import PushModel
import RemoteHub
import Support
import Testing

/// App backends that are not PushHost: those of the tutorials, and servers that are not an app backend at all.
@Suite struct OtherBackendTests {
    private typealias Answer = ScriptedServer.Answer

    private static let json = ["Content-Type: application/json"]
    /// The answer of a PushHost for an unknown path.
    private static let problem = Answer.status(
        "404 Not Found", ["Content-Type: application/problem+json"],
        body: #"{"code":"hub.not_found","detail":"No service is hosted here."}"#)

    /// A backend with these answers to a login and to everything else.
    private func backend(
        _ login: Answer, _ rest: Answer, _ body: (RemoteBackend, ScriptedServer) async throws -> Void
    ) async throws {
        try await ScriptedServer.serving(login, rest) { server in
            let connection = try RemoteConnection(connect: .seconds(600), timeout: .seconds(600))
            let clock = RecordingClock(now: HubBench.startTime)
            let text = "Endpoint=http://127.0.0.1:\(server.port)/;SharedAccessKeyName=n;SharedAccessKey=k"
            let client = RemoteClient(connection: connection, clock: clock, random: SeededRandom(seed: 1))
            let hub = RemoteNotificationHub(
                address: try HubAddress(ConnectionString(parsing: text), hub: "hub"), client: client, clock: clock,
                options: .init(isPushHost: false, outcomeWait: .zero))
            let result: Result<Void, any Error>
            do {
                try await body(RemoteBackend(base: "http://127.0.0.1:\(server.port)", client: client, hub: hub), server)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await connection.shutdown()
            try result.get()
        }
    }

    private func login(_ backend: RemoteBackend) async throws -> Session {
        try await backend.login(username: "alice", password: Secret("word"))
    }

    @Test func `A backend of the tutorials sends to one platform at a time, and other sends are refused without a request`() async throws {
        try await backend(.status("404 Not Found"), .status("200 OK", Self.json)) { backend, server in
            let session = try await login(backend)
            let error = await refusal { try await backend.notify(session, username: "bob", text: "Hi", platform: nil) }
            #expect(error?.code == "target.unsupported" && error?.hint?.contains("platform = \"apns\"") == true)
            #expect(server.requests.count == 1)
            let outcome = try await backend.notify(session, username: "bob", text: "Hi", platform: .apns)
            #expect(outcome.id.isEmpty && outcome.state == .enqueued)
            #expect(server.requests.last?.hasPrefix("POST /api/notifications?to_tag=bob&pns=apns ") == true)
        }
    }

    @Test func `A server that is not an app backend is reported as such, not as a missing hub or id`() async throws {
        for login in [Answer.status("404 Not Found"), .status("405 Method Not Allowed")] {
            try await backend(login, .status("404 Not Found")) { backend, _ in
                let session = try await self.login(backend)
                let error = await refusal { try await backend.registrationID(session, handle: .phone(1)) }
                #expect(error?.code == "target.answer" && error?.message.contains("is not an app backend") == true)
                #expect(error?.hint == "check its address with --backend")
            }
        }
        try await backend(Self.problem, Self.problem) { backend, _ in
            #expect(await refusal { try await login(backend) }?.code == "target.answer")
        }
    }

    @Test func `A request that was executed but whose answer cannot be read warns against repeating it`() async throws {
        for body in ["", "fine", "{}"] {
            try await backend(.status("404 Not Found"), .status("200 OK", Self.json, body: body)) { backend, _ in
                let session = try await login(backend)
                let calls: [() async throws -> Void] = [
                    { _ = try await backend.sendSecure(session, SecureRequest(username: "bob", payload: "p")) },
                    { _ = try await backend.registerCurrentUser(session, installationID: "i", handle: .phone(1)) },
                    { _ = try await backend.securePayload(session, id: "s") },
                ]
                for call in calls {
                    let error = await refusal { try await call() }
                    #expect(error?.code == "target.answer" && error?.details["may_be_done"] == true)
                    #expect(error?.hint?.hasPrefix("the request may have been executed nonetheless") == true)
                }
            }
        }
    }
}
