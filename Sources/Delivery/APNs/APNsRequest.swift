import HTTPTypes
import PushModel

/// The APNs request of one batch; only device token and id differ from device to device.
struct APNsRequest: Sendable {
    /// The push type, which decides the topic suffix and the size limit. `nil` for an unknown type, which is sent unchanged.
    let pushType: APNsPushType?
    let body: [UInt8]
    /// The id of the broadcast channel; `nil` for a send to device tokens.
    let channel: String?
    /// Why APNs would reject this request for every device; if set, nothing is sent.
    let refusal: Rejection?
    /// The `apns-id` that the sender gave; otherwise every copy has its own.
    let fixedID: String?
    /// The topic if it differs from the app's bundle id, because the sender gave it or the push type implies it.
    let ownTopic: String?
    private let fields: HTTPFields
    private let bundleID: String

    init(_ batch: DeliveryBatch, settings: APNsSettings, now: Timestamp) {
        let explicit = Self.explicitFields(batch.headers)
        let named = explicit[.apnsPushType]
        channel = explicit[.apnsChannelID]
        let isDeduced = named == nil
        pushType =
            if let named {
                APNsPushType(rawValue: named)
            } else if channel != nil {
                .liveactivity
            } else {
                explicit[.apnsTopic].flatMap { APNsPushType(topic: $0, bundleID: settings.topic) } ?? APNsPushType(payload: batch.body)
            }
        body = batch.body
        // Apple writes ids in lower case; clients on Apple's systems write upper case.
        fixedID = (explicit[.apnsID] ?? explicit[.apnsRequestID])?.lowercased()

        var fields = HTTPFields()
        if channel == nil { fields[.apnsTopic] = Self.topic(settings, pushType) }
        fields[.apnsPushType] = named ?? pushType?.rawValue
        fields[.apnsPriority] = Self.priority(batch.options.priority, pushType: pushType)
        fields[.apnsExpiration] = batch.options.expiration.map { Self.expiration($0, now: now) }
        fields[.apnsCollapseID] = batch.options.collapseID.flatMap { PushHeader("", $0).sendableValue }
        for field in explicit where field.name != .apnsID && field.name != .apnsRequestID { fields[field.name] = field.value }
        // If the sender did not choose the background type, correct the priority 10, which APNs rejects for it.
        if isDeduced, pushType == .background, fields[.apnsPriority] == "10" { fields[.apnsPriority] = "5" }
        if channel != nil {
            fields[.apnsTopic] = nil
            fields[.apnsExpiration] = fields[.apnsExpiration] ?? "0"
        }
        self.fields = fields
        bundleID = settings.topic
        ownTopic = fields[.apnsTopic].flatMap { $0 == settings.topic ? nil : $0 }
        refusal =
            APNsRules(
                settings: settings, pushType: pushType, fields: fields, id: fixedID, body: batch.body, isBroadcast: channel != nil, now: now
            ).refusal
    }

    /// The `apns-*` headers that the sender or the template set, also with the prefix `x-`. A later header replaces an earlier one.
    private static func explicitFields(_ headers: [PushHeader]) -> HTTPFields {
        var fields = HTTPFields()
        for header in headers {
            var name = header.name.lowercased()
            if name.hasPrefix("x-apns-") { name.removeFirst(2) }
            guard name.hasPrefix("apns-"), let value = header.sendableValue, let field = HTTPField.Name(name) else {
                continue
            }
            fields[field] = value
        }
        return fields
    }

    /// For device management (MDM), the topic is the user id of the certificate.
    private static func topic(_ settings: APNsSettings, _ pushType: APNsPushType?) -> String {
        if pushType == .mdm, let userID = settings.certificate?.userID { return userID }
        return settings.topic + (pushType?.topicSuffix ?? "")
    }

    /// The headers that all copies share. `credential` is `nil` if the connection presents a certificate.
    ///
    /// - Parameter id: The request id of a broadcast, which is a single request.
    func headers(settings: APNsSettings, credential: Credential?, id: String?) -> HeaderTemplate {
        var headers = fields.map { PushHeader($0.name.canonicalName, $0.value) }
        if let id = fixedID ?? id { headers.insert(PushHeader(channel == nil ? "apns-id" : "apns-request-id", id), at: 0) }
        return HeaderTemplate(
            origin: PushOrigin(
                authority: settings.environment.host, sender: settings.signingKey.map { "\($0.teamID)/\($0.keyID)" } ?? "",
                certificate: settings.certificate?.identity.shown),
            authorization: credential.map { Secret("bearer " + $0.token.reveal()) }, fields: headers)
    }

    /// Appends the path for one device token (visible ASCII), or the path of the broadcast.
    func writePath(to token: String, _ bytes: inout [UInt8]) {
        guard channel == nil else { return bytes.append(contentsOf: "/4/broadcasts/apps/\(bundleID)".utf8) }
        bytes.append(contentsOf: Self.pathPrefix)
        let start = bytes.count
        bytes.append(contentsOf: token.utf8)
        bytes.withUnsafeMutableBufferPointer { bytes in
            for index in start..<bytes.count where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index]) {
                bytes[index] |= 0x20
            }
        }
    }

    private static let pathPrefix = Array("/3/device/".utf8)

    /// APNs rejects background notifications with a priority other than 5, and live activities with 1.
    private static func priority(_ wanted: PushOptions.Priority?, pushType: APNsPushType?) -> String? {
        if pushType == .background { return "5" }
        switch wanted {
        case .high: return "10"
        case .normal: return "5"
        case .low: return pushType == .liveactivity ? "5" : "1"
        case nil: return pushType == .alert ? "10" : nil
        }
    }

    /// Seconds since 1970. APNs stores nothing for longer than 30 days; 0 means "deliver now or never".
    private static func expiration(_ time: Timestamp, now: Timestamp) -> String {
        String(max(0, min(time, now + .seconds(30 * 86_400)).seconds))
    }
}

extension HTTPField.Name {
    static let apnsID = fixed("apns-id")
    static let apnsTopic = fixed("apns-topic")
    static let apnsPushType = fixed("apns-push-type")
    static let apnsPriority = fixed("apns-priority")
    static let apnsExpiration = fixed("apns-expiration")
    static let apnsCollapseID = fixed("apns-collapse-id")
    static let apnsChannelID = fixed("apns-channel-id")
    static let apnsRequestID = fixed("apns-request-id")
}
