/// A push service, as Azure tells them apart: FCM's v1 interface and its legacy GCM shape are two platforms.
///
/// Those in `delivered` can be reached. The others are kept for clients of Azure, and a send to them says that the hub has no
/// credentials.
package enum Platform: String, CaseIterable, Hashable, Sendable, Comparable {
    case apns
    case fcmV1 = "fcmv1"
    case gcm
    case wns
    case browser
    /// Windows Phone's service, which Microsoft has switched off.
    case mpns
    case adm
    case baidu
    case xiaomi

    /// What PushHost speaks to, and what scripts know.
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

    /// The name that people read.
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

    /// One of the delivered platforms by any spelling that scripts use, in any case: `apns`, `apple`, `fcm`, `fcmV1`, `gcm`,
    /// `wns`, `windows`, `browser`.
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

    /// The accepted name that an unknown one was most likely meant to be; nil when none is near.
    package static func nearestName(to name: String) -> String? {
        switch name.lowercased() {
        case "google", "firebase": "fcm"
        // The retired service of Windows Phone is near to another by its letters alone.
        case "mpns": nil
        default: nearest(name, in: spellings) ?? nearest(name, in: byName.keys)
        }
    }

    /// The name in scripts and reports, one of `spellings`.
    package var shortName: String { self == .fcmV1 ? "fcm" : rawValue }

    /// Nil for a text that is no short name.
    package init?(shortName: String) {
        guard let platform = Platform.allCases.first(where: { $0.shortName == shortName }) else { return nil }
        self = platform
    }

    package static let spellings = ["apns", "fcm", "gcm", "wns", "browser"]

    /// The largest body the push service takes, in bytes: Apple 4,096; FCM 4,096; WNS 5,000; Web Push 3,993 before
    /// encryption; MPNS 3,072; ADM 6,144; Baidu and Xiaomi 4,096.
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
