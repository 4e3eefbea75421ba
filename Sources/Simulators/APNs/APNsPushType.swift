/// The values of `apns-push-type`, with the rules that hang on them
/// (Apple, "Sending notification requests to APNs", section "Know when to use push types").
enum APNsPushType: String, CaseIterable {
    case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

    /// What the topic has after the bundle id.
    var suffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .location: ".location-query"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The values of `apns-priority` that the type allows.
    var priorities: Set<String> {
        switch self {
        case .background: ["5"]
        case .liveactivity: ["5", "10"]
        default: ["1", "5", "10"]
        }
    }

    /// The largest payload in bytes.
    var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// Whether the push shows by itself what it says; the others only reach the app's code.
    var isForUser: Bool { self == .alert || self == .liveactivity || self == .mdm }

    /// The bundle id of a topic, whatever its suffix.
    static func bundleID(ofTopic topic: String) -> String {
        let suffix = allCases.map(\.suffix).first { !$0.isEmpty && topic.hasSuffix($0) } ?? ""
        return String(topic.dropLast(suffix.count))
    }
}
