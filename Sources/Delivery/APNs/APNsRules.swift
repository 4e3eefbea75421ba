import HTTPTypes
import PushCore

/// What a request must be for APNs to take it ("Sending notification requests to APNs", "Generating a remote notification",
/// "Starting and updating Live Activities with ActivityKit push notifications"). What breaks a rule is not sent: whoever wrote it
/// learns more from a rule than from one word, and many refusals slow a connection down.
///
/// Only what APNs or the device certainly does not take is refused; what this program does not know passes.
struct APNsRules {
    let settings: APNsSettings
    let pushType: APNsPushType?
    /// All but the id and the authorization.
    let fields: HTTPFields
    let id: String?
    let body: [UInt8]
    let isBroadcast: Bool
    let now: Timestamp

    /// Nil where nothing is wrong.
    var refusal: Rejection? { size ?? credential ?? headers ?? type ?? content }

    private func refused(_ reason: APNsReason, _ explanation: String) -> Rejection {
        let scope = reason == .badTopic ? .headers : reason.scope
        return Rejection(status: 0, reason: reason.rawValue, explanation: explanation, outcome: reason.outcome, scope: scope)
    }

    private var size: Rejection? {
        let limit = isBroadcast ? APNsPushType.wideLimit : (pushType ?? .alert).payloadLimit
        guard body.count > limit else { return nil }
        return .tooLarge(APNsReason.payloadTooLarge.rawValue, bytes: body.count, limit: limit, service: "APNs")
    }

    private var credential: Rejection? {
        guard let certificate = settings.certificate else { return nil }
        if certificate.expires <= now {
            return refused(
                .badCertificate,
                "the certificate ended on \(certificate.expires.iso8601(fraction: false)); renew it in Apple's developer account")
        }
        // "location pushes require token-based authentication"
        guard pushType == .location else { return nil }
        return refused(.invalidPushType, "push type location needs a provider token, and this hub has a certificate; give it a signing key")
    }

    // MARK: - Headers

    private var headers: Rejection? {
        if let id, !Self.isUUID(id) {
            return refused(.badMessageID, "apns-id \"\(id.excerpt)\" is not a UUID; correct it or leave it out")
        }
        if let collapse = fields[.apnsCollapseID], collapse.utf8.count > 64 {
            return refused(.badCollapseID, "the collapse id has \(collapse.utf8.count) bytes and APNs takes at most 64; shorten it")
        }
        if let expiration = fields[.apnsExpiration], Int64(expiration) == nil {
            return refused(
                .badExpirationDate, "apns-expiration \"\(expiration.excerpt)\" is not a number of seconds since 1970; correct it")
        }
        if let priority = fields[.apnsPriority], let type = pushType, !type.priorities.contains(priority) {
            return refused(
                .badPriority,
                "apns-priority \"\(priority.excerpt)\" does not go with push type \(type); use \(type.priorities.joined(separator: " or "))"
            )
        }
        return isBroadcast ? channel : topic
    }

    private var topic: Rejection? {
        guard let topic = fields[.apnsTopic], let type = pushType, !topic.hasSuffix(type.topicSuffix) else { return nil }
        return refused(
            .badTopic,
            "apns-topic \"\(topic.excerpt)\" does not go with push type \(type): it must end in \(type.topicSuffix); leave it out, "
                + "and it is made from the app's bundle id")
    }

    private var channel: Rejection? {
        if pushType != .liveactivity {
            return refused(.invalidPushType, "only live activities are broadcast to a channel; leave apns-push-type out")
        }
        guard let id = fields[.apnsChannelID], DeviceHandle.apns(channel: id) != nil else {
            return refused(.badChannelID, "apns-channel-id is not the id of a channel; use the id that its creation answered, unchanged")
        }
        return nil
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.utf8.allSatisfy(\.isHexDigit) }
    }

    // MARK: - Payload

    /// What is no JSON object is not judged.
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
        return fault.map { .malformed("push type \(pushType) does not go with the payload: \($0)") }
    }

    private static func backgroundFault(_ aps: JSON) -> String? {
        guard isSet(aps["content-available"]) else { return "aps.content-available is not 1; set it" }
        let shown = ["alert", "sound", "badge"].first { name in aps[name].map { !isEmpty($0) } ?? false }
        return shown.map { "aps.\($0) is for the user to notice; take it away, or send an alert" }
    }

    private static func liveActivityFault(_ aps: JSON, _ isBroadcast: Bool) -> String? {
        guard aps["timestamp"]?.double != nil else { return "aps.timestamp is not a number of seconds since 1970; set it" }
        let event = aps["event"]?.string ?? ""
        guard ["start", "update", "end"].contains(event) else { return "aps.event is not start, update or end; set it" }
        // The last state may stay as it was.
        if event != "end" || aps["content-state"] != nil, aps["content-state"]?.object == nil {
            return "aps.content-state is not an object; set it"
        }
        guard event == "start" else { return nil }
        if isBroadcast { return "a channel starts no live activity; send update or end" }
        if aps["attributes-type"]?.string?.isEmpty ?? true { return "aps.attributes-type is missing, which a start needs" }
        if aps["attributes"]?.object == nil { return "aps.attributes is not an object, which a start needs" }
        return aps["alert"].map(isEmpty) ?? true ? "aps.alert is missing, which a start needs" : nil
    }

    /// Templates may write a number as text.
    private static func isSet(_ value: JSON?) -> Bool {
        switch value {
        case .integer(1), .bool(true), .string("1"), .string("true"): true
        default: false
        }
    }

    /// Old guides write an empty sound into what nobody shall notice.
    private static func isEmpty(_ value: JSON) -> Bool {
        switch value {
        case .null, .string(""): true
        case .object(let members): members.isEmpty
        default: false
        }
    }
}
