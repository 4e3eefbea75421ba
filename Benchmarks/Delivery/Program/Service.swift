import Crypto
import Delivery
import Foundation
import HTTPTypes
import PushModel

/// A push service that the sink stands for, with its connector, devices and message.
enum Service: String {
    case apns, fcm, webpush

    func connector(_ sink: Sink, _ transport: HTTP2Transport) throws -> any Connector {
        let key = Secret(String(decoding: try sink.keyFile(), as: UTF8.self))
        switch self {
        case .apns: return try sink.apns(transport)
        case .fcm:
            let settings = FCMSettings(projectID: "shop", clientEmail: "sender@shop.iam.gserviceaccount.com", privateKey: key)
            return try FCMConnector(settings: settings, transport: transport, grants: OneGrant(), clock: MachineClock())
        case .webpush:
            let settings = try WebPushSettings(subject: "mailto:ops@example.com", privateKey: key)
            return try WebPushConnector(settings: settings, transport: transport, clock: MachineClock(), random: MachineRandom())
        }
    }

    /// Devices that are all different, except for the keys of browsers: every message has its own key anyway.
    func batch(_ number: Int, size: Int) -> DeliveryBatch {
        let indexes = (number * size)..<(number + 1) * size
        return switch self {
        case .apns:
            DeliveryBatch(
                notificationID: "n\(number)", platform: .apns, body: Sink.body,
                handles: indexes.map { .apns(token: Self.padded($0, to: 64)) })
        case .fcm:
            DeliveryBatch(
                notificationID: "n\(number)", platform: .fcmV1, body: Self.message,
                handles: indexes.map { .fcmV1(token: Self.padded($0, to: 22) + ":APA91b" + String(repeating: "e", count: 134)) })
        case .webpush:
            DeliveryBatch(
                notificationID: "n\(number)", platform: .browser, body: Sink.body,
                handles: indexes.map { index in
                    let keys = Self.browsers[index % Self.browsers.count]
                    return .browser(
                        endpoint: "https://push.example.com/wpush/v2/" + Self.padded(index, to: 180), p256dh: keys.p256dh, auth: keys.auth)
                })
        }
    }

    /// As long as the body for APNs, and in the usual form for FCM.
    private static let message = Array(
        #"{"message":{"notification":{"title":"A title of usual length","body":"\#(String(repeating: "x", count: 122))"}}}"#.utf8)

    private static let browsers = (0..<1_000).map { _ in
        (
            p256dh: base64URL(P256.KeyAgreement.PrivateKey().publicKey.x963Representation),
            auth: base64URL(Data((0..<16).map { _ in UInt8.random(in: 0...255) }))
        )
    }

    private static func base64URL(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func padded(_ number: Int, to count: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: count - digits.count) + digits
    }
}

/// Google's answer to a request for an access token; not measured, because it is needed once an hour.
private struct OneGrant: PushTransport {
    func destination(of authority: String) -> String { authority }

    func exchange(_ request: HTTPRequest, body: [UInt8]) async throws(TransportError) -> PushResponse {
        let token = "ya29." + String(repeating: "e", count: 205)
        return PushResponse(status: .ok, body: Array(#"{"access_token":"\#(token)","expires_in":3599,"token_type":"Bearer"}"#.utf8))
    }
}
