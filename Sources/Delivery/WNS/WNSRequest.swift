import HTTPTypes
import PushModel

/// The WNS request of one batch; only the channel differs from device to device.
struct WNSRequest: Sendable {
    let body: [UInt8]
    private let fields: HTTPFields

    init(_ batch: DeliveryBatch, now: Timestamp) {
        body = batch.body
        var explicit = HTTPFields()
        for header in batch.headers where Self.isPassedThrough(header.name.lowercased()) {
            guard let value = header.sendableValue, let name = HTTPField.Name(header.name) else { continue }
            explicit[name] = value
        }
        let type = explicit[.wnsType] ?? WNSNotificationType(body: batch.body).rawValue
        var fields = HTTPFields()
        fields[.contentType] = (WNSNotificationType(rawValue: type.lowercased()) ?? .raw).contentType
        fields[.contentLength] = String(batch.body.count)
        fields[.wnsType] = type
        // Without this header, WNS may not report a dropped notification.
        fields[.wnsRequestForStatus] = "true"
        fields[.wnsTTL] = batch.options.expiration.map {
            String(max(0, min(($0 - now).milliseconds / 1000, Self.longestLife)))
        }
        fields[.wnsPriority] = batch.options.priority?.wnsNumber
        if type.lowercased() == WNSNotificationType.tile.rawValue, let tag = batch.options.collapseID, Self.isTag(tag) {
            fields[.wnsTag] = tag
        }
        for field in explicit { fields[field.name] = field.value }
        self.fields = fields
    }

    func addressed(to channel: WebAddress, credential: Credential) -> HTTPRequest {
        var all = HTTPFields()
        all[.authorization] = "Bearer " + credential.token.reveal()
        all.append(contentsOf: fields)
        return HTTPRequest(
            method: .post, scheme: channel.scheme, authority: channel.authority, path: channel.path, headerFields: all)
    }

    /// 30 days in seconds, the lifetime of a channel: a longer TTL has no effect.
    private static let longestLife: Int64 = 30 * 86_400

    private static func isPassedThrough(_ name: String) -> Bool { name.hasPrefix("x-wns-") || name == "ms-cv" }

    /// Whether the text is a valid tile tag: 1 to 16 letters and digits. A tile replaces the one with the same tag.
    private static func isTag(_ text: String) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                default: false
                }
            }
    }
}

extension HTTPField.Name {
    static let wnsType = fixed("X-WNS-Type")
    static let wnsRequestForStatus = fixed("X-WNS-RequestForStatus")
    static let wnsTTL = fixed("X-WNS-TTL")
    static let wnsTag = fixed("X-WNS-Tag")
    static let wnsPriority = fixed("X-WNS-PRIORITY")
    static let wnsStatus = fixed("X-WNS-Status")
    static let wnsNotificationStatus = fixed("X-WNS-NotificationStatus")
    static let wnsDeviceConnectionStatus = fixed("X-WNS-DeviceConnectionStatus")
    static let wnsMessageID = fixed("X-WNS-Msg-ID")
    static let wnsErrorDescription = fixed("X-WNS-Error-Description")
}
