import PushModel
import Testing

@testable import Delivery

/// One platform in the terms of the connector contract.
struct ContractedService: Sendable, CustomTestStringConvertible {
    let platform: Platform
    /// The handle of a device by its number, at a service on this port.
    let handle: @Sendable (_ number: Int, _ port: Int) -> DeviceHandle
    /// The number of the device that a request is for, read from what differs between handles.
    let number: @Sendable (ServiceRequest) -> Int?
    var body = #"{"a":"1"}"#
    /// One byte more than the service accepts.
    let excess: Int
    /// With `{"name":"…"}`, `Location` or nothing.
    let success: ServiceReply
    let invalidHandle: ServiceReply
    /// The service's answer to an expired credential, usually 401; nil if credentials do not expire.
    var refused: ServiceReply?
    /// The number of requests of a batch of 100 that are sent when the credential and its replacement are refused.
    var mostRefused = 100
    var speaksHTTP2 = true

    var testDescription: String { platform.rawValue }

    static let all = [apns, fcm, wns, webPush]
    static let overHTTP2 = all.filter(\.speaksHTTP2)
    /// Services whose access tokens come from a token endpoint.
    static let granted = [fcm, wns]

    static let apns = ContractedService(
        platform: .apns, handle: { number, _ in .apns(token: "00fc\(number)") },
        number: { $0.path.firstMatch(of: /device\/00fc(\d+)$/).flatMap { Int($0.1) } }, body: #"{"aps":{"alert":"Hi"}}"#, excess: 4_097,
        success: .answer(200, ["apns-id": "123e4567-e89b-42d3-a456-426614174000"]),
        invalidHandle: .answer(410, [:], #"{"reason":"Unregistered","timestamp":1700000000000}"#),
        refused: .answer(403, [:], #"{"reason":"ExpiredProviderToken"}"#))

    static let fcm = ContractedService(
        platform: .fcmV1, handle: { number, _ in .fcmV1(token: "tok:\"ä\"\(number)") },
        number: { request in
            JSON(answer: request.body)?["message"]?["token"]?.string?.firstMatch(of: /^tok:"ä"(\d+)$/).flatMap { Int($0.1) }
        }, body: #"{"message":{"data":{"a":"1"}}}"#, excess: 5_000,
        success: .answer(200, [:], #"{"name":"projects/p/messages/7"}"#),
        invalidHandle: .answer(
            404, [:],
            #"{"error":{"status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","#
                + #""errorCode":"UNREGISTERED"}]}}"#),
        refused: .answer(401, [:], #"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#), mostRefused: 101)

    static let wns = ContractedService(
        platform: .wns, handle: { number, port in .wns(channel: "https://localhost:\(port)/?token=\(number)") },
        number: { $0.path.firstMatch(of: /token=(\d+)$/).flatMap { Int($0.1) } }, body: "<toast/>", excess: 5_001,
        success: .answer(200, ["X-WNS-Status": "received", "X-WNS-Msg-ID": "7"]), invalidHandle: .answer(404), refused: .answer(401),
        // The requests in flight, twice.
        mostRefused: 2 * Contract.width, speaksHTTP2: false)

    static let webPush = ContractedService(
        platform: .browser,
        handle: { number, port in
            .browser(endpoint: "https://localhost:\(port)/p/\(number)", p256dh: DeliveryBatch.p256dh, auth: DeliveryBatch.auth)
        }, number: { $0.path.firstMatch(of: /\/p\/(\d+)$/).flatMap { Int($0.1) } }, excess: Platform.browser.payloadLimit + 1,
        success: .answer(201, ["Location": "https://push.example/m/7"]), invalidHandle: .answer(410))

    var oversized: String {
        switch platform {
        case .fcmV1: #"{"message":{"data":{"a":""# + String(repeating: "x", count: excess) + #""}}}"#
        case .apns: #"{"aps":{"alert":""# + String(repeating: "x", count: excess) + #""}}"#
        default: String(repeating: "x", count: excess)
        }
    }
}

/// A connector and the services that it calls, over real sockets.
struct Contract {
    static let width = 32

    let service: ContractedService
    let server: ServiceServer
    /// The endpoint for access tokens.
    let tokens: ServiceServer
    let connector: any Connector
    private let shutdown: @Sendable () async -> Void

    /// - Parameter port: the port to send to instead of the server's own.
    init(
        _ service: ContractedService, _ behaviour: ServiceBehaviour = ServiceBehaviour(), port: Int? = nil,
        answering: ServiceServer.Answering? = nil
    ) async throws {
        let (identity, clock) = (try TestIdentity(), VirtualClock(now: Accounts.start))
        self.service = service
        var behaviour = behaviour
        if !service.speaksHTTP2 { behaviour.protocols = ["http/1.1"] }
        server = try await ServiceServer(behaviour, identity: identity, answering: answering ?? { _, _ in service.success })
        var plain = ServiceBehaviour()
        plain.protocols = nil
        tokens = try await ServiceServer(plain, identity: identity) { _, number in
            .answer(200, [:], #"{"access_token":"token-\#(number)","expires_in":3599,"token_type":"Bearer"}"#)
        }
        let place = port ?? server.port
        let modern = HTTP2Transport(
            route: PushRoute(host: "127.0.0.1", port: place, name: "localhost"), trust: identity.trust, limits: .init().generous,
            random: SeededRandom(seed: 1))
        let client = HTTPClientTransport(limits: .init().generous, tls: identity.trust.configuration(showing: nil), isHTTP1: true)
        let grants = "http://127.0.0.1:\(tokens.port)/token"
        shutdown = {
            await modern.shutdown()
            await client.shutdown()
        }
        switch service.platform {
        case .apns: connector = try APNsConnector(settings: Accounts.apns, transport: modern, clock: clock)
        case .fcmV1:
            var settings = Accounts.fcm
            settings.tokenURI = grants
            connector = try FCMConnector(settings: settings, transport: modern, grants: client, clock: clock)
        case .wns:
            var settings = Accounts.wns
            (settings.tokenURI, settings.channelHosts) = (grants, ["localhost:\(place)"])
            connector = try WNSConnector(settings: settings, transport: client, width: Self.width, clock: clock)
        default:
            var settings = Accounts.webPush
            settings.allowedOrigins = ["https://localhost:\(place)"]
            let transport = NegotiatedTransport(modern, plain: ConcurrentTransport(client), clock: clock)
            connector = try WebPushConnector(settings: settings, transport: transport, clock: clock, random: SystemDice())
        }
    }

    func batch(_ count: Int, body: String? = nil, at port: Int? = nil) -> DeliveryBatch {
        DeliveryBatch(
            notificationID: "n1", platform: service.platform, body: Array((body ?? service.body).utf8),
            handles: (0..<count).map { service.handle($0, port ?? server.port) })
    }

    func deliver(_ count: Int) async -> [Verdict] { await connector.deliver(batch(count)) }

    /// The devices that requests were received for, in order.
    var devices: [Int] { server.requests.compactMap(service.number) }

    func end() async throws {
        await shutdown()
        try await server.stop()
        try await tokens.stop()
    }
}

struct SystemDice: RandomSource {
    func next() -> UInt64 { .random(in: .min ... .max) }
}
