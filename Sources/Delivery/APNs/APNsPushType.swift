import PushCore

/// `apns-push-type` and what it implies ("Sending notification requests to APNs").
enum APNsPushType: String, CaseIterable, Sendable {
    case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

    /// What the bundle id is followed by in `apns-topic`.
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

    /// The largest payload, in bytes.
    var payloadLimit: Int { self == .voip ? Self.wideLimit : Platform.apns.payloadLimit }

    /// In bytes: of VoIP notifications and of broadcasts.
    static let wideLimit = 5120

    /// What `apns-priority` may be.
    var priorities: [String] {
        switch self {
        case .background: ["5"]
        case .liveactivity: ["5", "10"]
        default: ["1", "5", "10"]
        }
    }

    /// `content-available` and nothing for the user to see or hear makes a background notification ("Pushing background
    /// updates to your app").
    init(payload: [UInt8]) {
        guard let aps = (try? JSON(parsing: payload))?["aps"], let flag = aps["content-available"] else {
            self = .alert
            return
        }
        let isSilent = ["alert", "sound", "badge"].allSatisfy { aps[$0] == nil }
        self = isSilent && (flag == .integer(1) || flag == .bool(true)) ? .background : .alert
    }

    /// The type whose suffix the topic has behind the app's bundle id; nil where it has none.
    init?(topic: String, bundleID: String) {
        guard topic.hasPrefix(bundleID),
            let type = Self.allCases.first(where: { !$0.topicSuffix.isEmpty && topic == bundleID + $0.topicSuffix })
        else { return nil }
        self = type
    }
}
