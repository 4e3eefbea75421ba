import HTTPTypes
import PushModel
import Testing

@testable import Delivery

@Suite("Requests to APNs")
struct APNsRequestTests {
    private func push(
        _ batch: DeliveryBatch, settings: APNsSettings = Accounts.apns
    ) async throws -> ScriptedTransport.Exchange {
        let transport = ScriptedTransport([])
        let connector = try APNsConnector(
            settings: settings, transport: transport, clock: VirtualClock(now: Accounts.start))
        _ = await connector.deliver(batch)
        return try #require(transport.pushes.first)
    }

    @Test("An alert has these headers in this order, and an unchanged body")
    func alert() async throws {
        let options = PushOptions(
            expiration: Accounts.start + .seconds(3600), priority: .high, collapseID: "score")
        let push = try await push(.apns(#"{ "aps" : {"alert":"Hi"} }"#, options: options))
        let bearer = try #require(push.header("authorization"))
        #expect(push.request.method == .post)
        #expect(push.request.scheme == "https")
        #expect(push.request.authority == "api.push.apple.com")
        #expect(push.request.path == "/3/device/00fc13adff78")
        #expect(
            push.headers == [
                "Authorization: \(bearer)",
                "apns-id: \(PushIDSeries(notificationID: "n1", body: Array(push.text.utf8)).id(of: "00FC13ADFF78"))",
                "apns-topic: com.example.app",
                "apns-push-type: alert",
                "apns-priority: 10",
                "apns-expiration: 1767603600",
                "apns-collapse-id: score",
            ])
        #expect(push.text == #"{ "aps" : {"alert":"Hi"} }"#)
    }

    @Test("The development environment has its own host")
    func development() async throws {
        var settings = Accounts.apns
        settings.environment = .development
        #expect(try await push(.apns(), settings: settings).request.authority == "api.sandbox.push.apple.com")
    }

    @Test(
        "The payload determines whether it is an alert or a background push",
        arguments: [
            (#"{"aps":{"content-available":1},"id":"7"}"#, "background", "5"),
            (#"{"aps":{"content-available":true}}"#, "background", "5"),
            (#"{"aps":{"content-available":1,"alert":"Hi"}}"#, "alert", "10"),
            (#"{"aps":{"content-available":1,"sound":"default"}}"#, "alert", "10"),
            (#"{"aps":{"content-available":1,"badge":0}}"#, "alert", "10"),
            (#"{"aps":{"content-available":0}}"#, "alert", "10"),
            (#"{"aps":{}}"#, "alert", "10"), ("not json", "alert", "10"), (#"{"aps":[1]}"#, "alert", "10"),
        ])
    func pushType(body: String, type: String, priority: String) async throws {
        let push = try await push(.apns(body))
        #expect(push.header("apns-push-type") == type)
        #expect(push.header("apns-priority") == priority)
    }

    @Test("A background notification has priority 5, whatever the sender sets")
    func backgroundPriority() async throws {
        let push = try await push(
            .apns(#"{"aps":{"content-available":1}}"#, options: PushOptions(priority: .high)))
        #expect(push.header("apns-priority") == "5")
    }

    @Test(
        "A push type adds its topic suffix",
        arguments: [
            ("alert", ""), ("background", ""), ("location", ".location-query"), ("voip", ".voip"),
            ("complication", ".complication"), ("fileprovider", ".pushkit.fileprovider"), ("mdm", ""),
            ("liveactivity", ".push-type.liveactivity"), ("pushtotalk", ".voip-ptt"), ("widgets", ".push-type.widgets"),
            ("controls", ".push-type.controls"), ("tomorrow", ""),
        ])
    func topicSuffix(type: String, suffix: String) async throws {
        let push = try await push(.apns(APNsPayloads.fitting(type), headers: [PushHeader("apns-push-type", type)]))
        #expect(push.header("apns-topic") == "com.example.app" + suffix)
        #expect(push.header("apns-push-type") == type)
    }

    @Test("Headers of the sender take precedence, in both spellings and any case")
    func passThrough() async throws {
        let id = "11111111-2222-4333-8444-555555555555"
        let push = try await push(
            .apns(
                headers: [
                    PushHeader("X-Apns-Priority", "1"), PushHeader("APNS-Topic", "com.example.other"),
                    PushHeader("apns-id", id), PushHeader("apns-expiration", "0"),
                    PushHeader("Apns-Collapse-Id", "mine"), PushHeader("authorization", "bearer stolen"),
                    PushHeader("X-Other", "no"),
                ],
                options: PushOptions(expiration: .distantFuture, priority: .high, collapseID: "theirs")))
        #expect(
            push.headers.dropFirst() == [
                "apns-id: \(id)", "apns-topic: com.example.other", "apns-push-type: alert", "apns-priority: 1",
                "apns-expiration: 0", "apns-collapse-id: mine",
            ])
        #expect(push.header("authorization")?.contains("stolen") == false)
    }

    @Test("A header value with invalid bytes is dropped")
    func garbageHeader() async throws {
        let push = try await push(
            .apns(headers: [PushHeader("X-Apns-Expiration", "\u{fffd}"), PushHeader("apns-topic", "a\r\nb: c")]))
        #expect(push.header("apns-expiration") == nil)
        #expect(push.header("apns-topic") == "com.example.app")
    }

    @Test("An expiration is at most thirty days, because APNs stores nothing longer")
    func distantExpiration() async throws {
        let push = try await push(.apns(options: PushOptions(expiration: .distantFuture)))
        #expect(push.header("apns-expiration") == "\(1_767_600_000 + 30 * 86_400)")
    }

    @Test("Every device has its own id and its own position in the result")
    func order() async throws {
        let transport = ScriptedTransport([
            .answer(200, ["apns-id": "first"]), .answer(410, [:], #"{"reason":"Unregistered"}"#),
            .answer(200, ["apns-id": "third"]),
        ])
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: transport, clock: VirtualClock(now: Accounts.start))
        let verdicts = await connector.deliver(.apns(tokens: ["AA", "BB", "CC"]))
        #expect(transport.pushes.compactMap(\.request.path) == ["/3/device/aa", "/3/device/bb", "/3/device/cc"])
        #expect(Set(transport.pushes.compactMap { $0.header("apns-id") }).count == 3)
        #expect(verdicts.count == 3)
        #expect(verdicts[0] == .accepted(id: "first"))
        #expect(verdicts[1].rejection?.reason == "Unregistered")
        #expect(verdicts[2] == .accepted(id: "third"))
    }

    @Test(
        "A payload over the limit is rejected before anything is sent",
        arguments: [
            ("alert", 4096, true), ("alert", 4097, false), ("voip", 5120, true), ("voip", 5121, false),
        ])
    func payloadLimit(type: String, size: Int, isSent: Bool) async throws {
        let transport = ScriptedTransport([])
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: transport, clock: VirtualClock(now: Accounts.start))
        let body = String(repeating: "x", count: size)
        let verdict = await connector.deliver(.apns(body, headers: [PushHeader("apns-push-type", type)])).first
        #expect(transport.all.count == (isSent ? 1 : 0))
        if !isSent {
            let rejection = try #require(verdict?.rejection)
            #expect(verdict?.isRejected == true)
            #expect(rejection.outcome == .invalidNotificationSize)
            #expect(rejection.status == 0)
            #expect(rejection.reason == "PayloadTooLarge")
            #expect(rejection.explanation.contains("\(size)"))
            #expect(rejection.explanation.contains("\(size - 1)"))
        }
    }

    @Test("A handle of another platform is rejected")
    func foreignHandle() async throws {
        let transport = ScriptedTransport([])
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: transport, clock: VirtualClock(now: Accounts.start))
        var batch = DeliveryBatch.apns()
        batch.handles = [.fcmV1(token: "t")]
        #expect(await connector.deliver(batch).first?.rejection?.outcome == .badChannel)
        #expect(transport.all.isEmpty)
    }
}
