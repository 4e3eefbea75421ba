import HTTPTypes

/// The parsed fields of a notification request (Apple, "Sending notification requests to APNs").
struct APNsRequest {
    let deviceToken: String
    let bundleID: String
    let pushType: APNsPushType?
    /// Seconds since 1970; 0 means a single attempt; `nil` if absent.
    let expiration: Int64?
    let collapseID: String?
    /// 10, 5 or 1; `nil` if absent.
    let priority: String?

    private static let path = "/3/device"
    private static let singleFields: Set<String> = [
        "authorization", "apns-id", "apns-topic", "apns-push-type", "apns-expiration", "apns-priority",
        "apns-collapse-id", "apns-channel-id", "apns-request-id",
    ]

    /// Checks what comes before authentication: path, method, repeated fields and the message id.
    static func checkEnvelope(_ request: HTTPRequest) throws(APNsRefusal) {
        guard let path = request.path, path == Self.path || path.hasPrefix(Self.path + "/"),
            !path.dropFirst(Self.path.count + 1).contains("/")
        else { throw APNsRefusal(.badPath) }
        guard request.method == .post else { throw APNsRefusal(.methodNotAllowed) }
        try checkFields(request.headerFields)
    }

    /// Checks that no field is repeated, and the message id.
    static func checkFields(_ fields: HTTPFields) throws(APNsRefusal) {
        var seen: [String] = []
        for field in fields where singleFields.contains(field.name.canonicalName) {
            guard !seen.contains(field.name.canonicalName) else { throw APNsRefusal(.duplicateHeaders) }
            seen.append(field.name.canonicalName)
        }
        for name in ["apns-id", "apns-request-id"] {
            if let id = fields.first(name), !isCanonicalUUID(id) { throw APNsRefusal(.badMessageID) }
        }
    }

    /// `apns-expiration` in seconds since 1970; `nil` if absent.
    static func expiration(_ fields: HTTPFields) throws(APNsRefusal) -> Int64? {
        guard let text = fields.first("apns-expiration") else { return nil }
        guard let seconds = Int64(text), seconds >= 0 else { throw APNsRefusal(.badExpirationDate) }
        return seconds
    }

    /// Parses the fields, after the envelope has been checked.
    init(_ request: HTTPRequest, allowance: APNsAllowedTopics) throws(APNsRefusal) {
        let fields = request.headerFields
        guard let topic = fields.first("apns-topic") ?? allowance.defaultTopic, !topic.isEmpty else {
            throw APNsRefusal(.missingTopic)
        }
        guard topic.utf8.allSatisfy(Self.isTopicByte) else { throw APNsRefusal(.badTopic) }
        if let id = fields.first("apns-collapse-id"), id.utf8.count > 64 { throw APNsRefusal(.badCollapseID) }
        collapseID = fields.first("apns-collapse-id")
        expiration = try Self.expiration(fields)
        pushType = try fields.first("apns-push-type").map { text throws(APNsRefusal) in
            guard let type = APNsPushType(rawValue: text) else { throw APNsRefusal(.invalidPushType) }
            return type
        }
        priority = fields.first("apns-priority")
        if let priority, !(pushType ?? .alert).priorities.contains(priority) { throw APNsRefusal(.badPriority) }
        bundleID = APNsPushType.bundleID(ofTopic: topic)
        guard allowance.includes(topic: topic, bundleID: bundleID) else { throw APNsRefusal(.topicDisallowed) }
        if let pushType, topic != bundleID + pushType.suffix { throw APNsRefusal(.invalidPushType) }
        deviceToken = (request.path ?? "").dropFirst(Self.path.count + 1).lowercased()
    }

    /// A broadcast, which has no device token.
    init(broadcastTo bundleID: String, expiration: Int64, priority: String?) {
        deviceToken = ""
        self.bundleID = bundleID
        pushType = .liveactivity
        self.expiration = expiration
        self.priority = priority
        collapseID = nil
    }

    /// Whether the priority is 10. The default is 5 for background pushes and 10 for all others.
    var isUrgent: Bool { priority.map { $0 == "10" } ?? (pushType != .background) }

    /// Checks the form of the device token. The lab knows which tokens exist.
    func checkDeviceToken() throws(APNsRefusal) {
        guard !deviceToken.isEmpty else { throw APNsRefusal(.missingDeviceToken) }
        guard deviceToken.utf8.count % 2 == 0, deviceToken.utf8.allSatisfy(Hex.isDigit) else {
            throw APNsRefusal(.badDeviceToken)
        }
    }

    /// "32 lowercase hexadecimal digits, displayed in five groups separated by hyphens in the form 8-4-4-4-12".
    private static func isCanonicalUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.utf8.allSatisfy { Hex.isDigit($0) && !(0x41...0x46 ~= $0) } }
    }

    private static func isTopicByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
