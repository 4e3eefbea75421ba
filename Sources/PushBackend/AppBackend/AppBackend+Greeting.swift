import PushModel

// The first sends of the tutorials: greetings to the session's user.
extension AppBackend {
    /// Sends "Hello, USER" to the devices of the session's user, as native payloads ("notify users") or as the property `message` of a
    /// template notification ("cross-platform notify users").
    package func greet(_ session: Session, asTemplate: Bool) async throws(PushError) -> NotificationOutcome {
        let session = try await accounts.session(for: session.token)
        let text = "Hello, \(session.username)"
        return try await hub.send(
            NotificationRequest(
                audience: .expression(.tag(try Tag.ofUser(session.username))),
                content: asTemplate ? .template([AlertPayloads.greetingProperty: text]) : .native(AlertPayloads.greeting(text: text))))
    }
}

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
