import Delivery
import HTTPTypes
import PushModel
import Testing

@Suite struct WebPushVerdictTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func verdict(_ steps: ScriptedTransport.Step...) async throws -> Verdict {
        let connector = try WebPushConnector(
            settings: Accounts.webPush, transport: ScriptedTransport(steps), clock: clock, random: SeededRandom(seed: 1))
        return try #require(await connector.deliver(.browser()).first)
    }

    @Test func `201 and 202 are deliveries, with the end of their location as id`() async throws {
        let location = ["Location": "https://push.example.com/m/abc-1"]
        #expect(try await verdict(.answer(201, location)) == .accepted(id: "abc-1"))
        #expect(try await verdict(.answer(202, location)) == .accepted(id: "abc-1"))
        #expect(try await verdict(.answer(201)) == .accepted(id: nil))
    }

    @Test(
        arguments: [
            (400, .pnsInterfaceError, false, false), (401, .invalidCredentials, false, false),
            (403, .invalidCredentials, false, false), (404, .badChannel, true, false), (405, .pnsInterfaceError, false, false),
            (406, .throttled, false, true), (410, .expiredChannel, true, false), (413, .invalidNotificationSize, false, false),
            (429, .throttled, false, true), (500, .pnsServerError, false, true), (502, .pnsServerError, false, true),
            (503, .pnsUnavailable, false, true), (504, .pnsUnavailable, false, true), (507, .pnsServerError, false, true),
            (301, .unknownError, false, false), (418, .unknownError, false, false),
        ] as [(Int, OutcomeName, Bool, Bool)])
    func `every status has its verdict`(status: Int, outcome: OutcomeName, isInvalid: Bool, isTransient: Bool) async throws {
        let verdict = try await verdict(.answer(status))
        let rejection = try #require(verdict.rejection)
        #expect(rejection.status == status)
        #expect(rejection.outcome == outcome)
        #expect(rejection.isHandleInvalid == isInvalid)
        #expect(rejection.invalidSince == nil)
        #expect(verdict.isTransient == isTransient)
        #expect(rejection.reason == WebPushReason.allCases.first { $0.status == status }?.rawValue ?? "HTTP \(status)")
    }

    @Test(arguments: [401, 403])
    func `a token that one subscription refuses says nothing about others, unless most refuse it`(status: Int) async throws {
        let rejection = try #require(try await verdict(.answer(status)).rejection)
        #expect(rejection.scope == .send && !rejection.isCredentialBlocked)
        #expect(rejection.wrongEnvironment?.contains("VAPID key") == true)
        let gone = try #require(try await verdict(.answer(410)).rejection)
        #expect(gone.scope == .hub && gone.wrongEnvironment == nil)
    }

    @Test func `statuses of the reasons are all different, and all are refusals`() {
        #expect(Set(WebPushReason.allCases.map(\.status)).count == WebPushReason.allCases.count)
        #expect(WebPushReason.allCases.allSatisfy { $0.status >= 400 })
    }

    @Test(arguments: [429, 503, 406])
    func `the service's retry time is passed on`(status: Int) async throws {
        #expect(try await verdict(.answer(status, ["Retry-After": "120"])).retryAfter == .seconds(120))
        #expect(try await verdict(.answer(status)).retryAfter == nil)
    }

    @Test func `the message of autopush is passed on`() async throws {
        let text = #"{"code":400,"errno":113,"error":"Bad Request","message":"Invalid Topic","more_info":"http://x"}"#
        let rejection = try #require(try await verdict(.answer(400, [:], text)).rejection)
        #expect(rejection.reason == "BadRequest")
        #expect(rejection.explanation.hasSuffix("(errno 113: Invalid Topic)"))
    }

    @Test func `Apple's reason is passed on, known or not`() async throws {
        let known = try #require(try await verdict(.answer(403, [:], #"{"reason":"BadJwtToken"}"#)).rejection)
        #expect(known.reason == "BadJwtToken")
        #expect(known.outcome == .invalidCredentials)
        let gone = try #require(try await verdict(.answer(410, [:], #"{"reason":"Unregistered"}"#)).rejection)
        #expect(gone.reason == "Unregistered")
        #expect(gone.isHandleInvalid)
        let new = try #require(try await verdict(.answer(418, [:], #"{"reason":"Teapot\n"}"#)).rejection)
        #expect(new.reason == "Teapot ")
        #expect(new.outcome == .unknownError)
    }

    @Test(arguments: ["<html>No</html>", "{", "[]", #"{"errno":"x","message":7,"reason":[]}"#])
    func `an unknown error body leaves the verdict to the status`(text: String) async throws {
        let rejection = try #require(try await verdict(.answer(410, [:], text)).rejection)
        #expect(rejection.reason == "Gone")
        #expect(rejection.isHandleInvalid)
    }

    @Test func `a message that was certainly not processed is sent again unchanged`() async throws {
        let transport = ScriptedTransport([.fail(.notSent("goaway")), .answer(201)])
        let connector = try WebPushConnector(
            settings: Accounts.webPush, transport: transport, clock: clock, random: SeededRandom(seed: 1))
        #expect(await connector.deliver(.browser()).first == .accepted(id: nil))
        #expect(transport.pushes.count == 2)
        #expect(transport.pushes[0].body == transport.pushes[1].body)
    }

    @Test func `a browser with an expired subscription does not affect the others`() async throws {
        let transport = ScriptedTransport([.answer(410), .answer(201), .fail(.unknown("reset")), .answer(201)])
        let connector = try WebPushConnector(
            settings: Accounts.webPush, transport: transport, clock: clock, random: SeededRandom(seed: 1))
        let verdicts = await connector.deliver(.browser(endpoints: (1...4).map { "https://push.example.com/\($0)" }))
        #expect(verdicts.map(\.rejection?.isHandleInvalid) == [true, nil, nil, nil])
        #expect(verdicts[2] == .unknown(reason: "reset"))
    }
}
