import HTTPTypes
import PushModel

/// Checks a request against Apple's documented rules before it is sent ("Sending notification requests to APNs", "Generating a remote
/// notification", "Starting and updating Live Activities with ActivityKit push notifications").
///
/// A request that breaks a rule is not sent: the explanation says more than the one word of APNs, and many rejections slow a connection
/// down. Only what APNs or the device certainly rejects is refused; unknown values pass.
struct APNsRules {
    let settings: APNsSettings
    let pushType: APNsPushType?
    /// All headers except id and authorization.
    let fields: HTTPFields
    let id: String?
    let body: [UInt8]
    let isBroadcast: Bool
    let now: Timestamp

    /// The first rule that the request breaks; `nil` if it breaks none.
    var refusal: Rejection? { size ?? credential ?? headers ?? type ?? content }

    private func refused(_ reason: APNsReason, _ explanation: String) -> Rejection {
        let scope = reason == .badTopic ? .headers : reason.scope
        return Rejection(status: 0, reason: reason.rawValue, explanation: explanation, outcome: reason.outcome, scope: scope)
    }

    private var size: Rejection? {
        let limit = isBroadcast ? APNsPushType.largePayloadLimit : (pushType ?? .alert).payloadLimit
        guard body.count > limit else { return nil }
        return .tooLarge(APNsReason.payloadTooLarge.rawValue, bytes: body.count, limit: limit, service: "APNs")
    }

    private var credential: Rejection? {
        guard let certificate = settings.certificate else { return nil }
        if certificate.expires <= now {
            return refused(
                .badCertificate,
                "the certificate expired on \(certificate.expires.iso8601(fraction: false)); renew it in Apple's developer account")
        }
        // "location pushes require token-based authentication"
        guard pushType == .location else { return nil }
        return refused(
            .invalidPushType, "push type location requires a provider token, but this hub has a certificate; configure a signing key")
    }

    // MARK: - Headers

    private var headers: Rejection? {
        if let id, !Self.isUUID(id) {
            return refused(.badMessageID, "apns-id \"\(id.excerpt)\" is not a UUID; correct it or omit it")
        }
        if let collapse = fields[.apnsCollapseID], collapse.utf8.count > 64 {
            return refused(.badCollapseID, "the collapse id has \(collapse.utf8.count) bytes and APNs accepts at most 64; shorten it")
        }
        if let expiration = fields[.apnsExpiration], Int64(expiration) == nil {
            return refused(
                .badExpirationDate, "apns-expiration \"\(expiration.excerpt)\" is not a number of seconds since 1970; correct it")
        }
        if let priority = fields[.apnsPriority], let type = pushType, !type.priorities.contains(priority) {
            return refused(
                .badPriority,
                "apns-priority \"\(priority.excerpt)\" is invalid for push type \(type); use \(type.priorities.joined(separator: " or "))"
            )
        }
        return isBroadcast ? channel : topic
    }

    private var topic: Rejection? {
        guard let topic = fields[.apnsTopic], let type = pushType, !topic.hasSuffix(type.topicSuffix) else { return nil }
        return refused(
            .badTopic,
            "apns-topic \"\(topic.excerpt)\" is invalid for push type \(type): it must end in \(type.topicSuffix); omit it "
                + "to have it derived from the app's bundle id")
    }

    private var channel: Rejection? {
        if pushType != .liveactivity {
            return refused(.invalidPushType, "only live activities can be broadcast to a channel; omit apns-push-type")
        }
        guard let id = fields[.apnsChannelID], DeviceHandle.apns(channel: id) != nil else {
            return refused(.badChannelID, "apns-channel-id is not a channel id; use the id returned at its creation, unchanged")
        }
        return nil
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.utf8.allSatisfy(\.isHexDigit) }
    }

    // MARK: - Payload

    /// The `aps` dictionary; `nil` if the payload is not a JSON object, which is not checked further.
    private var aps: JSON? {
        guard let json = try? JSON(parsing: body), json.object != nil else { return nil }
        return json["aps"] ?? .null
    }

    private var content: Rejection? {
        body.isEmpty
            ? refused(.payloadEmpty, "the notification has no payload; send a JSON object with an aps dictionary") : nil
    }

    private var type: Rejection? {
        guard let pushType, [.background, .widgets, .controls, .liveactivity].contains(pushType), let aps else { return nil }
        let fault: String? =
            switch pushType {
            case .background: Self.backgroundFault(aps)
            case .liveactivity: Self.liveActivityFault(aps, isBroadcast)
            default: Self.isSet(aps["content-changed"]) ? nil : "aps.content-changed is not true; set it"
            }
        return fault.map { .malformed("push type \(pushType) does not match the payload: \($0)") }
    }

    private static func backgroundFault(_ aps: JSON) -> String? {
        guard isSet(aps["content-available"]) else { return "aps.content-available is not 1; set it" }
        let shown = ["alert", "sound", "badge"].first { name in aps[name].map { !isEmpty($0) } ?? false }
        return shown.map { "aps.\($0) is visible to the user; remove it, or send an alert" }
    }

    private static func liveActivityFault(_ aps: JSON, _ isBroadcast: Bool) -> String? {
        guard aps["timestamp"]?.double != nil else { return "aps.timestamp is not a number of seconds since 1970; set it" }
        let event = aps["event"]?.string ?? ""
        guard ["start", "update", "end"].contains(event) else { return "aps.event is not start, update or end; set it" }
        // The final update may omit the content state; the activity then shows the previous one.
        if event != "end" || aps["content-state"] != nil, aps["content-state"]?.object == nil {
            return "aps.content-state is not an object; set it"
        }
        guard event == "start" else { return nil }
        if isBroadcast { return "a broadcast cannot start a live activity; send update or end" }
        if aps["attributes-type"]?.string?.isEmpty ?? true { return "aps.attributes-type is missing; a start requires it" }
        if aps["attributes"]?.object == nil { return "aps.attributes is not an object; a start requires one" }
        return aps["alert"].map(isEmpty) ?? true ? "aps.alert is missing; a start requires it" : nil
    }

    /// Whether a flag is set. Templates may write a number as text.
    private static func isSet(_ value: JSON?) -> Bool {
        switch value {
        case .integer(1), .bool(true), .string("1"), .string("true"): true
        default: false
        }
    }

    /// Whether an alert, sound or badge shows nothing. Old guides put an empty sound into silent notifications.
    private static func isEmpty(_ value: JSON) -> Bool {
        switch value {
        case .null, .string(""): true
        case .object(let members): members.isEmpty
        default: false
        }
    }
}
