package import PushModel

/// The XML element names of a platform's registrations, and the members that form the handle.
package struct RegistrationElement: Sendable {
    /// `Apple` of `AppleRegistrationDescription` and `AppleTemplateRegistrationDescription`.
    let stem: String
    let platform: Platform
    /// The members that form the handle, in response order.
    package let handle: [String]
    /// `Apns` of `ApnsHeaders` and `ApnsHeader`, for platforms whose templates have headers.
    var headers: String?

    /// The Baidu header that the member `MessageType` sets.
    static let baiduMessageType = "X-Baidu-Message-Type"

    /// `Fcm` comes last: it is read as a GCM registration, as old clients mean it, and never written.
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

    /// The element kind for a name such as `AppleTemplateRegistrationDescription`; nil for any other name.
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
