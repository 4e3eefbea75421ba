import HubWire
import NIOHTTP1
import PushHub
import PushModel
import RemoteHub
import Support
import Synchronization
import Testing

/// Faults between a script and a hub.
@Suite struct FaultTests {
    private static let startTime = HubBench.startTime

    /// Calls `body` with a client of a hub at this port.
    private func hub(
        _ port: Int, clock: RecordingClock = RecordingClock(now: startTime), isPushHost: Bool = false, timeout: Duration = .seconds(60),
        _ body: (RemoteNotificationHub) async throws -> Void
    ) async throws {
        let connection = try RemoteConnection(timeout: timeout)
        let text = "Endpoint=http://127.0.0.1:\(port)/;SharedAccessKeyName=n;SharedAccessKey=\(String(repeating: "k", count: 43))="
        let hub = RemoteNotificationHub(
            address: try HubAddress(ConnectionString(parsing: text), hub: "hub"),
            client: RemoteClient(connection: connection, clock: clock, random: SeededRandom(seed: 1)), clock: clock,
            options: .init(isPushHost: isPushHost, outcomeWait: .zero))
        do {
            try await body(hub)
        } catch {
            await connection.shutdown()
            throw error
        }
        await connection.shutdown()
    }

    private static let details =
        "<NotificationDetails><NotificationId>m1</NotificationId><State>Completed</State></NotificationDetails>"
    private static let accepted = ScriptedServer.Answer.status("201 Created", ["Location: http://h/hub/messages/m1?api-version=2020-06"])

    @Test func `A port that refuses connections is tried four times, with growing pauses`() async throws {
        // A bound port, which the system does not give to others in the meantime.
        let port = 1
        let clock = RecordingClock(now: Self.startTime)
        try await hub(port, clock: clock) { hub in
            let error = await refusal { try await hub.createRegistrationID() }
            #expect(error?.code == "target.unreachable" && error?.isRetryable == true)
            #expect(error?.message == "POST http://127.0.0.1:\(port)/hub/registrationids: connection refused")
            #expect(error?.hint == "check host and port; is the server running?")
            #expect(error?.details["attempts"] == 4 && error?.details["may_be_done"] == false)
        }
        #expect(clock.waits.count == 3)
        for (wait, most) in zip(clock.waits, [500, 1000, 2000]) {
            #expect(wait >= .milliseconds(most / 2) && wait <= .milliseconds(most))
        }
    }

    @Test(.timeLimit(.minutes(4))) func `A cancelled request does not wait for a handshake`() async throws {
        try await ScriptedServer.serving(.silence) { server in
            let connection = try RemoteConnection(connect: .seconds(3600), timeout: .seconds(3600))
            let request = Task { () async -> ConnectionFailure? in
                do throws(ConnectionFailure) {
                    _ = try await connection.exchange(RemoteRequest(.GET, "https://127.0.0.1:\(server.port)/"))
                    return nil
                } catch {
                    return error
                }
            }
            await server.connected()
            request.cancel()
            #expect(await request.value == .interrupted)
            let end = Task { await connection.shutdown() }
            end.cancel()
            await end.value
        }
    }

