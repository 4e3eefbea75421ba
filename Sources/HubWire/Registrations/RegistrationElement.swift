import PushCore

/// How a platform's registrations are called on the wire, and where their handle stands.
package struct RegistrationElement: Sendable {
    /// `Apple` of `AppleRegistrationDescription` and `AppleTemplateRegistrationDescription`.
    let stem: String
    let platform: Platform
    /// The members that are the handle, in the order in which they are answered.
    package let handle: [String]
    /// `Apns` of `ApnsHeaders` and `ApnsHeader`, for platforms whose templates have headers.
    var headers: String?

    /// The header of a Baidu template that its member `MessageType` stands for.
    static let baiduMessageType = "X-Baidu-Message-Type"

    /// `Fcm` comes last: it is read as what old clients mean by it, a GCM registration, and never answered.
    static let all = [
        RegistrationElement(stem: "Apple", platform: .apns, handle: ["DeviceToken"], headers: "Apns"),
        RegistrationElement(stem: "Gcm", platform: .gcm, handle: ["GcmRegistrationId"]),
        RegistrationElement(stem: "FcmV1", platform: .fcmV1, handle: ["FcmV1RegistrationId"]),
        RegistrationElement(stem: "Windows", platform: .wns, handle: ["ChannelUri"], headers: "Wns"),
        RegistrationElement(stem: "Mpns", platform: .mpns, handle: ["ChannelUri"], headers: "Mpns"),
        RegistrationElement(stem: "Adm", platform: .adm, handle: ["AdmRegistrationId"]),
        RegistrationElement(stem: "Baidu", platform: .baidu, handle: ["BaiduUserId", "BaiduChannelId"]),
        RegistrationElement(stem: "Browser", platform: .browser, handle: ["Endpoint", "P256DH", "Auth"]),
        RegistrationElement(stem: "Xiaomi", platform: .xiaomi, handle: ["XiaomiRegistrationId"]),
        RegistrationElement(stem: "Fcm", platform: .gcm, handle: ["FcmRegistrationId"]),
    ]

    private static let byStem = Dictionary(uniqueKeysWithValues: all.map { ($0.stem, $0) })
    private static let byPlatform = Dictionary(all.map { ($0.platform, $0) }, uniquingKeysWith: { first, _ in first })

    package static func of(_ platform: Platform) -> RegistrationElement? { byPlatform[platform] }

    /// The kind that a name such as `AppleTemplateRegistrationDescription` is of; nil for any other name.
    static func named(_ name: some StringProtocol) -> (element: RegistrationElement, isTemplate: Bool)? {
        guard name.hasSuffix(suffix) else { return nil }
        var stem = name.dropLast(suffix.count)
        let isTemplate = stem.hasSuffix("Template")
        if isTemplate { stem = stem.dropLast("Template".count) }
        return byStem[String(stem)].map { ($0, isTemplate) }
    }

    func name(isTemplate: Bool) -> String { stem + (isTemplate ? "Template" : "") + Self.suffix }

    static let suffix = "RegistrationDescription"
}
