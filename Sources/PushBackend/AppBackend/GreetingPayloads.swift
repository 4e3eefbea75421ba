package import PushModel

// The payloads of the first sends of the tutorials.
extension AlertPayloads {
    static let greetingProperty = "message"

    /// Like `backend`, except that apps on Android find the text as `msg` (notify users).
    static func greeting(text: String) -> [Platform: NativePayload] {
        var payloads = backend(text: text)
        payloads[.gcm] = NativePayload(body: message(text).serialized())
        payloads[.fcmV1] = NativePayload(body: JSON.object(["message": message(text)]).serialized())
        return payloads
    }

    /// The body of the template that shows a greeting (cross-platform notify users).
    package static func greetingTemplate(_ platform: Platform) -> String {
        let text = "$(\(greetingProperty))"
        return switch platform {
        case .gcm: message(text).text()
        case .fcmV1: JSON.object(["message": message(text)]).text()
        default: template(property: greetingProperty, platform: platform)
        }
    }

    private static func message(_ text: String) -> JSON { ["data": ["msg": .string(text)]] }
}