    @Test func `A send is not repeated when the connection breaks before the answer`() async throws {
        try await ScriptedServer.serving(.close) { server in
            try await hub(server.port) { hub in
                let error = await refusal { try await hub.send(.properties(["a": "b"], to: "x")) }
                #expect(error?.code == "target.unreachable" && error?.details["may_be_done"] == true)
                #expect(error?.hint == "the request may have been executed nonetheless: check before repeating it")
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test func `A request that changes nothing is repeated`() async throws {
        try await ScriptedServer.serving(.close, .close, .status("200 OK", body: Self.details)) { server in
            try await hub(server.port) { hub in
                let outcome = try await hub.outcome(of: "m1")
                #expect(outcome.state == .completed)
            }
            #expect(server.requests.count == 3)
        }
    }

    @Test func `A send to a PushHost is repeated with the same key`() async throws {
        try await ScriptedServer.serving(.close, .close, Self.accepted, .status("500 Oops")) { server in
            try await hub(server.port, isPushHost: true) { hub in
                // It was accepted; only its outcome is unknown.
                let outcome = try await hub.send(.properties(["a": "b"], to: "x"))
                #expect(outcome.state == .enqueued && outcome.id == "m1")
            }
            let keys = server.requests.prefix(3).compactMap { $0.firstMatch(of: /Idempotency-Key: (\S+)/).map { String($0.1) } }
            #expect(keys.count == 3 && Set(keys).count == 1)
        }
    }

    @Test func `A hub that does not answer is given up in time`() async throws {
        try await ScriptedServer.serving(.silence) { server in
            try await hub(server.port, timeout: .milliseconds(50)) { hub in
                let error = await refusal { try await hub.send(.properties(["a": "b"], to: "x")) }
                #expect(error?.code == "target.timeout" && error?.details["may_be_done"] == true)
                #expect(error?.message.hasSuffix("/hub/messages: no response in time") == true)
            }
            // One request at most, and none if the time was over before the connection was made.
            #expect(server.requests.count <= 1)
        }
    }

    @Test(arguments: ["429 Too Many Requests", "503 Service Unavailable"])
    func `A wait that a hub asks for is observed, also for sends`(status: String) async throws {
        let clock = RecordingClock(now: Self.startTime)
        let busy = ScriptedServer.Answer.status(status, ["Retry-After: 7"])
        try await ScriptedServer.serving(busy, Self.accepted, .status("200 OK", body: Self.details)) { server in
            try await hub(server.port, clock: clock) { hub in
                let outcome = try await hub.send(.properties(["a": "b"], to: "x"))
                #expect(outcome.state == .completed)
            }
            #expect(server.requests.count == 3)
        }
        #expect(clock.waits == [.seconds(7)])
    }

    @Test func `A wait that is too long is reported instead`() async throws {
        let clock = RecordingClock(now: Self.startTime)
        let date = "Mon, 05 Jan 2026 10:00:00 GMT"
        try await ScriptedServer.serving(.status("429 Too Many Requests", ["Retry-After: \(date)"])) { server in
            try await hub(server.port, clock: clock) { hub in
                let error = await refusal { try await hub.send(.properties(["a": "b"], to: "x")) }
                #expect(error?.code == "target.throttled" && error?.status == 429 && error?.isRetryable == true)
                #expect(error?.details["retry_after"] == 3600)
            }
            #expect(server.requests.count == 1)
        }
        #expect(clock.waits.isEmpty)
    }

    @Test func `Exceeded quotas of Azure are distinguished from forbidden requests`() async throws {
        try await ScriptedServer.serving(.status("403 Forbidden", ["Retry-After: 3600"]), .status("403 Forbidden")) { server in
            try await hub(server.port) { hub in
                #expect(await refusal { try await hub.outcome(of: "m") }?.code == "target.throttled")
                #expect(await refusal { try await hub.outcome(of: "m") }?.code == "target.key")
            }
        }
    }

    @Test func `Azure's errors are shown without its tracking data`() async throws {
        let body =
            "<Error><Code>401</Code><Detail>InvalidSignature: The token has an invalid signature..TrackingId:f-1_G2,TimeStamp:11/7/2018 12:18:37 AM</Detail></Error>"
        let answer = ScriptedServer.Answer.status(
            "401 Unauthorized", ["Content-Type: application/xml; charset=utf-8", "TrackingId: f-1", "Date: Mon, 05 Jan 2026 09:00:20 GMT"],
            body: body)
        try await ScriptedServer.serving(answer) { server in
            try await hub(server.port) { hub in
                let error = await refusal { try await hub.createRegistrationID() }
                #expect(error?.code == "target.key" && error?.status == 401 && error?.trackingID == "f-1")
                #expect(error?.message.hasSuffix("/hub/registrationids: InvalidSignature: The token has an invalid signature") == true)
            }
        }
    }

    @Test func `A clock that is off by hours is reported`() async throws {
        let answer = ScriptedServer.Answer.status("401 Unauthorized", ["Date: Mon, 05 Jan 2026 11:00:00 GMT"])
        try await ScriptedServer.serving(answer) { server in
            try await hub(server.port) { hub in
                let error = await refusal { try await hub.createRegistrationID() }
                #expect(error?.code == "target.clock" && error?.details["seconds"] == -7200)
                #expect(error?.message.contains("the clock of this machine is 2 h behind its own") == true)
            }
        }
    }

    @Test(arguments: [-600, 600])
    func `A clock that is off by ten minutes has no effect`(seconds: Int) async throws {
        try await ServedNamespace.serving { served in
            let hub = try served.hub(clock: BriskClock(base: served.clock, ahead: .seconds(seconds)))
            _ = try await hub.createRegistrationID()
        }
    }

    @Test func `A wrong key is reported in the hub's words`() async throws {
        try await ServedNamespace.serving { served in
            let hub = try served.hub(key: String(repeating: "x", count: 43) + "=")
            let error = await refusal { try await hub.createRegistrationID() }
            #expect(error?.code == "sas.signature" && error?.status == 401 && error?.trackingID != nil)
            let listener = try served.hub(rule: Namespace.listenRule)
            let denied = await refusal { try await listener.send(.properties(["a": "b"], to: "x")) }
            #expect(denied?.code == "sas.forbidden" && denied?.status == 403)
        }
    }

    @Test func `A server that is not a hub is recognised`() async throws {
        try await ScriptedServer.serving(.status("200 OK", ["Content-Type: text/html"], body: "<html><p>Welcome</html>")) { server in
            try await hub(server.port) { hub in
                #expect(await refusal { try await hub.createRegistrationID() }?.code == "target.answer")
                #expect(
                    await refusal { try await hub.createRegistration(RegistrationDescription(handle: .phone(1))) }?.code == "target.answer")
                #expect(await refusal { try await hub.outcome(of: "m") }?.code == "target.answer")
                #expect(await refusal { try await hub.registrations(.all, page: Page()) }?.code == "target.answer")
            }
        }
    }

    @Test func `When a later platform fails, the error has the ids that were accepted`() async throws {
        try await ScriptedServer.serving(Self.accepted, .close) { server in
            try await hub(server.port) { hub in
                let error = await refusal { try await hub.send(.alert(to: "x")) }
                #expect(error?.details["accepted"] == ["m1"] && error?.isRetryable == false)
                #expect(error?.message.hasSuffix("other platforms have already accepted it, as m1") == true)
            }
        }
    }

    @Test(arguments: [(301, true), (302, true), (303, true), (307, false), (308, false)])
    func `A redirect is an error and may mean that the request was executed`(status: Int, mayHaveExecuted: Bool) async throws {
        let answer = ScriptedServer.Answer.status("\(status) Elsewhere", ["Location: https://name:word@portal.example/login?x=y"])
        try await ScriptedServer.serving(answer) { server in
            try await hub(server.port) { hub in
                let error = await refusal { try await hub.send(.properties(["a": "b"], to: "x")) }
                #expect(error?.code == "target.refused" && error?.status == status && error?.isRetryable == false)
                #expect(error?.message.hasSuffix("the response is a redirect to portal.example, which is not followed") == true)
                #expect((error?.details["may_be_done"] == true) == mayHaveExecuted)
                #expect(await refusal { try await hub.deleteInstallation("i") }?.code == "target.refused")
            }
        }
    }

    @Test func `A send that fails in the hub warns against repeating it`() async throws {
        try await ScriptedServer.serving(.status("500 Oops")) { server in
            for isPushHost in [true, false] {
                try await hub(server.port, isPushHost: isPushHost) { hub in
                    let error = await refusal { try await hub.send(.properties(["a": "b"], to: "x")) }
                    #expect(error?.code == "target.failed" && error?.isRetryable == false && error?.details["may_be_done"] == true)
                    #expect(error?.hint == "the request may have been executed nonetheless: check before repeating it")
                    #expect(await refusal { try await hub.createRegistrationID() }?.isRetryable == true)
                }
            }
        }
    }

    @Test func `A missing hub is distinguished from a missing entity`() async throws {
        try await ScriptedServer.serving(.status("404 Not Found")) { server in
            try await hub(server.port) { hub in
                let calls: [() async throws -> Void] = [
                    { _ = try await hub.send(.properties(["a": "b"], to: "x")) },
                    { _ = try await hub.createRegistrationID() },
                    { _ = try await hub.registrations(.all, page: Page()) },
                ]
                for call in calls {
                    let error = await refusal { try await call() }
                    #expect(error?.code == "target.hub" && error?.message == "127.0.0.1:\(server.port) has no hub \"hub\"")
                }
                #expect(await refusal { try await hub.installation("i") }?.code == "hub.not_found")
            }
        }
    }

    @Test func `A guard decides about every send before it is made`() async throws {
        let bench = try HubBench()
        let alice = try await bench.login("alice")
        let record = CallRecord()
        let guarded = GuardedBackend(bench.backend) { request, handle throws(PushError) in try record.take(request, handle) }
        let hub = GuardedHub(bench.hub) { request, handle throws(PushError) in try record.take(request, handle) }
        let calls: [(String, () async throws -> Void)] = [
            ("x", { _ = try await hub.send(.alert(to: "x")) }),
            ("y", { _ = try await hub.schedule(.alert(to: "y"), at: bench.clock.now) }),
            ("username:bob", { _ = try await guarded.notify(alice, username: "bob", text: "t", platform: nil) }),
            ("username:eve", { _ = try await guarded.sendSecure(alice, SecureRequest(username: "eve", payload: "p")) }),
            (
                "alice",
                {
                    _ = try await guarded.registerCurrentUser(
                        alice, installationID: "6F9619FF-8B86-D011-B42D-00C04FC964FF", handle: .phone(1))
                }
            ),
        ]
        for (audience, call) in calls {
            #expect(await refusal { try await call() }?.code == "policy.production")
            #expect(record.last == audience)
        }
        #expect(record.registered == [.phone(1)])
        #expect(await refusal { try await guarded.notify(alice, username: "x || news", text: "t", platform: nil) }?.code == "tag.invalid")
        #expect(bench.connector.batches.isEmpty)
        #expect(try await bench.hub.allRegistrations(.all).isEmpty)
    }

    /// Refuses every send.
    private final class CallRecord: Sendable {
        private let state = Mutex((audiences: [String](), registered: [DeviceHandle]()))

        var last: String? { state.withLock { $0.audiences.last } }
        var registered: [DeviceHandle] { state.withLock { $0.registered } }

        func take(_ request: NotificationRequest, _ handle: DeviceHandle?) throws(PushError) {
            state.withLock { state in
                state.audiences.append(request.audience.expression.map { "\($0)" } ?? "")
                if let handle { state.registered.append(handle) }
            }
            throw PushError("policy.production", "no", hint: "no")
        }
    }

    @Test func `No error contains a key`() async throws {
        try await ScriptedServer.serving(.close) { server in
            try await hub(server.port) { hub in
                let error = await refusal { try await hub.createRegistrationID() }
                #expect(!"\(String(describing: error))".contains("kkkk") && !"\(hub.address)".contains("kkkk"))
            }
        }
    }
}
