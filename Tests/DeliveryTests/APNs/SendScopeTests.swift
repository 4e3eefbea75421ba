import Delivery
import PushModel
import Testing

/// The scope of a refusal: a fault of the send says nothing about the hub or its devices.
@Suite struct SendScopeTests {
    private let clock = VirtualClock(now: Accounts.start)

    private func apns(_ batch: DeliveryBatch, _ reason: String, _ status: Int = 400) async throws -> Rejection {
        let transport = ScriptedTransport([.answer(status, [:], #"{"reason":"\#(reason)"}"#)])
        let connector = try APNsConnector(settings: Accounts.apns, transport: transport, clock: clock)
        return try #require(await connector.deliver(batch).first?.rejection)
    }

    @Test(arguments: ["TopicDisallowed", "BadTopic", "MissingTopic"])
    func `a refused topic of the send has the scope headers, one of the credential has the scope hub`(reason: String) async throws {
        let own = try await apns(.apns(headers: [PushHeader("apns-topic", "com.example.other")]), reason)
        #expect(own.scope == .headers && own.outcome == .pnsInterfaceError && own.reason == reason)
        #expect(own.explanation.contains("\"com.example.other\" of this send is not com.example.app"), "\(own.explanation)")
        for headers in [[], [PushHeader("apns-topic", Accounts.apns.topic)]] {
            let hubs = try await apns(.apns(headers: headers), reason)
            #expect(hubs.scope == .hub && hubs.outcome == APNsReason(rawValue: reason)?.outcome)
        }
    }

    @Test func `a topic that follows from the push type has the scope headers`() async throws {
        let own = try await apns(.apns(headers: [PushHeader("apns-push-type", "voip")]), "TopicDisallowed")
        #expect(own.scope == .headers && own.outcome == .pnsInterfaceError)
    }

    @Test func `a token that does not match the send's topic is not a sign of the wrong environment`() async throws {
        let own = try await apns(.apns(headers: [PushHeader("apns-topic", "com.example.other")]), "DeviceTokenNotForTopic")
        #expect(own.scope == .send && own.wrongEnvironment == nil && own.outcome == .wrongToken)
        #expect(try await apns(.apns(), "DeviceTokenNotForTopic").wrongEnvironment != nil)
    }

    @Test(
        arguments: [
            ("BadPriority", 400, .headers), ("BadCollapseId", 400, .headers), ("InvalidPushType", 400, .headers), ("BadPath", 404, .send),
            ("InvalidProviderToken", 403, .hub), ("ServiceUnavailable", 503, .hub),
        ] as [(String, Int, Rejection.Scope)])
    func `other refusals of APNs have the scope of their cause`(reason: String, status: Int, scope: Rejection.Scope) async throws {
        #expect(try await apns(.apns(), reason, status).scope == scope)
    }

    @Test func `breaking a rule of APNs has the scope headers`() async throws {
        let connector = try APNsConnector(settings: Accounts.apns, transport: ScriptedTransport([]), clock: clock)
        let verdict = await connector.deliver(.apns(headers: [PushHeader("apns-priority", "7")])).first
        #expect(verdict?.rejection?.scope == .headers)
    }

    @Test func `a message that FCM cannot parse has the scope send, a refused account has the scope hub`() async throws {
        func scope(_ status: Int, _ body: String) async throws -> Rejection.Scope? {
            let connector = try FCMConnector(
                settings: Accounts.fcm, transport: ScriptedTransport([.answer(status, [:], body)]), clock: clock)
            return await connector.deliver(.fcm()).first?.rejection?.scope
        }
        #expect(try await scope(400, #"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"m"}}"#) == .send)
        #expect(try await scope(403, #"{"error":{"code":403,"status":"PERMISSION_DENIED","message":"m"}}"#) == .hub)
        let connector = try FCMConnector(settings: Accounts.fcm, transport: ScriptedTransport([]), clock: clock)
        #expect(await connector.deliver(.fcm("no JSON")).first?.rejection?.scope == .send)
    }

    @Test func `headers that WNS or a browser's service refuses have the scope send`() async throws {
        let wns = try WNSConnector(
            settings: WNSSettings(packageSID: "ms-app://s-1-15-2-1-2-3-4-5-6-7", clientSecret: Secret("s")),
            transport: ScriptedTransport([.answer(400)]), width: 1, clock: clock)
        #expect(await wns.deliver(.wns()).first?.rejection?.scope == .send)
        for (headers, scope) in [([PushHeader("Urgency", "soon")], Rejection.Scope.send), ([], .hub)] {
            let browser = try WebPushConnector(
                settings: Accounts.webPush, transport: ScriptedTransport([.answer(400)]), clock: clock, random: SeededRandom(seed: 1))
            var batch = DeliveryBatch.browser()
            batch.headers = headers
            #expect(await browser.deliver(batch).first?.rejection?.scope == scope)
        }
    }

    @Test func `a full lab is not a fault of the device, for any service`() async throws {
        // The answers of the simulators.
        let full = ScriptedTransport.Step.answer(507, [:], #"{"reason":"LabFull"}"#)
        let fullFCM = ScriptedTransport.Step.answer(507, [:], #"{"error":{"code":507,"status":"LabFull","message":"no room"}}"#)
        let fullWebPush = ScriptedTransport.Step.answer(507, [:], #"{"code":507,"error":"LabFull","message":"no room"}"#)
        let connectors: [(any Connector, DeliveryBatch)] = [
            (try APNsConnector(settings: Accounts.apns, transport: ScriptedTransport([full]), clock: clock), .apns()),
            (try FCMConnector(settings: Accounts.fcm, transport: ScriptedTransport([fullFCM]), clock: clock), .fcm()),
            (
                try WNSConnector(
                    settings: WNSSettings(packageSID: "ms-app://s-1-15-2-1-2-3-4-5-6-7", clientSecret: Secret("s")),
                    transport: ScriptedTransport([full]), width: 1, clock: clock), .wns()
            ),
            (
                try WebPushConnector(
                    settings: Accounts.webPush, transport: ScriptedTransport([fullWebPush]), clock: clock, random: SeededRandom(seed: 1)),
                .browser()
            ),
        ]
        for (connector, batch) in connectors {
            let verdict = await connector.deliver(batch).first
            guard case .rejected(let rejection)? = verdict else {
                Issue.record("\(batch.platform): \(String(describing: verdict))")
                continue
            }
            #expect(rejection.reason == Rejection.labFullReason && rejection.outcome == .pnsUnavailable)
            #expect(!rejection.isHandleInvalid && rejection.wrongEnvironment == nil)
        }
    }
}
