/// A push service, divided as in Azure: FCM's v1 interface and legacy GCM are two platforms.
///
/// PushHost can send to the platforms in `delivered`. The others exist for compatibility with Azure's clients; a send to them reports
/// missing credentials.
package enum Platform: String, CaseIterable, Hashable, Sendable, Comparable {
    case apns
    case fcmV1 = "fcmv1"
    case gcm
    case wns
    case browser
    /// Windows Phone's service, which Microsoft has shut down.
    case mpns
    case adm
    case baidu
    case xiaomi

    /// The platforms that PushHost sends to and that scripts can use.
    package static let delivered: [Platform] = [.apns, .fcmV1, .gcm, .wns, .browser]

    /// The name in `ServiceBusNotification-Format` (Azure's REST interface, "Send a native notification").
    package var format: String {
        switch self {
        case .apns: "apple"
        case .fcmV1: "fcmV1"
        case .gcm: "gcm"
        case .wns: "windows"
        case .browser: "browser"
        case .mpns: "windowsphone"
        case .adm: "adm"
        case .baidu: "baidu"
        case .xiaomi: "xiaomi"
        }
    }

    /// The name shown to people.
    package var displayName: String {
        switch self {
        case .apns: "APNs"
        case .fcmV1: "FCM"
        case .gcm: "GCM"
        case .wns: "WNS"
        case .browser: "Web Push"
        case .mpns: "MPNS"
        case .adm: "ADM"
        case .baidu: "Baidu"
        case .xiaomi: "Xiaomi"
        }
    }

    /// One of the delivered platforms by any spelling that scripts use, in any case: `apns`, `apple`, `fcm`, `fcmV1`, `gcm`, `wns`,
    /// `windows`, `browser`.
    package init?(name: String) {
        guard let platform = Self.byName[name.lowercased()] else { return nil }
        self = platform
    }

    private static let byName: [String: Platform] = {
        let names: [(Platform, [String])] = [
            (.apns, ["apns", "apple", "ios", "iphone", "ipad"]), (.fcmV1, ["fcm", "fcmv1", "android"]), (.gcm, ["gcm"]),
            (.wns, ["wns", "windows"]), (.browser, ["browser", "webpush", "web", "chrome", "firefox", "safari", "edge"]),
        ]
        return Dictionary(uniqueKeysWithValues: names.flatMap { platform, names in names.map { ($0, platform) } })
    }()

    /// The accepted name closest to an unknown one; nil if none is close.
    package static func nearestName(to name: String) -> String? {
        switch name.lowercased() {
        case "google", "firebase": "fcm"
        // The letters of "mpns" are close to those of another service, but the two are unrelated.
        case "mpns": nil
        default: nearest(name, in: spellings) ?? nearest(name, in: byName.keys)
        }
    }

    /// The name in scripts and reports: one of `spellings`.
    package var shortName: String { self == .fcmV1 ? "fcm" : rawValue }

    /// Nil for an unknown short name.
    package init?(shortName: String) {
        guard let platform = Platform.allCases.first(where: { $0.shortName == shortName }) else { return nil }
        self = platform
    }

    package static let spellings = ["apns", "fcm", "gcm", "wns", "browser"]

    /// Maximum size of a body that the push service accepts, in bytes. Web Push: before encryption.
    package var payloadLimit: Int {
        switch self {
        case .apns, .fcmV1, .gcm, .baidu, .xiaomi: 4096
        case .wns: 5000
        case .browser: 3993
        case .mpns: 3072
        case .adm: 6144
        }
    }

    package static func < (lhs: Platform, rhs: Platform) -> Bool { lhs.order < rhs.order }

    private var order: Int { Platform.allCases.firstIndex(of: self) ?? 0 }
}
