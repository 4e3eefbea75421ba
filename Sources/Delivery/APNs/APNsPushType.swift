import PushModel

/// The header `apns-push-type`, with the topic, priorities and size that it implies ("Sending notification requests to APNs").
enum APNsPushType: String, CaseIterable, Sendable {
    case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

    /// The suffix that follows the bundle id in `apns-topic`.
    var topicSuffix: String {
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

    /// The maximum payload size, in bytes.
    var payloadLimit: Int { self == .voip ? Self.largePayloadLimit : Platform.apns.payloadLimit }

    /// The maximum payload size of VoIP notifications and broadcasts, in bytes.
    static let largePayloadLimit = 5120

    /// The valid values of `apns-priority`.
    var priorities: [String] {
        switch self {
        case .background: ["5"]
        case .liveactivity: ["5", "10"]
        default: ["1", "5", "10"]
        }
    }

    /// A payload with `content-available` and nothing for the user to see or hear is a background notification ("Pushing background updates
    /// to your app").
    init(payload: [UInt8]) {
        guard let aps = (try? JSON(parsing: payload))?["aps"], let flag = aps["content-available"] else {
            self = .alert
            return
        }
        let isSilent = ["alert", "sound", "badge"].allSatisfy { aps[$0] == nil }
        self = isSilent && (flag == .integer(1) || flag == .bool(true)) ? .background : .alert
    }

    /// The push type whose suffix follows the bundle id in the topic; `nil` for a topic without a known suffix.
    init?(topic: String, bundleID: String) {
        guard topic.hasPrefix(bundleID),
            let type = Self.allCases.first(where: { !$0.topicSuffix.isEmpty && topic == bundleID + $0.topicSuffix })
        else { return nil }
        self = type
    }
}
