/// The values of `apns-push-type` and their rules (Apple, "Sending notification requests to APNs", section "Know when to use push types").
enum APNsPushType: String, CaseIterable {
    case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

    /// The suffix of the topic after the bundle id.
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

    /// The maximum payload size, in bytes.
    var payloadLimit: Int { self == .voip ? 5120 : 4096 }

    /// Whether the system shows the push; other types only reach the app's code.
    var isForUser: Bool { self == .alert || self == .liveactivity || self == .mdm }

    /// The bundle id of a topic, without any suffix.
    static func bundleID(ofTopic topic: String) -> String {
        let suffix = allCases.map(\.suffix).first { !$0.isEmpty && topic.hasSuffix($0) } ?? ""
        return String(topic.dropLast(suffix.count))
    }
}
