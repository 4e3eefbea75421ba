import HTTPTypes
import PushModel
import Testing

@testable import Delivery

@Suite struct APNsChannelsTests {
    private static let channel = "dHN0LXNyY2gtY2hubA=="
    private static var handle: DeviceHandle { get throws { try #require(.apns(channel: channel)) } }
    private let clock = VirtualClock(now: Accounts.start)

    private func channels(_ transport: ScriptedTransport, _ settings: APNsSettings = Accounts.apns) throws -> APNsChannels {
        try APNsChannels(settings: settings, transport: transport, clock: clock, random: SeededRandom(seed: 1))
    }

    private func broadcast(
        _ transport: ScriptedTransport, _ body: String = APNsPayloads.update, headers: [PushHeader] = [],
        options: PushOptions = PushOptions(), to handles: [DeviceHandle]? = nil
    ) async throws -> [Verdict] {
        let connector = try APNsConnector(
            settings: Accounts.apns, transport: transport, clock: clock)
        var batch = DeliveryBatch.apns(body, headers: [PushHeader("apns-channel-id", Self.channel)] + headers, options: options)
        batch.handles = try handles ?? [Self.handle]
        return await connector.deliver(batch)
    }

    // MARK: - Management

    @Test func `A channel is created, and its id is in a header of the answer`() async throws {
        let transport = ScriptedTransport([.answer(201, ["apns-channel-id": Self.channel])])
        #expect(try await channels(transport).create(.newest) == Self.channel)
        let request = try #require(transport.all.first)
        #expect(request.request.method == .post && request.request.path == "/1/apps/com.example.app/channels")
        #expect(request.request.authority == "api-manage-broadcast.push.apple.com:2196")
        #expect(request.header("authorization")?.hasPrefix("bearer ") == true && request.header("apns-topic") == nil)
        #expect(request.header("apns-request-id") == SeededRandom(seed: 1).uuid())
        #expect(try JSON(parsing: request.body) == ["message-storage-policy": 1, "push-type": "LiveActivity"])
    }

    @Test func `A channel is read and deleted by its id, which is in a header`() async throws {
        let transport = ScriptedTransport([
            .answer(200, [:], #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#), .answer(204),
            .answer(200, [:], #"{"channels":["YQ==","\#(Self.channel)"]}"#),
        ])
        var settings = Accounts.apns
        settings.environment = .development
        let channels = try channels(transport, settings)
        #expect(try await channels.policy(of: Self.channel) == .nothing)
        try await channels.delete(Self.channel)
        #expect(try await channels.all() == ["YQ==", Self.channel])
        #expect(transport.all.map(\.request.method) == [.get, .delete, .get])
        #expect(transport.all.map { $0.header("apns-channel-id") } == [Self.channel, Self.channel, nil])
        #expect(transport.all.last?.request.path == "/1/apps/com.example.app/all-channels")
        #expect(transport.all.allSatisfy { $0.request.authority == "api-manage-broadcast.sandbox.push.apple.com:2195" })
    }

    @Test(
        arguments: [
            (400, "CannotCreateChannelConfig"), (403, "FeatureNotEnabled"), (400, "ChannelNotRegistered"), (429, "TooManyRequests"),
            (500, "InternalServerError"), (400, "NewReason"),
        ])
    func `A refusal contains the reason of APNs`(status: Int, reason: String) async throws {
        let transport = ScriptedTransport([.answer(status, [:], #"{"reason":"\#(reason)"}"#)])
        let channels = try channels(transport)
        let error = await #expect(throws: PushError.self) { try await channels.create(.nothing) }
        #expect(error?.code == "channel.refused" && error?.status == status && error?.details["reason"] == .string(reason))
        #expect(error?.hint?.isEmpty == false)
    }

    @Test func `A missing answer is an error, and an invalid id is not sent`() async throws {
        let transport = ScriptedTransport([.fail(.unknown("reset")), .fail(.notSent("no route")), .fail(.notSent("no route"))])
        let channels = try channels(transport)
        for _ in 0..<2 {
            let error = await #expect(throws: PushError.self) { try await channels.all() }
            #expect(error?.code == "channel.unreachable" && error?.status == 502)
        }
        #expect(transport.all.count == 3)
        for id in ["", "a b", "../x", String(repeating: "YQ==", count: 100), "ü"] {
            let error = await #expect(throws: PushError.self) { try await channels.delete(id) }
            #expect(error?.details["reason"] == "BadChannelId", "\(id)")
        }
        #expect(transport.all.count == 3)
    }

    @Test func `An expired token is replaced once`() async throws {
        let expired = ScriptedTransport.Step.answer(403, [:], #"{"reason":"ExpiredProviderToken"}"#)
        let transport = ScriptedTransport([.answer(200, [:], "{}"), expired, .answer(204)])
        let channels = try channels(transport)
        _ = try await channels.all()
        clock.advance(to: Accounts.start + .seconds(30 * 60))
        try await channels.delete(Self.channel)
        #expect(Set(transport.all.compactMap { $0.header("authorization") }).count == 2 && transport.all.count == 3)
    }

    @Test func `No token is sent with a certificate`() async throws {
        let transport = ScriptedTransport([.answer(204)])
        let settings = try APNsSettings(certificate: try SenderCertificate().loaded())
        try await channels(transport, settings).delete(Self.channel)
        #expect(transport.all.first?.header("authorization") == nil)
    }

    // MARK: - Sending

    @Test func `A broadcast is one request to the app, with a channel and without a topic`() async throws {
        let transport = ScriptedTransport([.answer(200, ["apns-request-id": "r-1"])])
        #expect(try await broadcast(transport, options: PushOptions(priority: .high)) == [.accepted(id: "r-1")])
        let push = try #require(transport.pushes.first)
        #expect(push.request.path == "/4/broadcasts/apps/com.example.app" && push.request.authority == "api.push.apple.com")
        #expect(
            push.headers.dropFirst() == [
                "apns-request-id: \(PushIDSeries(notificationID: "n1", body: Array(push.text.utf8)).id(of: Self.channel))",
                "apns-push-type: liveactivity", "apns-priority: 10",
                "apns-channel-id: \(Self.channel)", "apns-expiration: 0",
            ])
    }

    @Test func `A broadcast has the options of any notification`() async throws {
        let transport = ScriptedTransport([])
        let options = PushOptions(expiration: Accounts.start + .seconds(60), priority: .low)
        _ = try await broadcast(transport, headers: [PushHeader("apns-topic", "com.example.app")], options: options)
        let push = try #require(transport.pushes.first)
        #expect(push.header("apns-expiration") == "1767600060" && push.header("apns-priority") == "5" && push.header("apns-topic") == nil)
    }

    @Test(
        arguments: [
            (APNsPayloads.start, "MalformedPayload"), (#"{"aps":{"alert":"Hi"}}"#, "MalformedPayload"),
            (String(repeating: "x", count: 5121), "PayloadTooLarge"),
        ])
    func `A payload that is invalid for channels is not sent`(body: String, reason: String) async throws {
        let transport = ScriptedTransport([])
        #expect(try await broadcast(transport, body).first?.rejection?.reason == reason)
        #expect(transport.all.isEmpty)
    }

    @Test func `A broadcast may have 5,120 bytes`() async throws {
        let transport = ScriptedTransport([])
        _ = try await broadcast(transport, String(repeating: "x", count: 5120))
        #expect(transport.pushes.count == 1)
    }

    @Test func `A broadcast is for one channel and for live activities alone`() async throws {
        let transport = ScriptedTransport([])
        let many: [DeviceHandle] = [.apns(token: "AA"), .apns(token: "BB")]
        for handles in [many, [.apns(token: "AA")], [try #require(.apns(channel: "YQ=="))], [try Self.handle, .apns(token: "AA")]] {
            let verdicts = try await broadcast(transport, to: handles)
            #expect(verdicts.count == handles.count && verdicts.allSatisfy { $0.rejection?.reason == "BadChannelId" })
        }
        let alert = try await broadcast(transport, headers: [PushHeader("apns-push-type", "alert")])
        #expect(alert.first?.rejection?.reason == "InvalidPushType")
        #expect(transport.all.isEmpty)
    }

    @Test func `The handle of a channel is its id in hexadecimal`() throws {
        let handle = try Self.handle
        #expect(handle.text == "7473742D737263682D63686E6C")
        #expect(try handle.checked() == handle)
        for id in ["", "no id", "ü", "====", String(repeating: "YQ==", count: 65)] {
            #expect(DeviceHandle.apns(channel: id) == nil, "\(id)")
        }
    }
}
