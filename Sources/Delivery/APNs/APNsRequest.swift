import HTTPTypes
import PushCore

/// The request that one batch makes to APNs; only token and id differ from device to device.
struct APNsRequest: Sendable {
    /// What the batch counts as: it decides the topic's suffix and the size limit. Nil for a type this program does not
    /// know, which travels as it is.
    let pushType: APNsPushType?
    let body: [UInt8]
    /// The `apns-id` that the caller gave it; every copy has a fresh one otherwise.
    let fixedID: String?
    private let fields: HTTPFields

    init(_ batch: DeliveryBatch, settings: APNsSettings, now: Timestamp) {
        var explicit = HTTPFields()
        for header in batch.headers {
            var name = header.name.lowercased()
            if name.hasPrefix("x-apns-") { name.removeFirst(2) }
            guard name.hasPrefix("apns-"), let value = header.sendableValue, let field = HTTPField.Name(name) else {
                continue
            }
            explicit[field] = value
        }
        let typeName = explicit[.apnsPushType] ?? APNsPushType(payload: batch.body).rawValue
        pushType = APNsPushType(rawValue: typeName)
        body = batch.body
        fixedID = explicit[.apnsID]

        var fields = HTTPFields()
        fields[.apnsTopic] = settings.topic + (pushType?.topicSuffix ?? "")
        fields[.apnsPushType] = typeName
        fields[.apnsPriority] = Self.priority(batch.options.priority, pushType: pushType)
        fields[.apnsExpiration] = batch.options.expiration.map { Self.expiration($0, now: now) }
        fields[.apnsCollapseID] = batch.options.collapseID.flatMap { PushHeader("", $0).sendableValue }
        for field in explicit where field.name != .apnsID { fields[field.name] = field.value }
        self.fields = fields
    }

    /// What all copies have in common, sent with one credential.
    func headers(settings: APNsSettings, credential: Credential) -> HeaderTemplate {
        var headers = fields.map { PushHeader($0.name.canonicalName, $0.value) }
        if let fixedID { headers.insert(PushHeader("apns-id", fixedID), at: 0) }
        return HeaderTemplate(
            origin: PushOrigin(authority: settings.environment.host, sender: "\(settings.teamID)/\(settings.keyID)"),
            authorization: Secret("bearer " + credential.token.reveal()), fields: headers)
    }

    /// Writes the path of one device, whose token is visible ASCII.
    static func writePath(to token: String, _ bytes: inout [UInt8]) {
        bytes.append(contentsOf: pathPrefix)
        let start = bytes.count
        bytes.append(contentsOf: token.utf8)
        bytes.withUnsafeMutableBufferPointer { bytes in
            for index in start..<bytes.count where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index]) {
                bytes[index] |= 0x20
            }
        }
    }

    private static let pathPrefix = Array("/3/device/".utf8)

    /// Background notifications are refused with anything but 5.
    private static func priority(_ wanted: PushOptions.Priority?, pushType: APNsPushType?) -> String? {
        if pushType == .background { return "5" }
        switch wanted {
        case .high: return "10"
        case .normal: return "5"
        case .low: return "1"
        case nil: return pushType == .alert ? "10" : nil
        }
    }

    /// Seconds since 1970. APNs keeps nothing longer than 30 days, and 0 means "now or never".
    private static func expiration(_ moment: Timestamp, now: Timestamp) -> String {
        String(max(0, min(moment, now + .seconds(30 * 86_400)).seconds))
    }
}

extension HTTPField.Name {
    static let apnsID = fixed("apns-id")
    static let apnsTopic = fixed("apns-topic")
    static let apnsPushType = fixed("apns-push-type")
    static let apnsPriority = fixed("apns-priority")
    static let apnsExpiration = fixed("apns-expiration")
    static let apnsCollapseID = fixed("apns-collapse-id")
}
