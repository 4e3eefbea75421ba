import HTTPTypes
import PushCore

/// The request that one batch makes to FCM; only the registration token differs from device to device.
struct FCMRequest: Sendable {
    private let common: HTTPRequest
    /// The body's parts before and after the token.
    private let head = Array(#"{"message":{"token":"#.utf8)
    private let tail: [UInt8]

    init(_ message: FCMMessage, settings: FCMSettings) {
        var fields = HTTPFields()
        fields[.contentType] = "application/json"
        common = HTTPRequest(
            method: .post, scheme: "https", authority: FCMSettings.host,
            path: "/v1/projects/\(Self.escaped(settings.projectID))/messages:send", headerFields: fields)
        var tail: [UInt8] = []
        if message.fields.isEmpty {
            tail = [UInt8(ascii: "}")]
        } else {
            tail = [UInt8(ascii: ",")] + JSON.object(message.fields).serialized().dropFirst()
        }
        if message.isDryRun { tail += Array(#","validate_only":true"#.utf8) }
        self.tail = tail + [UInt8(ascii: "}")]
    }

    func body(for token: String) -> [UInt8] { head + JSON.string(token).serialized() + tail }

    func authorized(by credential: Credential) -> HTTPRequest {
        var request = common
        request.headerFields[.authorization] = "Bearer " + credential.token.reveal()
        return request
    }

    /// A project id has letters, digits and dashes only; nothing else may change the path.
    private static func escaped(_ projectID: String) -> String {
        String(decoding: FormBody.encode(["": projectID]).dropFirst(), as: UTF8.self)
    }
}
